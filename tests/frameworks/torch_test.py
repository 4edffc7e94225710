"""PyTorch: what tacho records of a program equals what torch.profiler records of it.

Runs torch_program.py once under each, reads both traces in the Chrome form, and compares operators,
shapes, memory, stacks and the links between forward and backward; then what only tacho records.
"""
import bisect
import collections
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch_hard
import torch_snippets
from checks import Checks, kinds, modules, stages

import tacho
from tacho import _native

PROGRAM = Path(__file__).with_name("torch_program.py")


def run(who, folder):
    done = subprocess.run([sys.executable, str(PROGRAM), who, folder], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(done.stdout)


def events(folder, pattern):
    with open(next(Path(folder).glob(pattern)), encoding="utf-8") as file:
        return json.load(file)["traceEvents"]


def slices(trace, category):
    found = [e for e in trace if e.get("ph") == "X" and e.get("cat") == category]
    return sorted(found, key=lambda e: (e["ts"], -e["dur"]))


def operators(trace):
    return collections.Counter(e["name"] for e in slices(trace, "cpu_op"))


def shapes(trace):
    return collections.Counter((e["name"], json.dumps(e["args"].get("Input Dims") or []))
                               for e in slices(trace, "cpu_op"))


def memory(trace):
    """Events, bytes that were handed out, peak, and bytes by the order of events."""
    all_ = sorted((e for e in trace if e["name"] == "[memory]"), key=lambda e: e["ts"])
    sizes = [e["args"]["Bytes"] for e in all_]
    return {"events": len(all_), "allocations": sum(b > 0 for b in sizes),
            "bytes": sum(b for b in sizes if b > 0), "peak": max(e["args"]["Total Allocated"] for e in all_),
            "order": sizes}


def links(trace):
    """Names at both ends of the arrows."""
    ends = collections.defaultdict(dict)
    at = {(e["tid"], round(e["ts"], 3)): e["name"] for e in slices(trace, "cpu_op")}
    for e in trace:
        if e.get("cat") == "fwdbwd":
            ends[e["id"]][e["ph"]] = at.get((e["tid"], round(e["ts"], 3)))
    return collections.Counter((pair.get("s"), pair.get("f")) for pair in ends.values())


def stacks(trace):
    """For each operator: the functions of the program around it, by file and line."""
    frames = [e for e in slices(trace, "python_function") if PROGRAM.name in e["name"]]
    result = []
    for op in slices(trace, "cpu_op"):
        around = tuple(f["name"].split("/")[-1] for f in frames
                       if f["ts"] <= op["ts"] and op["ts"] + op["dur"] <= f["ts"] + f["dur"])
        result.append((op["name"], around))
    return result


def equal_to_torch_profiler(c, folder):
    run("tacho", folder)
    run("torch", folder)
    ours, theirs = events(folder, "tacho.*.pt.trace.json"), events(folder, "torch.json")
    c.equal("operators and their counts", operators(ours), operators(theirs))
    c.equal("input shapes", shapes(ours), shapes(theirs))
    seen, wanted = memory(ours), memory(theirs)
    for key in ("events", "allocations", "bytes", "peak", "order"):
        c.equal(f"memory: {key}", seen[key], wanted[key])
    c.equal("links between forward and backward", links(ours), links(theirs))
    c.true("there are links", sum(links(ours).values()) >= 30, sum(links(ours).values()))
    c.equal("stacks: operators in order", [n for n, _ in stacks(ours)], [n for n, _ in stacks(theirs)])
    c.equal("stacks: files and lines", stacks(ours), stacks(theirs))
    names = [e["name"] for e in slices(ours, "user_annotation")]
    wanted = [e["name"] for e in slices(theirs, "user_annotation")]
    c.equal("torch's own ranges", [n for n in names if n not in ("forward", "backward")], wanted)
    fixed(c, tacho.load(str(next(Path(folder).glob("*.tacho")))))


def fixed(c, trace):
    c.equal("steps", trace.steps().step, [2, 3])
    c.equal("stages", stages(trace), {"data_loading": 2, "forward": 4, "backward": 2, "optimizer": 4})
    tree = {"Net_0": None, "Conv2d_0": "Net_0", "Sequential_0": "Net_0", "Linear_0": "Net_0",
            "Block_0": "Sequential_0", "Block_1": "Sequential_0", "Conv2d_1": "Block_0",
            "BatchNorm2d_0": "Block_0", "Conv2d_2": "Block_1", "BatchNorm2d_1": "Block_1",
            "CrossEntropyLoss_0": None}
    c.equal("modules", modules(trace), sorted((name, parent, 2) for name, parent in tree.items()))
    c.equal("damage and notes", [trace.info().quality[k] for k in ("events_dropped", "notes")], [[], []])


def without_libtorch_s_answer(c, folder):
    """The way round: operators through a dispatch mode, and the trace says so."""
    real, itt = _native.calls.torch, _native.calls.itt
    _native.calls.torch, _native.calls.itt = lambda want: 0, lambda: 0
    try:
        x = torch.ones(2, 3)
        with tacho.profile(path=folder, record_shapes=True) as profiler:
            torch.mm(x, x.t())
            profiler.step()
    finally:
        _native.calls.torch, _native.calls.itt = real, itt
    trace = profiler.trace()
    rows = {r["name"]: r["shapes"] for r in trace.operators(group_by="name+shape")}
    c.equal("fallback: operators", rows.get("aten::mm"), "[[2, 3], [3, 2]]")
    c.true("fallback: said in the trace", any("dispatch mode" in n for n in trace.info().quality["notes"]))


ITT = """
import sys
import tacho
import torch
from tacho import _native
_native.calls.torch = lambda want: 0
x = torch.ones(2, 3, requires_grad=True)
with tacho.profile(path=sys.argv[1]) as profiler:
    torch.mm(x, x.t()).sum().backward()
    torch.optim.SGD([x], 0.1).step()
    profiler.step()
"""


def has_itt():
    """PyTorch's builds for x86-64 without CUDA do, those for aarch64 do not."""
    try:
        torch.profiler.itt.mark("here")
    except RuntimeError:
        return False
    return True


def through_itt(c, folder):
    """The other way round, on builds without CUDA: ranges of ITT, where they have them."""
    program = os.path.join(folder, "program.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(ITT)
    subprocess.run([sys.executable, program, folder], check=True, timeout=300)
    trace = tacho.load(str(next(Path(folder).glob("*.tacho"))))
    ops = {r["name"]: r["calls"] for r in trace.operators()}
    c.true("ITT: operators", ops.get("aten::mm", 0) >= 2 and "aten::sum" in ops, ops)
    c.equal("ITT: optimizer", kinds(trace).get("optimizer"), 1)
    way = "ITT" if has_itt() else "dispatch mode"
    c.true(f"{way}: said in the trace", any(way in n for n in trace.info().quality["notes"]))


def a_broken_hook_is_a_note(c, folder):
    from tacho.hooks import torch_hooks
    real = torch_hooks._hook_modules
    torch_hooks._hook_modules = lambda torch: 1 // 0
    try:
        with tacho.profile(path=folder) as profiler:
            torch.ones(2) + 1
            profiler.step()
    finally:
        torch_hooks._hook_modules = real
    notes = profiler.trace().info().quality["notes"]
    c.true("a hook that fails is a note", any("ZeroDivisionError" in n for n in notes), notes)
    c.true("and the rest is recorded", kinds(profiler.trace()).get("op", 0) >= 1)
    c.true("PyTorch is as it was", not hasattr(torch.autograd.backward, "__tacho__"))


def beside_torch_profiler(c, folder):
    """Both at once: neither disturbs the other."""
    with tacho.profile(path=folder, record_shapes=True, profile_memory=True) as profiler:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as other:
            for _ in range(3):
                torch.ones(4, 4) @ torch.ones(4, 4)
        profiler.step()
    theirs = {e.key: e.count for e in other.key_averages()}
    ours = {r["name"]: r["calls"] for r in profiler.trace().operators()}
    c.equal("beside torch.profiler: operators", ours["aten::mm"], theirs["aten::mm"])


def work_is_counted_as_torch_profiler_counts_it(c, folder):
    x, w = torch.ones(2, 4, 9, 9), torch.ones(6, 2, 3, 3)
    a, b = torch.ones(3, 5), torch.ones(5, 7)

    def work():
        torch.nn.functional.conv2d(x, w, stride=2, padding=1, groups=2)
        torch.addmm(torch.ones(7), a, b)
        a @ b
        torch.bmm(a.expand(4, 3, 5), b.expand(4, 5, 7))
        a * a + a

    with tacho.profile(path=folder, with_flops=True) as profiler:
        work()
        profiler.step()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_flops=True) as other:
        work()
    ours = {r["name"]: int(r["flops"]) for r in profiler.trace().operators() if r["flops"]}
    theirs = {e.key: e.flops for e in other.key_averages() if e.flops}
    c.equal("floating-point operations", {k: v for k, v in ours.items() if k in theirs}, theirs)
    c.equal("what PyTorch does not count", {k: v for k, v in ours.items() if k not in theirs},
            {"aten::matmul": theirs["aten::mm"]})


def what_is_compiled_stays_whole(c, folder):
    """A recording leaves torch.compile one graph; the compiled model is still one module call."""
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(8, 2)))
    x = torch.ones(3, 4)
    with tacho.profile(path=folder) as profiler:
        told = torch._dynamo.explain(lambda x: net(x).sum())(x)
        compiled = torch.compile(net, backend="eager")
        same = torch.equal(compiled(x), net(x))
        profiler.step()
    c.equal("compiled: graphs", told.graph_count, 1)
    c.true("compiled: the same result", same)
    names = {name for name, *_ in modules(profiler.trace())}
    c.true("compiled: it and the modules of the plain one are there",
           {"OptimizedModule_0", "Sequential_0", "Linear_0", "Linear_1", "ReLU_0"} <= names, names)


PLAIN = """
import torch
from torch.utils.data import DataLoader, TensorDataset
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for (x,) in DataLoader(TensorDataset(torch.randn(60, 4)), batch_size=10):
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
"""


def without_a_change_of_the_program(c, folder):
    """tacho record -- python3 train.py: operators, modules, stages, and steps by the optimizer."""
    program, to = os.path.join(folder, "plain.py"), os.path.join(folder, "runs")
    with open(program, "w", encoding="utf-8") as file:
        file.write(PLAIN)
    tacho._program.run(["record", "-o", to, "--steps", "2..4", "--shapes", "--", sys.executable, program])
    trace = tacho.load(to)
    c.equal("tacho record: steps", trace.steps().step, [2, 3, 4])
    c.equal("tacho record: stages", stages(trace), {"data_loading": 3, "forward": 3, "backward": 3, "optimizer": 6})
    c.equal("tacho record: modules", modules(trace), [("Linear_0", "Sequential_0", 3), ("ReLU_0", "Sequential_0", 3),
                                                      ("Sequential_0", None, 3)])
    rows = {r["name"]: r["shapes"] for r in trace.operators(group_by="name+shape")}
    c.equal("tacho record: shapes", rows.get("aten::addmm"), "[[8], [10, 4], [4, 8], [], []]")
    c.equal("tacho record: damage", trace.info().quality["events_dropped"], [])
    facts = {r["key"]: r["value"] for r in trace.info()["trace"]}
    c.equal("tacho record: hooks were tried", [int(facts.get(f"cost_{k}_ns", 0)) > 0 for k in ("operators", "modules", "start")],
            [True, True, True])


LOADED = """
import torch
from torch.utils.data import DataLoader, TensorDataset
net = torch.nn.Linear(4, 8)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for (x,) in DataLoader(TensorDataset(torch.randn(80, 4)), batch_size=10, num_workers=2):
    net(x).sum().backward()
    optimizer.step()
"""


def every_batch_of_a_loader_s_process_is_there(c, folder):
    """Also the first of each: with it, the recording of the process begins."""
    program, to = os.path.join(folder, "loaded.py"), os.path.join(folder, "runs")
    with open(program, "w", encoding="utf-8") as file:
        file.write(LOADED)
    tacho._program.run(["record", "-o", to, "--", sys.executable, program])
    batches = [list(tacho.load(path).slices.name).count("DataLoader.fetch")
               for path in Path(to).glob("*.loader_*.tacho")]
    c.equal("tacho record: batches of the processes of a loader", batches, [4, 4])


OUT_OF_MEMORY = """
import torch
net = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(5):
    net(torch.randn(2, 4)).sum().backward()
    optimizer.step()
torch.empty(1 << 60, dtype=torch.uint8)
"""


def memory_that_runs_out_leaves_evidence(c, folder):
    """tacho record --trigger oom: the steps before the error are in a file, which says why."""
    program, to = os.path.join(folder, "oom.py"), os.path.join(folder, "runs")
    with open(program, "w", encoding="utf-8") as file:
        file.write(OUT_OF_MEMORY)
    with contextlib.suppress(tacho.TachoError):  # the program's own status
        tacho._program.run(["record", "-o", to, "--trigger", "oom", "--", sys.executable, program])
    trace = tacho.load(to, span="1")
    c.equal("out of memory: steps", list(trace.steps().step), [0, 1, 2, 3, 4])
    notes = " ".join(trace.info().quality["notes"])
    c.equal("out of memory: the reason", "written because of oom" in notes, True)


SAMPLED = Path(__file__).with_name("torch_sample_program.py")


class Steps:
    """The steps of a trace, to find the one that something began in."""

    def __init__(self, trace):
        marks = sorted((e["ts"], e["ts"] + e["dur"], int(e["name"].split("#")[1])) for e in trace
                       if e["name"].startswith("ProfilerStep#"))
        self._marks, self._starts = marks, [m[0] for m in marks]

    def at(self, event):
        i = bisect.bisect_right(self._starts, event["ts"]) - 1
        return self._marks[i][2] if i >= 0 and event["ts"] < self._marks[i][1] else None

    def of(self, found):
        """Which steps they began in."""
        return sorted({self.at(e) for e in found} - {None})


def launches_by_step(trace):
    """Operators of the kernels of each step in their order, and whether they are inferred."""
    steps, found = Steps(trace), collections.defaultdict(list)
    names = {e["args"]["External id"]: e["name"] for e in slices(trace, "cpu_op")}
    for kernel in slices(trace, "kernel"):
        inferred = kernel["args"].get("Inferred operator")
        found[steps.at(kernel)].append((names.get(kernel["args"].get("External id")) or inferred, inferred is not None))
    return found


def record_sampled(folder, cupti):
    """Traces of a whole recording and of a sampled one, and what the program said."""
    runs = {}
    for name, options in (("whole", []), ("sampled", ["--sample", "1/5", "--stack"])):
        to = os.path.join(folder, name)
        said = tacho._program.run(["record", "-o", to, *options, "--", sys.executable, str(SAMPLED), "23"],
                                  TACHO_CUPTI=str(cupti))
        tacho._program.run(["export", to, "--to", "chrome", "-o", to + ".json"])
        runs[name] = events(folder, name + ".json")
    return runs["whole"], runs["sampled"], said


def sampled_steps(c, folder):
    """tacho record --sample 1/5: hooks are out in the other steps, whose kernels have the operators of a whole
    recording, but those of another branch."""
    stage = Path(os.environ.get("TACHO_STAGE", ""))
    places = [stage / variant / "fake/libcupti.so" for variant in ("", "release", "debug")]
    cupti = next((p for p in places if p.exists()), None)
    if cupti is None:
        c.skip("sampled steps: there is no made-up CUPTI beside the program (make tests)")
        return
    whole, sampled, said = record_sampled(folder, cupti)
    wanted, branches = [0, 1, 2, 5, 10, 15, 20], (7, 12, 17)
    hooked = json.loads(said[said.index("hooked ") + len("hooked "):].split("\n")[0])
    c.equal("sampled: module calls are hooked after these steps only", hooked, [n - 1 for n in wanted[1:]])
    steps = Steps(sampled)
    c.equal("sampled: operators are recorded in these steps only", steps.of(slices(sampled, "cpu_op")), wanted)
    c.equal("sampled: and stacks", steps.of(e for e in slices(sampled, "python_function") if "forward" in e["name"]),
            wanted)
    seen, real = launches_by_step(sampled), launches_by_step(whole)
    same = [n for n in range(23) if n not in wanted and n not in branches]
    c.equal("sampled: operators of the other steps", [[op for op, _ in seen[n]] for n in same],
            [[op for op, _ in real[n]] for n in same])
    c.true("sampled: they are inferred", all(inferred for n in same for _, inferred in seen[n]))
    others = [(a, b) for n in branches for (a, _), (b, _) in zip(seen[n], real[n])]
    c.equal("sampled: another branch is not taken for what it replaces",
            [pair for pair in others if pair[0] not in (None, pair[1])], [])
    c.equal("sampled: it is unknown", {a for a, b in others if b in ("made::b", "made::e")}, {None})


def sampled_by_the_program(c, folder):
    """tacho.profile(sample=N), and values that mean nothing."""
    net = torch.nn.Linear(2, 2)
    with tacho.profile(path=folder, sample=4) as profiler:
        for _ in range(10):
            net(torch.ones(1, 2))
            profiler.step()
    trace = profiler.trace()
    calls = {n: sum(r["calls"] for r in trace.operators(step=n) if r["name"] == "aten::linear") for n in range(9)}
    c.equal("profile(sample=4): operators", calls, {n: int(n in (0, 1, 2, 4, 8)) for n in range(9)})
    c.true("profile(sample=4): PyTorch is as it was", not hasattr(torch.nn.Module.__call__, "__tacho__"))
    for value, error in ((-1, ValueError), (1.5, TypeError), ("1/4", TypeError), (True, TypeError)):
        with contextlib.suppress(error):
            tacho.profile(path=folder, sample=value)
            c.true(f"profile(sample={value!r}) is refused", False)


checks = Checks()
print(f"torch {torch.__version__}")
with tempfile.TemporaryDirectory() as top:
    for test in (equal_to_torch_profiler, without_libtorch_s_answer, through_itt,
                 a_broken_hook_is_a_note,
                 beside_torch_profiler, what_is_compiled_stays_whole,
                 work_is_counted_as_torch_profiler_counts_it, without_a_change_of_the_program,
                 every_batch_of_a_loader_s_process_is_there,
                 memory_that_runs_out_leaves_evidence, sampled_steps, sampled_by_the_program,
                 torch_snippets.code_of_advice_runs):
        os.mkdir(os.path.join(top, test.__name__))
        checks.run(test, os.path.join(top, test.__name__))
    torch_hard.all_tests(checks, top)
checks.finish()
