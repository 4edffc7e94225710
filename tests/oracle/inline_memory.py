"""Inline cases about memory: statistics by operator, blocks, the curve."""

import json

from made import Made, us
from ref_memory import Memory

FIGURES = ('self_size_increase', 'self_allocation_bytes', 'self_allocations', 'size_increase',
           'allocation_bytes', 'allocations', 'calls')
WINDOW = ('--from', '40us', '--to', '200us')


def statistics(tally, label, made, expected, *options):
    """{(op, device): figures} in the order of FIGURES."""
    got = {(r['op'], r['device']): tuple(r[f] for f in FIGURES)
           for r in made.table('memory', 'statistics', *options)}
    for key in sorted(set(expected) | set(got)):
        tally.check('%s %s' % (label, key), expected.get(key), got.get(key))


def reference(made):
    return Memory(made.reference(), json.loads(json.dumps(made.events)))


def same_as_reference(tally, label, made, shift):
    """Every table; `shift` is the start of the trace in microseconds."""
    memory = reference(made)
    right = {key: tuple(row[f] for f in FIGURES) for key, row in memory.statistics().items()}
    statistics(tally, label + ' reference', made, right)
    blocks = sorted(map(str, memory.blocks()))
    mine = sorted(str((r['op'], r['device'], r['bytes'], at(r['allocated_at'], shift), at(r['released_at'], shift)))
                  for r in made.table('memory', 'events'))
    tally.check(label + ' blocks', blocks, mine)


def at(ns, shift):
    return None if ns is None else ns + 1000 * shift


CPU_RECORDS = ((90, 90, 4), (150, 150, 4), (200, 200, 4), (450, 450, 1000000), (729, 729, 50), (746, 746, 100),
               (749, 690, -100))
GPU_RECORDS = ((210, 210, 4), (265, 265, 4), (300, 300, 4), (350, 350, 10), (360, 350, -10), (515, 515, 100),
               (520, 520, 100), (600, 520, -100), (690, 690, 100), (701, 701, 100), (708, 708, 100), (715, 715, 50),
               (725, 725, 50), (728, 725, -50), (735, 715, -50), (742, 708, -100), (747, 747, 20), (760, 760, 30),
               (780, 760, -30), (795, 795, 10), (796, 515, -100), (799, 795, -10))
VIEW = {'GPU0': {'aten::to': (104, 104, 2, 104, 204, 3, 4), 'aten::nll_loss_backward': (0, 10, 1, 0, 10, 1, 1),
                 'aten::copy_': (0, 100, 1, 0, 100, 1, 1), 'aten::addmm': (0, 30, 1, 0, 30, 1, 1),
                 'aten::tranas_stride': (0, 50, 1, 0, 50, 1, 1), 'aten::transpose': (0, 50, 1, 0, 100, 2, 1),
                 'aten::t': (0, 100, 1, 0, 200, 3, 1), 'aten::liner': (20, 130, 3, 20, 360, 7, 1)},
        'CPU': {'aten::to': (4, 4, 1, 4, 4, 1, 4), 'aten::liner': (0, 100, 1, 50, 150, 2, 1),
                'aten::tranas_stride': (50, 50, 1, 50, 50, 1, 1), 'aten::transpose': (0, 0, 0, 50, 50, 1, 1),
                'aten::t': (0, 0, 0, 50, 50, 1, 1)}}


def memory_view(tally, label):
    for vintage in ('old', 'new'):
        m = Made(vintage)
        for i, (name, start, dur) in enumerate((
                ('aten::to', 10, 10), ('aten::to', 200, 60), ('aten::nll_loss_backward', 340, 70),
                ('aten::to', 510, 150), ('aten::copy_', 520, 100), ('aten::liner', 700, 100),
                ('aten::t', 705, 40), ('aten::transpose', 710, 30), ('aten::tranas_stride', 720, 10),
                ('aten::addmm', 750, 40), ('aten::to', 900, 100))):
            m.op(name, start, dur, i + 10)
        m.step(1, 50, 400, 1)
        m.step(2, 500, 500, 2)
        m.note('enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', 100, 180, 3)
        for time, address, size in GPU_RECORDS + tuple(reversed(CPU_RECORDS)):
            cpu = (time, address, size) in CPU_RECORDS
            m.memory(time, address, size, 0 if cpu else 1, -1 if cpu else 0)
        here = '%s (%s)' % (label, vintage)
        statistics(tally, here, m, {(op, device): row for device, part in VIEW.items() for op, row in part.items()})
        same_as_reference(tally, here, m, 10)
        lone = [r for r in m.table('memory', 'events') if r['device'] == 'CPU' and r['allocated_at'] is None]
        tally.check(here + ': a release on the CPU does not end a block of the GPU',
                    [(None, 100, 739000)], [(r['op'], r['bytes'], r['released_at']) for r in lone])


CPU_CURVE = ((1, 1, 4, 4), (20, 1, -4, 0), (100, 2, 8000, 8000), (200, 2, -8000, 0), (300, 3, 4, 4), (400, 4, 16, 20),
             (500, 5, 4000, 4020), (600, 4, -16, 4004), (700, 7, 80, 4084), (800, 3, -4, 4080), (900, 7, -80, 4000),
             (905, 4, -4000, 0))
GPU_CURVE = ((2, 11, 400, 400, 512), (22, 11, -400, 0, 512), (105, 12, 5000, 5000, 10240),
             (106, 13, 3000, 8000, 10240), (205, 12, -5000, 3000, 10240), (401, 14, 1024, 4024, 10240),
             (499, 15, 4, 4028, 10240), (501, 13, -3000, 1028, 10240), (502, 15, -4, 1024, 10240),
             (906, 14, -1024, 0, 10240))


def memory_curve(tally, label):
    """Nothing but memory records: the curve begins with the first of them."""
    m = Made('new')
    for time, address, size, total in CPU_CURVE:
        m.memory(time, address, size, 0, -1, total_allocated=total, total_reserved=0)
    for time, address, size, total, held in GPU_CURVE:
        m.memory(time, address, size, 1, 0, total_allocated=total, total_reserved=held)
    points = {'CPU': [], 'GPU0': []}
    for row in m.table('memory', 'curve'):
        points[row['device']].append((us(row['time']), row['allocated'], row['reserved']))
    tally.check(label + ' CPU', [(t - 1, total, 0) for t, _, _, total in CPU_CURVE], points['CPU'])
    tally.check(label + ' GPU0', [(t - 1, total, held) for t, _, _, total, held in GPU_CURVE], points['GPU0'])
    # The stair the page draws: before each point but the first the value of the one before.
    stair = [p for i, (t, *rest) in enumerate(points['GPU0'])
             for p in ([(t, *points['GPU0'][i - 1][1:])] if i else []) + [(t, *rest)]]
    tally.check(label + ' stair', 2 * len(GPU_CURVE) - 1, len(stair))
    peaks = {r['device']: (us(r['time']), r['allocated'], r['reserved']) for r in m.table('memory', 'peaks')}
    tally.check(label + ' peaks', {'CPU': (99, 8000, 0), 'GPU0': (105, 8000, 10240)}, peaks)


def blocks_and_windows(tally, label):
    m = Made('new')
    m.op('aten::zeros', 0, 100, 1)
    m.op('aten::empty', 10, 20, 2)
    total = 0
    for time, address, size in ((15, 1000, 2048), (20, 2000, 1024), (50, 1000, -2048), (150, 2000, -1024),
                                (160, 3000, -5)):
        total = max(0, total + size)
        m.memory(time, address, size, total_allocated=total, total_reserved=4096)
    empty = 'aten::zeros (aten::empty)'
    whole = {(empty, 2048, 15, 50, 35), (empty, 1024, 20, 150, 130), (None, 5, None, 160, None)}
    tally.check(label, whole, blocks(m))
    # Pairs are made over the whole trace: a block keeps its name and both of its times in a window.
    tally.check(label + ' in a window', whole, blocks(m, *WINDOW))
    tally.check(label + ' in a window without any of them', set(), blocks(m, '--from', '60us', '--to', '140us'))
    statistics(tally, label, m, {('aten::empty', 'GPU0'): (3072, 3072, 2, 3072, 3072, 2, 1),
                                 ('aten::zeros', 'GPU0'): (-2048, 0, 0, 1024, 3072, 2, 1)})
    curve = [(us(r['time']), r['allocated']) for r in m.table('memory', 'curve')]
    tally.check(label + ' curve', [(15, 2048), (20, 3072), (50, 1024), (150, 0), (160, 0)], curve)
    same_as_reference(tally, label, m, 0)


def blocks(made, *options):
    return {(r['op'], r['bytes'], us(r['allocated_at']), us(r['released_at']), us(r['duration']))
            for r in made.table('memory', 'events', *options)}


def exact_numbers(tally, label):
    """0.009, 0.00123 and 2.675 ms are shown rounded by the plugin; ours are nanoseconds and bytes."""
    m = Made('new')
    m.op('aten::to', 0, 5000, 1)
    for i, us_long in enumerate((9, 1.23, 2675)):
        m.memory(10 + 100 * i, 1 + i, 9)
        m.memory(10 + 100 * i + us_long, 1 + i, -9)
    got = sorted(r['duration'] for r in m.table('memory', 'events'))
    tally.check(label, [1230, 9000, 2675000], got)
    tally.check(label + ' bytes', {9}, {r['bytes'] for r in m.table('memory', 'events')})


def peak_contents(tally, label):
    """What is alive at the peak: blocks of the recording, and the rest from before it."""
    m = Made('new')
    m.op('aten::mm', 0, 100, 1)
    m.op('aten::add', 100, 100, 2)
    m.memory(10, 1, 1000, total_allocated=6000, total_reserved=8000)
    m.memory(20, 2, 500, total_allocated=6500, total_reserved=8000)
    m.memory(50, 2, -500, total_allocated=6000, total_reserved=8000)
    m.memory(110, 3, 700, total_allocated=6700, total_reserved=8000)
    m.memory(150, 9, -4000, total_allocated=2700, total_reserved=8000)
    got = {(r['op'], r['bytes'], r['allocations']) for r in m.table('memory', 'peak_contents')}
    tally.check(label, {('aten::mm', 1000, 1), ('aten::add', 700, 1)},
                {row for row in got if row[0] is not None})
    tally.check(label + ' sum', 6700, sum(size for _, size, _ in got))


CASES = [('memory_view', memory_view), ('memory_curve', memory_curve), ('blocks', blocks_and_windows),
         ('exact numbers', exact_numbers), ('peak contents', peak_contents)]
