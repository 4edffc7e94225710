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
from decimal import Decimal

import reference
from common import Refused, ask, rows, short

COLUMNS = (('count', 'calls'), ('cpu_total', 'host_total'), ('self_cpu', 'host_self'),
           ('dev_total', 'device_total'), ('self_dev', 'device_self'))

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
    found = [os.path.join(folder, f) for f in os.listdir(folder)
             if re.search(r'\.pt\.trace\.json(\.gz)?$', f)]
    return max(found, key=lambda p: [int(n) for n in re.findall(r'\.(\d+)\.pt\.trace', p)])


@functools.lru_cache(1)
def load(path):
    return reference.Trace(reference.read(path))


def compare(tally, answers_path, input_path):
    with open(answers_path, encoding='utf-8') as file:
        answers = json.load(file)
    by_shape = 'by_shape' in os.path.basename(answers_path)
    label = short(answers_path)
    try:
        group = ['--group-by', 'name+shape'] if by_shape else []
        operators = rows(ask('operators', input_path, *group), 'operators')
        kernels = {} if by_shape else {r['name']: r for r in rows(
            ask('kernels', input_path, '--group-by', 'name'), 'kernels')}
    except (Refused, KeyError, ValueError) as problem:
        tally.fail('%s: tacho gave no answer: %s' % (label, problem))
        return
    mine = add_up(operators, by_shape)
    trace = load(last_span(input_path))
    kinds = {}
    for item in trace.slices:
        name = 'ProfilerStep*' if item.name.startswith('ProfilerStep#') else item.name
        kinds.setdefault(name, set()).add(item.kind)
    excess = {} if by_shape else counted_twice(trace)
    left_out = {}
    seen = set()
    for row in sorted(answers, key=lambda r: -r['cpu_total']):
        key = (row['key'], shape_text(row.get('input_shapes')) if by_shape else None)
        if key in mine and key not in seen and is_host(row):
            seen.add(key)
            compare_operator(tally, '%s: %s' % (label, printable(key)), row, mine[key], excess)
        elif row['key'] in kernels and not is_host(row):
            compare_kernel(tally, '%s: %s' % (label, row['key'][:60]), row, kernels[row['key']])
        else:
            reason = why_left_out(row, by_shape, kinds.get(row['key'], set()))
            if reason is None:
                tally.fail('%s: PyTorch has %s, tacho has not' % (label, printable(key)))
            else:
                left_out[reason] = left_out.get(reason, 0) + 1
    for key in sorted(set(mine) - seen, key=str):
        tally.fail('%s: tacho has the operator %s, PyTorch has not' % (label, printable(key)))
    for reason, count in sorted(left_out.items()):
        tally.skip('%s: %d rows: %s' % (label, count, reason), count)


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
        total = table.setdefault(key, dict.fromkeys((c for _, c in COLUMNS), 0))
        for _, column in COLUMNS:
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


def why_left_out(row, by_shape, kinds):
    if 'op' in kinds and is_host(row):
        return None
    if 'kernel' in kinds:
        return 'kernels are compared in the other file' if by_shape else None
    return next((reason for kind, reason in NOT_OPERATORS.items() if kind in kinds), None)
