"""What must be true of the sentences about any trace: of one answer, of several answers about one trace, and against the
raw file. Each function yields what is wrong, in words."""
import json
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TACHO = os.environ.get("TACHO") or str(ROOT / "build/tacho")
ASKED = ("overview", "advise", "idle", "critical", "operators", "kernels", "roofline", "steps", "distributed", "memory", "pipeline")
LEAST_SHARE = 0.005
# What may limit the step where a verdict says this.
MUST_LIMIT = {"critical_host": ("cpu", "data"), "critical_device": ("device",), "critical_busy": ("device",),
              "critical_exposed": ("communication",), "critical_waits": ("dependency",), "gpu_idle_dependency": ("dependency", "device")}
SENDS_TO_DEVICE = ("operator_leads_device", "operator_odd_dimension", "tensor_cores_unused", "kernel_leads", "kernel_small_grid",
                   "roofline_step", "roofline_operator")
RANKS = ("critical_rank", "critical_group", "critical_stage", "critical_even")
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
DURATION = re.compile(r"(?<![\w.,])(\d+(?:,\d{3})*(?:\.\d+)?) (ns|µs|ms|s|min|h)(?![\w/])")
UNITS_NS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9}
ENGLISH = re.compile(r"(?<![\w:./])(the|because|takes|while|without|instead) ")
# Sums over ranks, requests or a whole run, or the length itself.
MAY_EXCEED = ("times_wrong", "idle_launches", "serving", "triton", "straggler")


def ask(command, path, *options):
    """The whole answer, or None and what the program says."""
    done = subprocess.run([TACHO, command, str(path), "--json", "-q", "--limit", "0", *options], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return None, done.stderr
    return (answer, done.stderr) if "verdict" in answer else (None, done.stdout)


def rows(answer, table):
    """Rows of a table as dictionaries; none when it does not exist."""
    t = (answer or {}).get("tables", {}).get(table)
    return [dict(zip((c["name"] for c in t["columns"]), r)) for r in t["rows"]] if t else []


def possible(command, answer):
    """What cannot be."""
    verdict = answer["verdict"]
    values = verdict.get("values") or {}
    for key, v in values.items():
        if isinstance(v, (int, float)) and (key.endswith("share") or key in ("busy", "idle_share", "device", "host")) and not -1e-9 <= v <= 1 + 1e-9:
            if command not in ("critical",) or key.endswith("share"):
                yield f"{key} is {v}"
    length = answer["trace"].get("duration_ns") if answer["trace"].get("ranks", 1) in (0, 1, None) else None
    step = values.get("step_time") or (values.get("step") if isinstance(values.get("step"), int) else None)
    if length and isinstance(step, int) and step > 1.001 * length and command != "steps":
        yield f"a step of {step} ns in a recording of {length} ns"
    if isinstance(values.get("saves_share"), (int, float)) and values["saves_share"] >= 0.9995:
        yield "everything is saved"
    for row in rows(answer, "advice"):
        saves, share = row.get("saves"), row.get("share")
        if saves and length and saves > length:
            yield f"{row['id']} saves {saves} ns in a recording of {length} ns"
        if saves and share is not None and share >= 0.9995:
            yield f"{row['id']} saves everything"
        if saves is not None and share is not None and share < LEAST_SHARE:
            yield f"{row['id']} saves {share:.4f} of the step"


def too_long(answer):
    """Durations in the sentence that are longer than the recording."""
    length = answer["trace"].get("duration_ns")
    if not length or answer["trace"].get("ranks", 1) not in (0, 1, None) or str(answer["verdict"].get("id", "")).startswith(MAY_EXCEED):
        return
    for number, unit in DURATION.findall((answer["verdict"].get("text") or {}).get("en") or ""):
        ns = float(number.replace(",", "")) * UNITS_NS[unit]
        if ns > 1.006 * length + 1:  # three digits
            yield f"{number} {unit} in a recording of {length} ns"


def same_numbers(english, chinese):
    """Numbers that one language has and the other lacks, and words that are not Chinese."""
    # Where English says "once" or "a step" Chinese may have a 1.
    two = [[n for n in sorted(NUMBER.findall(text)) if n != "1"] for text in (english, chinese)]
    if two[0] != two[1]:
        yield f"the numbers differ: {two[0]}, {two[1]}"
    if english and not chinese:
        yield "no Chinese"
    if ENGLISH.search(chinese):
        yield f"English in the Chinese: {ENGLISH.search(chinese)[0]}"


def languages(answer):
    """The verdict in both languages."""
    text = answer["verdict"].get("text") or {}
    yield from same_numbers(text.get("en") or "", text.get("zh") or "")


def advice_languages(english, chinese):
    """Titles and evidence of all advice in both languages. Suggestions have numbers in code alone."""
    if not english or not chinese:
        return
    for a, b in zip(rows(english, "advice"), rows(chinese, "advice")):
        for column in ("title", "evidence"):
            for w in same_numbers(str(a.get(column) or ""), str(b.get(column) or "")):
                yield f"{a['id']}: {w}"


def disagreements(answers):
    """What two answers say that cannot both be."""
    def verdict(c):
        a = answers.get(c)
        return (a["verdict"].get("id"), a["verdict"].get("values") or {}) if a else (None, {})
    overview, over = verdict("overview")
    critical, path = verdict("critical")
    idle, gaps = verdict("idle")
    if idle == "idle_busy" and gaps.get("busy", 0) > 0.9 and critical == "critical_host" and path.get("share", 0) > 0.5:
        yield f"idle: busy {gaps['busy']:.2f}; critical: {path['share']:.2f} on the host"
    if "idle_share" in over and idle == "idle_busy" and over["idle_share"] > 1 - gaps.get("busy", 0) + 0.05:
        yield f"overview: idle {over['idle_share']:.2f}; idle: busy {gaps['busy']:.2f}"
    said = {c: verdict(c)[1].get("limited_by") for c in ("overview", "advise", "critical", "operators", "kernels", "roofline")}
    limits = {by for by in said.values() if by}
    if len(limits) > 1:
        yield f"the step is limited by {', '.join(f'{by} ({c})' for c, by in said.items() if by)}"
    for by in limits:
        if critical in MUST_LIMIT and by not in MUST_LIMIT[critical]:
            yield f"{critical}; the step is limited by {by}"
        if overview in MUST_LIMIT and by not in MUST_LIMIT[overview]:
            yield f"{overview}; the step is limited by {by}"
    for c in ("operators", "kernels", "roofline"):
        if said[c] not in (None, "device") and verdict(c)[0] in SENDS_TO_DEVICE and "see advise" not in answers[c]["verdict"]["text"]["en"]:
            yield f"{c} sends to the device; the step is limited by {said[c]}"
    steps = [r["total"] for r in rows(answers.get("overview"), "steps")]
    path = sum(r["time"] for r in rows(answers.get("critical"), "by_kind"))
    if critical and critical.startswith("critical_") and critical not in RANKS and steps and path and not over.get("workers"):
        mean = sum(steps) / len(steps)
        if abs(path - mean) > 0.005 * mean:
            yield f"a step takes {mean:.0f} ns (overview) and {path} ns (critical)"
    if overview and "idle" in overview and over.get("idle_share", 0) > 0.3 and over.get("host_share", 0) > 0.3 and not rows(answers.get("advise"), "advice"):
        yield f"overview: idle {over['idle_share']:.2f}; no advice"


def against_raw(answers, facts):
    """What the raw file does not say."""
    over = answers.get("overview")
    if not over or not facts.device:
        return
    busy = facts.busy_us()
    span = facts.ends - facts.starts
    free = span - facts.held_us() - max(busy.values())
    values = over["verdict"].get("values") or {}
    steps = rows(over, "steps")
    total = sum(r["total"] or 0 for r in steps) / 1000 if steps else span
    claimed = values.get("idle_share", 0) * total
    if len(busy) == 1 and claimed > free + 0.02 * span:
        yield f"idle for {claimed / 1000:.2f} ms; the device is without work for {free / 1000:.2f} ms"
    kernels = (answers.get("kernels") or over)["verdict"]
    name, share = (kernels.get("values") or {}).get("kernel"), (kernels.get("values") or {}).get("share")
    if name and share is not None and kernels["id"] != "kernels_older" and over["quality"]["notes"] == []:
        real = facts.kernel_shares()
        if share - real.get(name, share) > 0.25:
            yield f"{name[:60]} takes {share:.2f}; it is {real[name]:.2f} of the kernel time"


STEP_WORDS = re.compile(r"(?<!mark )(?<!\w)(?:(?:each|the|a|per|every|of|average) (?:[\d.,]+ \S+ )?steps?|steps? \d+)(?! (?:markers?|trace))|每步|该步|第 ?\d+ ?步|的步中")
IDLE_RULES = ("host_late", "host_pause", "data_loader_no_workers", "data_loader_slow", "data_loader_unmarked", "dependency_wait", "blocking_sync",
              "item_sync", "small_kernels", "value_wait")
LESS = re.compile(r"would take ([\d.,]+) (ns|µs|ms|s) less")
# Recordings that decide: overview, advise, idle and critical say the same.
DECIDES = ("device_records_lost", "graph_records_lost", "thread_not_recorded", "steps_unmarked", "clocks_apart", "clocks_differ", "excerpt",
           "times_wrong", "recording_ends", "cold_start")


def shares(answer):
    """Shares in tables that cannot be."""
    for name, t in answer["tables"].items():
        for i, column in enumerate(t["columns"]):
            # A step with its device work may be longer than on the host; what is in a cache may be faster than memory.
            if column.get("unit") != "share" or (answer["analysis"], name) in (("steps", "distribution"), ("steps", "average"), ("roofline", "points")):
                continue
            bad = [r[i] for r in t["rows"] if isinstance(r[i], (int, float)) and not -1e-9 <= r[i] <= 1 + 1e-6]
            if bad:
                yield f"{name}.{column['name']} is {bad[0]}"


def texts(answers):
    """(command, sentence) of verdicts and advice, in English and Chinese."""
    for command, answer in answers.items():
        if not answer:
            continue
        for text in (answer["verdict"].get("text") or {}).values():
            yield command, text or ""
        for r in rows(answer, "advice"):
            yield command, str(r.get("evidence") or "")


def stepless(answers):
    """Steps that do not exist."""
    steps = answers.get("steps")
    if not steps or steps["verdict"].get("id") != "steps_none" or rows(steps, "steps"):
        return
    for command, text in texts(answers):
        if command not in ("steps", "pipeline", "distributed") and STEP_WORDS.search(text):
            yield f"{command} speaks of {STEP_WORDS.search(text)[0]!r}, and there are no steps"


def one_number(answers):
    """The same notion with two numbers."""
    def verdict(c):
        a = answers.get(c)
        return (a["verdict"].get("id"), a["verdict"].get("values") or {}) if a else (None, {})
    over_id, over = verdict("overview")
    advise_id, first = verdict("advise")
    _, gaps = verdict("idle")
    if over.get("workers"):  # overview and advise speak of all, the others of the first
        return
    decided = {c: verdict(c)[0] for c in ("overview", "advise", "idle", "critical") if verdict(c)[0] in DECIDES}
    if decided and len(set(decided.values())) > 1 or 0 < len(decided) < 4 and all(answers.get(c) for c in ("overview", "advise", "idle", "critical")):
        yield f"the recording decides in {decided}, not elsewhere"
    lengths = {c: v for c, v in (("overview", over.get("step_time")), ("advise", first.get("step_time")), ("idle", gaps.get("step")))
               if isinstance(v, int) and (c != "advise" or advise_id != "steps_unmarked")}
    if lengths and max(lengths.values()) - min(lengths.values()) > 1 and over_id != "steps_unmarked":
        yield f"the length of a step: {lengths}"
    found = rows(answers.get("advise"), "advice")
    if found and over.get("advice") == found[0]["id"] and found[0]["share"] is not None and isinstance(over.get("saves_share"), (int, float)):
        if abs(found[0]["share"] - over["saves_share"]) > 1e-6:
            yield f"{found[0]['id']} saves {over['saves_share']:.4f} (overview) and {found[0]['share']:.4f} (advise)"
    for r in found:
        less = LESS.search(str(r["evidence"]))
        ns = float(less[1].replace(",", "")) * UNITS_NS[less[2]] if less else None
        if ns and r["saves"] is not None and abs(ns - r["saves"]) > 0.01 * ns:
            yield f"{r['id']}: {less[0]}, and saves {r['saves']} ns"


def idle_is_enough(answers):
    """A saving of idle time that there is not."""
    causes = rows(answers.get("overview"), "idle")
    steps = rows(answers.get("overview"), "steps")
    devices = {r["device"] for r in causes}
    if len(devices) != 1 or not steps:
        return
    idle = sum(r["time"] for r in causes)
    for r in rows(answers.get("advise"), "advice"):
        if r["id"] in IDLE_RULES and r["saves"] is not None and r["saves"] > 1.01 * idle + 2:
            yield f"{r['id']} saves {r['saves']} ns of the {idle} ns in which the device is idle"


def alone(command, answer):
    """What is wrong with one answer."""
    yield from possible(command, answer)
    yield from shares(answer)
    yield from too_long(answer)
    yield from languages(answer)


def together(answers, chinese, facts):
    """What is wrong with all answers about one trace; `chinese` is advise in Chinese, `facts` is raw.Raw or None."""
    for w in advice_languages(answers.get("advise"), chinese):
        yield f"advise: {w}"
    for check in (disagreements, stepless, one_number, idle_is_enough):
        yield from check(answers)
    if facts:
        for w in against_raw(answers, facts):
            yield f"raw: {w}"
