"""Records tests/data/execution_trace with PyTorch: record_execution_trace.py FOLDER (2.13 was used)

Two processes train a small network with DistributedDataParallel over Gloo; the profiler writes a trace and an execution
trace of one step each. The trace is recorded with shapes, and they are then taken out of it into
execution_trace_shapes.json: what joining the two must bring back.
"""
import gzip
import json
import os
import sys
from pathlib import Path

INPUTS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")


def train(rank, folder):
    import torch
    import torch.distributed as dist
    from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile, schedule

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29533")
    dist.init_process_group("gloo", rank=rank, world_size=2)
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    net = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    observer = ExecutionTraceObserver().register_callback(f"{folder}/rank{rank}_et.json")
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, execution_trace_observer=observer,
                 schedule=schedule(wait=1, warmup=1, active=1, repeat=1),
                 on_trace_ready=lambda p: p.export_chrome_trace(f"{folder}/rank{rank}.pt.trace.json")) as profiler:
        for _ in range(5):
            x = torch.randn(4, 8)
            loss = net(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            dist.all_reduce(torch.cat([x, x], 0))
            profiler.step()
    dist.destroy_process_group()


def pack(path, value):
    with open(path, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
        file.write(json.dumps(value).encode())


def keep(folder, out):
    """The files for the tests: no shapes in the trace, no name of the machine."""
    (out / "execution_trace").mkdir(exist_ok=True)
    shapes = {}
    for rank in range(2):
        trace = json.loads(Path(folder, f"rank{rank}.pt.trace.json").read_text())
        told = shapes.setdefault(f"rank{rank}", {})
        for event in trace["traceEvents"]:
            args = event.get("args", {})
            taken = [args.pop(key, None) for key in INPUTS]
            if taken[0] is not None:
                told[args["Record function id"]] = [event["name"], *taken]
        for key in ("record_shapes", "host_name", "traceName", "trace_id"):
            trace.pop(key, None)
        pack(out / f"execution_trace/rank{rank}.pt.trace.json.gz", trace)
        nodes = json.loads(Path(folder, f"rank{rank}_et.json").read_text())
        pack(out / f"execution_trace/rank{rank}_et.json.gz", nodes)
    pack(out / "execution_trace_shapes.json.gz", shapes)


if __name__ == "__main__":
    if not Path(sys.argv[1], "rank1_et.json").exists():
        import torch.multiprocessing

        os.makedirs(sys.argv[1], exist_ok=True)
        torch.multiprocessing.spawn(train, args=(sys.argv[1],), nprocs=2)
    keep(sys.argv[1], Path(__file__).resolve().parent.parent / "data")
