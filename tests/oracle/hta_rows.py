"""The rows that Holistic Trace Analysis works on, and its arithmetic, written down a second time.

Times are kept twice: exact in nanoseconds, and as HTA has them, in microseconds rounded inwards.
"""

import functools
import math
import re
from collections import defaultdict

import reference
from ref_ranges import merge

DEVICE = {'kernel', 'gpu_memcpy', 'gpu_memset'}
CLASSES = ('COMPUTATION', 'COMMUNICATION', 'MEMORY')
COMMUNICATION = re.compile(r'nccl|hip|hccl|.*ncclKernel')
MEMORY = re.compile(r'(hip)?Mem(cpy|set)|dma')
NOT_COMPUTATION = re.compile(
    r'nccl|hip|hccl|runFunction|job_exe|packet|pe_exe|cpum_exe_subgraph|collective_subgraph_execution'
    r'|Stream Wait Event|.*(Memcpy|Memset|dma|Sync)|.*cuda.*LaunchKernel', re.S)
# 0.5.0 knew fewer names.
COMMUNICATION_OLD = re.compile(r'nccl.*Kernel')


class Row:
    __slots__ = ('name', 'cat', 'start', 'end', 'begin', 'finish', 'stream', 'correlation', 'event', 'iteration', 'text')

    def __init__(self, event, fractional):
        args = event.get('args') or {}
        self.event, self.name, self.cat = event, event['name'], event['cat']
        self.start = reference.nanoseconds(event['ts'])
        self.end = self.start + reference.nanoseconds(event['dur'])
        if fractional:          # in doubles, which lose the nanoseconds of times since the epoch
            begin = float(event['ts'])
            self.begin, self.finish = math.ceil(begin), math.floor(begin + float(event['dur']))
        else:
            self.begin, self.finish = self.start // 1000, self.end // 1000
        self.stream = whole(args.get('stream'))
        self.correlation = whole(args.get('correlation'))
        self.iteration = -1
        self.text = {}      # as tool_hta.py writes it, by category: a row is in several of its files

    @property
    def dur(self):
        """As HTA has it, in microseconds."""
        return self.finish - self.begin


def whole(value):
    try:
        return int(value)
    except (TypeError, ValueError):
        return -1


@functools.lru_cache(None)
def kernel_class(name, old=False):
    if (COMMUNICATION_OLD if old else COMMUNICATION).match(name):
        return 'COMMUNICATION'
    if MEMORY.match(name):
        return 'MEMORY'
    if NOT_COMPUTATION.match(name) and not (old and name.startswith('Stream Wait Event')):
        return 'OTHER'
    return 'COMPUTATION'


def rows_of(events):
    """Rows with a duration and a category; times with fractions are rounded, all or none."""
    kept = [e for e in events if isinstance(e.get('cat'), str) and e.get('dur') is not None and e['cat'] != 'Trace'
            and isinstance(e.get('name'), str)]
    fractional = any(not isinstance(e['ts'], int) for e in kept)
    return [Row(e, fractional) for e in kept]


def is_device(row):
    return row.stream >= 0 and row.correlation >= 0 or row.name in ('Event Sync', 'Context Sync')


def step_rows(rows):
    """{number: rows}: device-side twins of the markers are steps to HTA."""
    found = defaultdict(list)
    for row in rows:
        if row.name.startswith('ProfilerStep#') and row.stream == -1 and row.name[13:].isdigit():
            found[int(row.name[13:])].append(row)
    return found


def step_filter(rows, include_last):
    """HTA leaves out the last step of several, or what is after it."""
    steps = step_rows(rows)
    if len(steps) < 2:
        return rows
    last = steps[max(steps)]
    if include_last:
        limit = max(r.finish for r in last)
        host = [r for r in rows if not is_device(r) and r.begin <= limit]
    else:
        limit = max(r.begin for r in last)
        host = [r for r in rows if not is_device(r) and r.begin < limit]
    known = {r.correlation for r in host if r.correlation >= 0}
    return host + [r for r in rows if is_device(r) and r.correlation in known]


def span_union(ranges):
    """Length of the union as HTA has it: a row opens a new group only after the largest end so far."""
    total, start, end = 0, None, None
    for a, b in sorted(ranges):
        if end is None or a > end:
            if end is not None:
                total += end - start
            start, end = a, b
        else:
            end = max(end, b)
    return total + (end - start if end is not None else 0)


def temporal(rows, old):
    """(idle, compute, non compute, whole) in HTA's microseconds."""
    whole_time = max(r.finish for r in rows) - min(r.begin for r in rows)
    busy = span_union((r.begin, r.finish) for r in rows)
    compute = span_union((r.begin, r.finish) for r in rows if kernel_class(r.name, old) == 'COMPUTATION')
    idle = whole_time - busy
    return idle, compute, whole_time - compute - idle, whole_time


def overlap_sets(ranges):
    """{'A overlapping B': length} of three lists of merged ranges, every moment in one set.  Ranges that rounding has
    turned round take part: while one of them is open, the moment is in no set."""
    edges = []
    for bit, name in enumerate(CLASSES):
        for a, b in ranges[name]:
            edges += [(a, 1 << bit), (b, -(1 << bit))]
    edges.sort()
    out, running, at = defaultdict(int), 0, None
    for time, change in edges:
        if 0 < running < 1 << len(CLASSES) and time > at:
            out[' overlapping '.join(c for bit, c in enumerate(CLASSES) if running >> bit & 1)] += time - at
        running, at = running + change, time
    return dict(out)


def groups(ranges):
    """Ranges merged as HTA does: in order of their starts, a new group only after the largest end so far.  A range of
    negative length, which rounding inwards can leave, is a separate group and stays."""
    out = []
    for a, b in sorted(ranges):
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        else:
            out.append([a, b])
    return [tuple(g) for g in out]


def merged(rows, name, old, exact):
    some = [((r.start, r.end) if exact else (r.begin, r.finish)) for r in rows if kernel_class(r.name, old) == name]
    return merge(some) if exact else groups(some)


def share_overlapped(rows, old):
    """Share of communication that overlaps with computation; None without communication."""
    comm, comp = (merged(rows, c, old, False) for c in ('COMMUNICATION', 'COMPUTATION'))
    whole = sum(b - a for a, b in comm)
    shared = overlap_sets({'COMMUNICATION': comm, 'COMPUTATION': comp, 'MEMORY': []})
    return shared.get('COMPUTATION overlapping COMMUNICATION', 0) / whole if whole else None


def by_name(rows, exact=False):
    """{name: (calls, sum, max, min)}"""
    table = defaultdict(list)
    for row in rows:
        table[row.name].append(row.end - row.start if exact else row.dur)
    return {name: (len(some), sum(some), max(some), min(some)) for name, some in table.items()}


def short_name(name):
    """Without template arguments and parameters, the last word; names of copies stay."""
    if MEMORY.match(name) or not re.search('[<(]', name):
        return name
    out, depth = '', 0
    for letter in name.replace('->', ''):
        if letter in '<(':
            depth += 1
        elif letter in '>)':
            depth = max(0, depth - 1)
        elif depth == 0:
            out += letter
    return out.split(' ')[-1] if out.strip() else name


def spread(values):
    """The standard deviation of a sample, 0 of one value."""
    if len(values) < 2:
        return 0
    middle = sum(values) / len(values)
    return math.sqrt(sum((v - middle) ** 2 for v in values) / (len(values) - 1))


def figures(values):
    """(sum, max, min, mean, stddev) as HTA gives them."""
    return sum(values), max(values), min(values), sum(values) / len(values), spread(values)


def facts(rows, kept, zero, symbols):
    """HTA's own count of its rows; zero: the first start of all ranks, symbols: how many words all of them have."""
    seen, cats = [r for r in kept if r.stream != -1], defaultdict(lambda: [0, 0])
    for row in kept:
        cats[row.cat][0] += 1
        cats[row.cat][1] += row.dur
    linked = links(kept)
    return {'rows': len(kept), 'min_ts_subtracted': zero, 'sum_ts': sum(r.begin - zero for r in kept),
            'sum_dur': sum(r.dur for r in kept), 'max_end': max(r.finish for r in kept) - zero,
            'rows_stream_ne_minus1': len(seen), 'sum_dur_stream_ne_minus1': sum(r.dur for r in seen),
            'streams': sorted({r.stream for r in kept}), 'rows_negative_dur': sum(r.dur < 0 for r in kept),
            'rows_zero_dur': sum(r.dur == 0 for r in kept), 'rows_per_cat': {c: n for c, (n, _) in cats.items()},
            'sum_dur_per_cat': {c: d for c, (_, d) in cats.items()}, 'rows_index_correlation_gt0': linked[0],
            'rows_index_correlation_eq0': linked[1], 'iterations': iterations(rows, kept),
            'num_symbols': symbols}


def links(kept):
    """(rows whose partner is there, rows whose partner is missing)."""
    sides = [{r.correlation for r in kept if is_device(r) == device and r.correlation >= 0} for device in (False, True)]
    both_ = sides[0] & sides[1]
    there = sum(r.correlation in both_ for r in kept)
    return there, sum(r.correlation >= 0 for r in kept) - there


def iterations(rows, kept):
    """{step: rows}: by the start on the host, by the launch on a stream; rows of stream 0 have none."""
    steps = [(min(r.begin for r in some), max(r.finish for r in some), number) for number, some in step_rows(rows).items()]
    count, launch = defaultdict(int), {}
    for row in rows:
        if row.stream == -1 or not is_device(row):
            row.iteration = next((n for a, b, n in steps if a <= row.begin < b), -1)
            if row.correlation >= 0:
                launch[row.correlation] = row.iteration
    for row in rows:
        if row.stream != -1 and is_device(row):
            row.iteration = launch.get(row.correlation, -1) if row.stream > 0 else None
    for row in kept:
        if row.iteration is not None:
            count[row.iteration] += 1
    return dict(count)


def annotated(kept):
    """{annotation: (kernels, sum of dur)}: each kernel goes to the innermost range of the device over it, on its track."""
    tracks = defaultdict(list)
    for row in kept:
        if row.cat == 'gpu_user_annotation':
            tracks[row.event['pid'], row.event['tid']].append(row)
    for some in tracks.values():
        some.sort(key=lambda r: r.dur)
    out, count = defaultdict(lambda: [0, 0]), 0
    for row in kept:
        if row.cat in DEVICE:
            count += 1
            over = next((a for a in tracks.get((row.event['pid'], row.event['tid']), ())
                         if row.begin < a.finish and a.begin < row.finish), None)
            name = over.name if over is not None else '<none>'
            out[name][0] += 1
            out[name][1] += row.dur
    return count, {name: tuple(v) for name, v in out.items()}
