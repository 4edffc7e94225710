"""PyTorch's own statistics (`key_averages()`, in microseconds) against `tacho operators` and `tacho kernels`.

Every number of every row is compared to the nanosecond: calls, host total and self, device total
and self.  A row of the answers is, in this order,
  - an operator: tacho's operators table has its name (it must, for names that look like one);
  - device work: only device time; kernels are compared with `tacho kernels`;
  - left out, for one of the reasons below: the trace itself says what kind of slice has that name.
The other way round, an operator of tacho that PyTorch does not list is a failure.
"""

import functools
import json
import os
import re
from collections import Counter, defaultdict
from decimal import Decimal

import reference
import torch_peer
from common import Refused, ask, read_answers, rows, samples, short

COLUMNS = (('count', 'calls'), ('cpu_total', 'host_total'), ('self_cpu', 'host_self'),
           ('dev_total', 'device_total'), ('self_dev', 'device_self'))
TIMES = ('cpu_total', 'self_cpu', 'dev_total', 'self_dev')
MEMORY = ('cpu_mem', 'self_cpu_mem', 'dev_mem', 'self_dev_mem')

# Why a row of the answers is not an operator of tacho, by the kind its name has in the trace itself.
NOT_OPERATORS = {
    'step': 'step markers are no operators',
    'annotation': 'ranges of the user are no operators',
    'optimizer': 'optimizer ranges are no operators',
    'forward': 'the forward range of a parallel module is no operator',
    'data_loading': 'data loading ranges are no operators',
    'runtime': 'runtime calls are no operators',
    'driver': 'driver calls are no operators',
    'overhead': 'rows of the profiler\'s own cost are no operators',
    'memcpy': 'copies are not in the kernels table',
    'memset': 'sets are not in the kernels table',
    'device_annotation': 'device twins of annotations are neither operators nor kernels',
    'python': 'Python frames are no operators (verbose=True lists them)',
    'module': 'module frames are no operators (verbose=True lists them)',
}


def counted_twice(trace):
    """The one mistake of PyTorch's met so far, as {op name: ns too much in its device total}.

    An overhead row ("Lazy Function Loading") carries the id of the op it disturbed.  PyTorch takes it for
    an op with that id below the launch call, and adds the op's device work once more to every op around.
    """
    calls = [s for s in trace.slices if s.kind in ('runtime', 'driver')]
    excess = {}
    for row in trace.slices:
        if row.kind == 'overhead':
            for call in calls:
                if call.start <= row.start and row.end <= call.end and call.owner is not None:
                    work = sum(s.dur for s in trace.device_work() if s.op is call.owner)
                    above = call.owner
                    while above is not None:
                        excess[above.name] = excess.get(above.name, 0) + work
                        above = above.owner
    return excess


def last_span(folder):
    """The trace the answers are of: the file itself, or the last span of a folder by its number."""
    if not os.path.isdir(folder):
        return folder
    found = [(worker_of(f), os.path.join(folder, f)) for f in sorted(os.listdir(folder))
             if re.search(r'\.pt\.trace\.json(\.gz)?$', f)]
    first = min((worker for worker, _ in found), default=None)
    return max((path for worker, path in found if worker == first), default=None,
               key=lambda p: [int(n) for n in re.findall(r'\.(\d+)\.pt\.trace', p)])


def worker_of(name):
    """What sorts the files of a folder by worker: rank 2 comes before rank 10, as it does in tacho."""
    word = re.sub(r'(\.\d+)?\.pt\.trace\.json(\.gz)?$', '', name)
    return [(int(part), '') if part.isdigit() else (-1, part) for part in re.split(r'(\d+)', word)]


class File:
    """The rows of one file are one answer."""

    ignored = ()

    def __init__(self, tally, path, source):
        self.tally, self.path, self.source = tally, path, source
        self.parts = [('rows', {'rows': read_answers(path)})]

    def state(self, _):
        return None

    def one(self, _):
        compare_rows(self.tally, self.path, self.source, self.parts[0][1]['rows'])

    def end(self):
        pass


def recorded():
    return [(path, os.path.dirname(path)) for path in samples('pytorch/**/key_averages*.json*')]


def compare(tally, answers_path, input_path):
    File(tally, answers_path, input_path).one(0)


def compare_rows(tally, answers_path, input_path, answers):
    by_shape = 'by_shape' in os.path.basename(answers_path)
    label = short(answers_path)
    source = last_span(input_path)
    if source is None:
        tally.fail('%s: there is no trace in %s' % (label, input_path))
        return
    try:
        group = ['--group-by', 'name+shape'] if by_shape else []
        operators = rows(ask('operators', source, *group), 'operators')
        kernels = {r['name']: r for r in rows(ask('kernels', source, '--group-by', 'name'), 'kernels')}
        memory = rows(ask('memory', source), 'statistics')
    except (Refused, KeyError, ValueError) as problem:
        tally.fail('%s: tacho gave no answer: %s' % (label, problem))
        return
    with_frames = any(re.search(r'\.py\(\d+\): |^<built-in |^nn\.Module: ', r['key']) for r in answers)
    comparison = Comparison(tally, label, by_shape, loaded(source, with_frames), any(r['flops'] for r in answers))
    comparison.operators(answers, add_up(operators, by_shape))
    comparison.memory([r for r in answers if is_host(r)], memory)
    comparison.others(answers, kernels)
    comparison.end()


class Comparison:
    """One table of PyTorch: its operators against tacho's, everything else against the trace."""

    def __init__(self, tally, label, by_shape, source, with_flops):
        self.tally, self.label, self.by_shape, self.source = tally, label, by_shape, source
        self.with_flops, self.left = with_flops, Counter()

    def is_operator(self, row):
        return is_host(row) and 'op' in self.source.kinds.get(row['key'], ())

    def key(self, row):
        return row['key'], shape_text(row.get('input_shapes')) if self.by_shape else None

    def operators(self, answers, mine):
        """Both ways: rows of ours that PyTorch does not have are failures as well."""
        theirs = Counter(self.key(row) for row in answers if self.is_operator(row))
        excess = {} if self.by_shape else self.source.excess
        for key in sorted(set(theirs) | set(mine), key=str):
            self.tally.check('%s: rows of %s' % (self.label, printable(key)), theirs[key], int(key in mine))
        for row in answers:
            key = self.key(row)
            if self.is_operator(row) and key in mine:
                what = '%s: %s' % (self.label, printable(key))
                compare_operator(self.tally, what, row, mine[key], excess)
                self.flops(what, row, key, mine[key])

    def flops(self, what, row, key, mine):
        """As PyTorch's formulas give them; tacho's are the same wherever it has them, but counts an operator
        that calls itself (addmm under autocast does) once."""
        right = self.source.flops[key] if self.with_flops else 0
        self.tally.check(what + ' FLOPs as PyTorch counts', right, row['flops'])
        if right and mine['flops']:
            once = right - self.source.again[key]
            self.tally.check(what + ' FLOPs', once, mine['flops'], 1e-9 * right)
        else:
            self.left['FLOPs that only one of them gives'] += 1

    def memory(self, answers, statistics):
        """By name and kind of device; tacho does not divide them by shape, so rows of one name are added up."""
        theirs, mine = defaultdict(Counter), defaultdict(Counter)
        for row in answers:
            if self.is_operator(row):
                for column in MEMORY:
                    theirs[row['key']][column] += row[column]
        for row in statistics:
            side = 'cpu_mem' if row['device'] == 'CPU' else 'dev_mem'
            mine[row['op']][side] += row['size_increase']
            mine[row['op']]['self_' + side] += row['self_size_increase']
        for name in sorted(set(theirs) | set(mine)):
            for column in MEMORY:
                self.tally.check('%s: %s %s' % (self.label, name, column), theirs[name][column], mine[name][column])

    def others(self, answers, kernels):
        """Rows that are not operators: ranges, calls and frames as the trace has them, and the work of the device."""
        peer, seen = self.source.table, Counter()
        for row in answers:
            if self.is_operator(row):
                continue
            what, on_device = '%s: %s' % (self.label, row['key'][:60]), not is_host(row)
            seen[row['key'], on_device] += 1
            if on_device:
                self.on_device(what, row, kernels)
            elif row['key'] in peer.rows:
                for figure in torch_peer.FIGURES:
                    value = nanoseconds(row[figure]) if figure in TIMES else row[figure]
                    self.tally.check('%s %s as the trace has it' % (what, figure), peer.rows[row['key']][figure], value)
                self.left[NOT_OPERATORS[peer.kinds[row['key']]]] += len(torch_peer.FIGURES)
            else:
                self.tally.fail('%s: what is this row?' % what)
            self.tally.check(what + ' FLOPs', 0, row['flops'])
        wanted = {(name, False) for name in peer.rows} | {(name, True) for name in peer.device}
        for name, side in sorted(wanted | set(seen)):
            self.tally.check('%s: rows of %s' % (self.label, name[:60]), int((name, side) in wanted), seen[name, side])

    def on_device(self, what, row, kernels):
        calls, total = self.source.table.device.get(row['key'], (0, 0))
        self.tally.check(what + ' calls as the trace has them', calls, row['count'])
        # A twin is made from its first and last kernel; its end is rounded twice.
        slack = 2 * calls if 'device_annotation' in self.source.kinds.get(row['key'], ()) else 0
        for column in ('dev_total', 'self_dev'):
            self.tally.check('%s %s as the trace has it' % (what, column), total, nanoseconds(row[column]), slack)
        for column in ('cpu_total', 'self_cpu', *MEMORY):
            self.tally.check('%s %s' % (what, column), 0, row[column])
        if 'kernel' in self.source.kinds.get(row['key'], ()):
            self.tally.check(what + ' is a kernel', True, row['key'] in kernels)
            compare_kernel(self.tally, what, row, kernels.get(row['key'], {'calls': None, 'total': None}))

    def end(self):
        for reason, count in sorted(self.left.items()):
            self.tally.skip('%s: %d figures: %s' % (self.label, count, reason), count)


class Source:
    """What the trace itself says, read once."""

    def __init__(self, path, with_frames):
        events = reference.read(path)
        trace = reference.Trace(events)
        self.table, self.excess = torch_peer.Table(trace, events, with_frames), counted_twice(trace)
        self.kinds, self.flops, self.again = {}, Counter(), Counter()
        for item in trace.slices:
            self.kinds.setdefault(torch_peer.label(item), set()).add(item.kind)
            if item.kind == 'op' and not item.dead:
                shapes = item.args.get('Input Dims', item.args.get('Input dims'))
                outer = item.parent
                calls_itself = outer is not None and outer.kind == 'op' and outer.name == item.name
                for key in (item.name, None), (item.name, shape_text(shapes)):
                    self.flops[key] += torch_peer.flops(item)
                    self.again[key] += torch_peer.flops(item) if calls_itself else 0


@functools.lru_cache(2)
def loaded(path, with_frames):
    return Source(path, with_frames)


def is_host(row):
    return row['cpu_total'] > 0 or row['dev_total'] == 0


def printable(key):
    return key[0] if key[1] is None else key[0] + ' ' + key[1]


def shape_text(shapes):
    """PyTorch writes a tensor list as [], so do we before comparing: lists of lists become []."""
    if isinstance(shapes, str):
        shapes = json.loads(shapes) if shapes else []
    short_form = [[] if isinstance(s, list) and s and isinstance(s[0], list) else s
                  for s in shapes or []]
    return json.dumps(short_form, separators=(',', ':'))


def add_up(operators, by_shape):
    table = {}
    for row in operators:
        key = (row['name'], shape_text(row.get('shapes')) if by_shape else None)
        total = table.setdefault(key, dict.fromkeys([c for _, c in COLUMNS] + ['flops'], 0))
        for column in total:
            total[column] += row[column] or 0
    return table


def nanoseconds(microseconds):
    """PyTorch adds doubles; the nearest nanosecond undoes its rounding."""
    return int((Decimal(repr(microseconds)) * 1000).to_integral_value())


def compare_operator(tally, label, row, mine, excess):
    for theirs, ours in COLUMNS:
        expected = row[theirs] if theirs == 'count' else nanoseconds(row[theirs])
        if theirs == 'dev_total':
            expected -= excess.get(row['key'], 0)
        tally.check('%s %s' % (label, ours), expected, mine[ours])


def compare_kernel(tally, label, row, mine):
    tally.check(label + ' calls', row['count'], mine['calls'])
    tally.check(label + ' total', nanoseconds(row['dev_total']), mine['total'])
