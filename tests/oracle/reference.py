#!/usr/bin/python3
"""A slow, exact reference over Kineto JSON, sharing nothing with the C program.

    reference.py TRACE [--tree]        TRACE: plain, .gz or .xz JSON; prints one JSON object

Everything is integer nanoseconds.  The rules are those of README.md in this folder; each function
names the section it follows.  Speed is not a goal, being obviously right is.  Only valid JSON is read:
damage is the business of the program under test, which is compared with this reference on the
undamaged events.
"""

import gzip
import json
import lzma
import sys
from collections import Counter, defaultdict
from decimal import ROUND_HALF_UP, Decimal

DEVICE = {'kernel': 'kernel', 'gpu_memcpy': 'memcpy', 'memcpy': 'memcpy',
          'gpu_memset': 'memset', 'memset': 'memset'}
RUNTIME = {'cuda_runtime', 'runtime', 'xpu_runtime', 'mtia_runtime', 'glow_runtime',
           'privateuse1_runtime'}
DRIVER = {'cuda_driver', 'xpu_driver', 'privateuse1_driver'}
NAMED = {'cpu_op', 'operator', 'user_annotation', 'python'}
OTHER = {'overhead': 'overhead', 'gpu_user_annotation': 'device_annotation', 'trace': 'span',
         'cuda_sync': 'sync', 'xpu_sync': 'sync'}
FORWARD = {'DataParallel.forward', 'DistributedDataParallel.forward'}

# From the outside in: which of two slices with one and the same range is the parent.
OUTSIDE_IN = ('other', 'span', 'step', 'annotation', 'python', 'module', 'data_loading', 'forward',
              'optimizer', 'op', 'runtime', 'driver', 'sync', 'overhead', 'device_annotation', 'kernel',
              'memcpy', 'memset')
RANK = {kind: rank for rank, kind in enumerate(OUTSIDE_IN)}

# Kinds whose time is taken off the self time of the op around them.  Python frames, modules and
# overhead rows are looked through.
COUNTING = {'step', 'annotation', 'data_loading', 'optimizer', 'forward', 'op', 'runtime', 'driver'}


# Rows of these are streams and spans, no threads.
DEVICE_ROW = {'kernel', 'memcpy', 'memset', 'device_annotation', 'sync', 'span'}


class Slice:
    """One X event; the fields that the rules below need, and the tree."""

    __slots__ = ('name', 'kind', 'track', 'start', 'dur', 'end', 'args', 'tie', 'parent', 'depth',
                 'owner', 'children', 'launch', 'op', 'how', 'dead', 'device_self', 'device_total',
                 'overlaps')

    def __init__(self, name, kind, track, start, dur, args):
        self.name, self.kind, self.track = name, kind, track
        self.start, self.dur, self.end, self.args = start, dur, start + dur, args
        index = first(args, 'External id', 'external id', 'Ev Idx', 'Profiler Event Index',
                      'Python id', 'correlation')
        self.tie = (RANK[kind], index if isinstance(index, int) else 0, name.encode())
        self.parent = self.owner = self.launch = self.op = None
        self.depth = self.device_self = self.device_total = 0
        self.children = []        # only those that count
        self.how = 'none'
        self.dead = False         # a duplicate that its outer op stands for
        self.overlaps = False

    def order(self):
        return (self.start, -self.dur, self.tie)


def first(args, *keys):
    for key in keys:
        if args.get(key) is not None:
            return args[key]
    return None


def nanoseconds(value):
    """Microseconds as written, to integer nanoseconds, half away from zero; None if unreadable."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value * 1000
    try:
        exact = Decimal(value) * 1000
        return int(exact.to_integral_value(ROUND_HALF_UP))
    except (ArithmeticError, ValueError, TypeError):
        return None


def number_if_digits(value):
    """2021 files write thread ids as strings; "25738" and 25738 are one thread."""
    if isinstance(value, str) and value.lstrip('-').isdigit():
        return int(value)
    return value


def kind_of(cat, name, args):
    """README "Kinds"."""
    cat = cat.lower()
    if cat in DEVICE:
        return DEVICE[cat]
    if cat in RUNTIME:
        return 'runtime'
    if cat in DRIVER:
        return 'driver'
    if cat == 'python_function':
        return 'module' if args.get('Python module id') is not None else 'python'
    if cat not in NAMED:
        return OTHER.get(cat, 'other')
    if name.startswith('ProfilerStep#') and name[13:].isdigit():
        return 'step'
    if name.startswith('enumerate(DataLoader)#') and name.endswith('.__next__') \
            or name.startswith('enumerate(DataPipe)#'):
        return 'data_loading'
    if name.startswith('Optimizer.'):
        return 'optimizer'
    if name in FORWARD:
        return 'forward'
    return 'op' if cat in ('cpu_op', 'operator') else 'annotation'


def read(path):
    """The events of a trace."""
    return events_of(read_root(path))


def events_of(root):
    """The root is an object with traceEvents or the list itself."""
    return root if isinstance(root, list) else root['traceEvents']


def start_unix_ns(root, trace):
    """When the first slice began (spec 1.4): relative to the base, or, before 2024, since the epoch."""
    first_ns = min((s.start for s in trace.slices), default=0)
    if isinstance(root, dict) and 'baseTimeNanoseconds' in root:
        return root['baseTimeNanoseconds'] + first_ns
    return first_ns if first_ns > 10 ** 18 else None


def read_root(path):
    opener = gzip.open if path.endswith('.gz') else lzma.open if path.endswith('.xz') else open
    with opener(path, 'rb') as file:
        text = file.read().decode('utf-8', 'replace')
    try:
        root = json.loads(text, parse_float=Decimal)
    except json.JSONDecodeError:
        root = json.loads(text, parse_float=Decimal, strict=False)
    return root


class Trace:
    """All slices of a trace, nested and linked; `dropped` counts what could not be one, by cause,
    `repaired` what was kept all the same."""

    def __init__(self, events):
        self.slices, self.phases, self.memory = [], Counter(), 0
        self.dropped, self.repaired = Counter(), Counter()
        for event in events:
            self.phases[event.get('ph')] += 1
            self.memory += event.get('name') == '[memory]'
            if event.get('ph') == 'X':
                self.add(event)
        self.tracks = defaultdict(list)
        for item in self.slices:
            self.tracks[item.track].append(item)
        self.partial_overlaps = 0
        for track in self.tracks.values():
            self.nest(track)
        self.link()
        self.remove_duplicates()
        self.sum_device_time()

    def add(self, event):
        name, cat, args = event.get('name'), event.get('cat'), event.get('args')
        args = args if isinstance(args, dict) else {}
        start, dur = nanoseconds(event.get('ts')), nanoseconds(event.get('dur'))
        if not isinstance(name, str):
            self.dropped['missing_name'] += 1
        elif start is None or dur is None:
            self.dropped['missing_time'] += 1
        elif dur < 0:
            self.dropped['negative_duration'] += 1
        else:
            if not isinstance(cat, str):
                self.repaired['missing_category'] += 1      # kept, of kind other
                cat = ''
            track = (number_if_digits(event.get('pid')), number_if_digits(event.get('tid')))
            self.slices.append(Slice(name, kind_of(cat, name, args), track, start, dur, args))

    def nest(self, track):
        """README "Host threads and their tree"."""
        track.sort(key=Slice.order)
        device_row = any(s.kind in DEVICE_ROW for s in track)
        stack = []
        for item in track:
            while stack and (item.start >= stack[-1].end or item.end > stack[-1].end):
                if item.start < stack[-1].end:
                    item.overlaps = True
                stack.pop()
            # On a stream or a span row ranges may overlap; that is not damage.
            self.partial_overlaps += item.overlaps and not device_row
            if stack:
                item.parent, item.depth = stack[-1], stack[-1].depth + 1
            stack.append(item)
        counting = []
        for item in track:
            if item.kind in COUNTING:
                while counting and (item.start >= counting[-1].end or item.end > counting[-1].end):
                    counting.pop()
                if counting:
                    item.owner = counting[-1]
                    item.owner.children.append(item)
                counting.append(item)

    def link(self):
        """README "Which op launched a kernel, copy or memset"."""
        calls, ops = {}, defaultdict(list)
        for item in sorted((s for s in self.slices if s.kind in ('runtime', 'driver')),
                           key=lambda s: (s.start, RANK[s.kind], str(s.track))):
            correlation = item.args.get('correlation')
            if isinstance(correlation, int) and correlation >= 0:
                calls.setdefault(correlation, item)
        for track, items in self.tracks.items():
            ops[track] = [s for s in items if s.kind == 'op']
        by_id = defaultdict(list)
        for track, items in ops.items():
            for item in items:
                by_id[track, external_id(item)].append(item)
        self.unlinked = self.is_unlinked()
        for item in self.slices:
            if item.kind in ('kernel', 'memcpy', 'memset'):
                item.launch = calls.get(item.args.get('correlation'))
                if item.launch is not None:
                    item.op, item.how = self.find_op(item.launch, ops, by_id)

    def is_unlinked(self):
        """Producers of 2022 to early 2024 write the correlation where the op's id should be."""
        kernels = [s for s in self.slices if s.kind == 'kernel'
                   and s.args.get('correlation') is not None]
        equal = sum(external_id(s) == s.args['correlation'] for s in kernels)
        return bool(kernels) and 100 * equal >= 99 * len(kernels)

    def find_op(self, call, ops, by_id):
        wanted = external_id(call)
        if wanted and not self.unlinked:
            named = [s for s in by_id[call.track, wanted] if s.start <= call.start <= s.end]
            if named:
                return named[-1], 'exact'
        around, at = ops[call.track], call.start
        low, high = 0, len(around)
        while low < high:                       # the ops that start at or before the call
            middle = (low + high) // 2
            if around[middle].start <= at:
                low = middle + 1
            else:
                high = middle
        for item in reversed(around[:low]):
            if at < item.end:
                return item, 'contained'
        return None, 'none'

    def remove_duplicates(self):
        """README "Operators", rule 1: an op alone in one of its own name is that op."""
        for item in self.slices:
            if item.kind in ('kernel', 'memcpy', 'memset') and item.op is not None:
                item.op.device_self += item.dur
        again = True
        while again:
            again = False
            for item in self.slices:
                outer = item.owner
                if item.kind == 'op' and not item.dead and outer is not None \
                        and outer.kind == 'op' and outer.name == item.name \
                        and len(outer.children) == 1:
                    outer.children = item.children
                    outer.device_self += item.device_self
                    for child in item.children:
                        child.owner = outer
                    item.dead = again = True

    def sum_device_time(self):
        """Children before parents: the reverse of the track order."""
        for track in self.tracks.values():
            for item in reversed(track):
                if not item.dead:
                    item.device_total = item.device_self \
                        + sum(c.device_total for c in item.children)

    def operators(self, key=lambda s: s.name):
        table = {}
        for item in self.slices:
            if item.kind == 'op' and not item.dead:
                row = table.setdefault(key(item), {'calls': 0, 'host_total': 0, 'host_self': 0,
                                                   'device_total': 0, 'device_self': 0})
                row['calls'] += 1
                row['host_total'] += item.dur
                row['host_self'] += item.dur - sum(c.dur for c in item.children)
                row['device_total'] += item.device_total
                row['device_self'] += item.device_self
        return table

    def kernels(self, key=lambda s: s.name):
        table = {}
        for item in self.slices:
            if item.kind == 'kernel':
                row = table.setdefault(key(item), {'calls': 0, 'total': 0, 'max': 0,
                                                   'min': item.dur})
                row['calls'] += 1
                row['total'] += item.dur
                row['max'] = max(row['max'], item.dur)
                row['min'] = min(row['min'], item.dur)
        return table

    def steps(self):
        return sorted((int(s.name[13:]), s.start, s.dur) for s in self.slices if s.kind == 'step')

    def device_work(self):
        return [s for s in self.slices if s.kind in ('kernel', 'memcpy', 'memset')]


def external_id(item):
    return first(item.args, 'External id', 'external id')


def shape_key(item):
    """The group of --group-by name+shape: the dims as compact JSON; missing dims are []."""
    dims = first(item.args, 'Input Dims', 'Input dims')
    return item.name, json.dumps(dims if dims is not None else [], separators=(',', ':'))


def op_key(item):
    return item.name, item.op.name if item.op is not None else None


def as_rows(table, *columns):
    rows = []
    for key, row in sorted(table.items(), key=lambda kv: str(kv[0])):
        key = key if isinstance(key, tuple) else (key,)
        rows.append({**dict(zip(columns, key)), **row})
    return rows


def report(trace, with_tree):
    work = trace.device_work()
    start = min((s.start for s in trace.slices), default=0)
    lost = {'partial_overlap': trace.partial_overlaps, **trace.dropped, **trace.repaired,
            'orphan_correlation': sum(s.launch is None for s in work)}
    out = {
        'slices': len(trace.slices),
        'kinds': dict(sorted(Counter(s.kind for s in trace.slices).items())),
        'phases': {str(k): v for k, v in trace.phases.items()},
        'lost': {cause: count for cause, count in lost.items() if count},
        'memory': trace.memory,
        'unlinked_vintage': trace.unlinked,
        'links': {'device_work': len(work), 'with_call': sum(s.launch is not None for s in work),
                  'with_op': sum(s.op is not None for s in work),
                  'how': dict(Counter(s.how for s in work))},
        'steps': [{'step': n, 'start': t - start, 'duration': d} for n, t, d in trace.steps()],
        'operators': as_rows(trace.operators(), 'name'),
        'operators_by_shape': as_rows(trace.operators(shape_key), 'name', 'shapes'),
        'kernels': as_rows(trace.kernels(), 'name'),
        'kernels_by_op': as_rows(trace.kernels(op_key), 'name', 'op'),
    }
    if with_tree:
        out['tree'] = [{'pid': s.track[0], 'tid': s.track[1], 'name': s.name, 'kind': s.kind,
                        'start': s.start - start, 'dur': s.dur, 'depth': s.depth,
                        'parent': s.parent.name if s.parent else None}
                       for track in trace.tracks.values() for s in track]
    return out


def main(arguments):
    paths = [a for a in arguments if not a.startswith('--')]
    if len(paths) != 1:
        sys.exit('usage: reference.py TRACE [--tree]')
    json.dump(report(Trace(read(paths[0])), '--tree' in arguments), sys.stdout, indent=1)
    print()


if __name__ == '__main__':
    main(sys.argv[1:])
