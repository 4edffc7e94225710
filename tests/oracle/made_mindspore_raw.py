"""Raw files of an Ascend generated from lists: marks of steps, counters of the AI Core, memory of graphs. What they add
up to is computed here from the lists, in integers and Fractions, and never from the files."""

import os
import random
import struct
from fractions import Fraction

from common import ask, rows, scratch

COST = (16 ** 3 * 2, 16 * 16 * 32 * 2, 32, 128, 64, 64, 32)  # operations of one instruction of each counter


def write(path, data):
    with open(path, 'wb') as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def mark(tag, counter, task, kind=10):
    stream, number = task
    return struct.pack('<BBHIQQQHHHH', 1, kind, 40, 0, counter, 1, 11, stream, number, tag, 0)


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def part(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


class Tasks:
    """The table of tasks: numbers rise on each stream."""

    def __init__(self):
        self.rows = []
        self.last = {}

    def add(self, name, stream):
        self.last[stream] = self.last.get(stream, 0) + 1
        self.rows.append((name, self.last[stream], stream))
        return stream, self.last[stream]

    def text(self):
        return ''.join('%s 1 %d %d\n' % row for row in self.rows)


def job(folder, seed):
    """Writes a job and says what steps, operators and points it has."""
    rand = random.Random(seed)
    data = os.path.join(folder, 'data')
    os.makedirs(data)
    tasks = Tasks()
    start = tasks.add('Default/Profiling-op1', 5)
    forward = tasks.add('Default/Profiling-op2', 5)
    names = ['Default/net/Conv2D-op%d' % i for i in range(3, 4 + rand.randint(2, 9))]
    work = {name: tasks.add(name, 5) for name in names}
    backward = tasks.add('Default/Profiling-op90', 5)
    pairs = []
    for i in range(rand.randint(0, 4)):
        begin = tasks.add('Default/Profiling-op%d' % (100 + i), 7)
        tasks.add('Gradients/AllReduce-op%d' % (200 + i), 7)
        pairs.append((begin, tasks.add('Default/Profiling-op%d' % (300 + i), 7)))
    end = tasks.add('Default/Profiling-op99', 5)
    marks, runs, counters = [], [], []
    expected = {'steps': [], 'collectives': [], 'times': {n: [] for n in names}, 'cube': {}, 'vector': {},
                'fp': names[0], 'bp': names[-1], 'peak': 1000 * 10 ** 6 * 32 * 4096 * 2}
    now, previous = 10 ** 6, None
    for step in range(1, rand.randint(2, 7) + 1):
        marks.append(mark(0, now, start))
        now += rand.randint(1, 500)
        first = now
        marks.append(mark(2, first, forward))
        for name, task in work.items():
            begin = now + rand.randint(1, 50)
            now = begin + rand.randint(1, 900)
            runs += [(0, begin, task), (1, now, task)]
            expected['times'][name].append((now - begin) * 10)
        for i, (begin, finish) in enumerate(pairs):
            at, now = now, now + rand.randint(1, 400)
            marks += [mark(10000 + 2 * i, at, begin), mark(10001 + 2 * i, now, finish)]
            expected['collectives'].append((step, 'stream_7_%d_AllReduce-op%d' % (i, 200 + i), (now - at) * 10))
        now += rand.randint(1, 50)
        behind = now
        marks += [mark(3, behind, backward), mark(4, behind, end, kind=3)]
        now += rand.randint(1, 900)
        marks.append(mark(4, now, end))
        began = first if previous is None else previous
        expected['steps'].append([(v * 10) for v in (now - began, first - began, behind - first, now - behind)])
        previous = now
    for _ in range(3):
        for name, task in work.items():
            counts = [rand.randint(0, 10 ** 5) for _ in range(8)]
            counters.append((task, counts))
            for unit, (low, high) in (('cube', (0, 2)), ('vector', (2, 7))):
                expected[unit].setdefault(name, []).append(sum(counts[i] * COST[i] for i in range(low, high)))
    cut = rand.randint(0, len(marks))
    write(os.path.join(data, 'Framework.host.vm.task_desc_info.0.slice_0'), tasks.text())
    write(os.path.join(data, 'ts_track.data.0.slice_9'), b''.join(marks[:cut]))
    write(os.path.join(data, 'ts_track.data.0.slice_10'), b''.join(marks[cut:]))
    write(os.path.join(data, 'hwts.data.0.slice_0'),
          b''.join(struct.pack('<BBHHHQI44x', kind, 0, 0, 0, task[1], counter, task[0]) for kind, counter, task in runs))
    write(os.path.join(data, 'aicore.data.0.slice_0'),
          b''.join(struct.pack('<6xH24x8QI28x', task[1], *counts, task[0]) for task, counts in counters))
    write(os.path.join(folder, 'info.json.0'), '{"DeviceInfo": [{"aic_frequency": "1000", "ai_core_num": 32}]}')
    return expected


def costs(expected, name):
    """Operations of a call and of a second, of the cube and of the vector unit."""
    mean = Fraction(sum(expected['times'][name]), len(expected['times'][name]))
    out = []
    for unit in ('cube', 'vector'):
        rows = expected[unit][name]
        out += [Fraction(sum(rows), len(rows)), Fraction(sum(rows), len(rows)) / mean * 10 ** 9]
    return out


def graphs(folder, seed):
    """Writes memory_usage_0.pb; the bytes in use at each operator, graph by graph."""
    rand = random.Random(seed)
    os.makedirs(folder, exist_ok=True)
    out, file = [], b''
    for index in range(rand.randint(1, 3)):
        nodes, tensors = rand.randint(1, 25), rand.randint(1, 50)
        static = rand.randint(1, 1 << 30)
        line = [static] * nodes
        message = number(1, index) + number(2, static)
        for i in range(nodes):
            made = b''.join(varint(rand.randrange(tensors)) for _ in range(rand.randint(0, 3)))
            message += part(3, part(1, b'Op%d-op%d' % (index, i)) + number(2, i) + part(4, made))
        for i in range(tensors):
            first = rand.randrange(nodes)
            last = rand.randrange(first, nodes)
            size = rand.randint(0, 1 << 28)
            life = rand.choice(('LifeLongNone', 'LifeLongGraphAll', 'LifeLongGraphStart', 'LifeLongGraphEnd', 'Other'))
            message += part(4, number(1, i) + number(2, size) + part(3, b'Common') + number(4, first) +
                            number(5, last) + part(6, life.encode()))
            low = 0 if life in ('LifeLongGraphAll', 'LifeLongGraphStart') else first
            high = nodes - 1 if life in ('LifeLongGraphAll', 'LifeLongGraphEnd') else last
            for k in range(low, high + 1) if life != 'Other' else ():
                line[k] += size
        out.append(line)
        file += part(1, message)
    write(os.path.join(folder, 'memory_usage_0.pb'), file + number(2, 32 << 30))
    return out


def compare_job(tally, folder, label, expected):
    steps = ask('steps', folder)
    table = rows(steps, 'steps')
    tally.check(label + 'steps', len(expected['steps']), len(table))
    for want, got in zip(expected['steps'], table):
        for value, figure in zip(want, ('duration', 'gap', 'forward_backward', 'tail')):
            tally.check('%sstep %d %s' % (label, got['step'], figure), value, got[figure])
    tally.check(label + 'collectives', sorted(expected['collectives']),
                sorted((r['step'], r['name'], r['duration']) for r in rows(steps, 'segments')
                       if r['stage'] == 'communication'))
    facts = {r['key']: r['value'] for r in rows(ask('info', folder), 'trace')}
    tally.check(label + 'forward point', expected['fp'], facts.get('fp_point'))
    tally.check(label + 'backward point', expected['bp'], facts.get('bp_point'))
    table = {r['full_name']: r for r in rows(ask('operators', folder), 'operators')}
    for name in expected['times']:
        right = costs(expected, name)
        for figure, want in zip(('flops', 'flops_per_s', 'vector_flops', 'vector_flops_per_s'), right):
            tally.check('%s%s %s' % (label, name, figure), float(want), table[name][figure], float(want) * 1e-12)
        share = float(right[1] / expected['peak'])
        tally.check('%s%s utilization' % (label, name), share, table[name]['flops_utilization'], share * 1e-12)


def compare_graphs(tally, folder, label, expected):
    """Operators that never ran are a microsecond apart, and one more is after each graph, where nothing is in use."""
    last = {}
    for row in rows(ask('memory', folder, '--limit', '100000'), 'curve'):
        last[row['time']] = row['allocated']
    at, in_use = 0, 0
    for index, line in enumerate(expected):
        for node, want in enumerate(line + [0]):
            in_use = last.get(at, in_use)
            tally.check('%sgraph %d operator %d' % (label, index, node), want, in_use)
            at += 1000


def compare(tally):
    for seed in range(6):
        folder = scratch('raw_job_%d' % seed)
        compare_job(tally, folder, 'made raw job %d: ' % seed, job(folder, seed))
        folder = scratch('raw_graphs_%d' % seed)
        compare_graphs(tally, folder, 'made graphs %d: ' % seed, graphs(folder, seed))
