"""Inline cases about several workers: overlap, transfer and waiting, collectives."""

import ref_steps
from common import ask, rows
from made import COSTS, Made, folder_of, us

BROADCAST = {'Input Dims': [[53120]], 'Input type': ['float']}
ALL_REDUCE = {'Input Dims': [[2049000]], 'Input type': ['float']}


def check_workers(tally, label, workers, costs, overlap, waits, collectives):
    """Each expectation is {worker: figures}, in microseconds and bytes."""
    for name, expected in costs.items():
        got = next(iter(workers[name].costs().values()))
        tally.check('%s %s costs' % (label, name), expected, got)
        right = [row[c] / 1000 for _, row in ref_steps.breakdown(workers[name].reference()) for c in COSTS]
        tally.check('%s %s costs, reference' % (label, name), right, got)
    answer = ask('distributed', folder_of(workers), '--all-workers')
    for table, expected, columns in (
            ('overlap', overlap, ('computation', 'overlapping', 'communication', 'other')),
            ('synchronization', waits, ('transfer', 'waiting'))):
        got = {r['worker']: [us(r[c]) for c in columns] for r in rows(answer, table)}
        for name in workers:
            tally.check('%s %s %s' % (label, name, table), expected[name], got.get(name))
    got = {(r['worker'], r['name']): (r['calls'], r['bytes'], r['mean_bytes'], us(r['total']), us(r['transfer']))
           for r in rows(answer, 'collectives')}
    tally.check(label + ' collectives', collectives, got)
    for row in rows(answer, 'collectives'):
        tally.check('%s %s %s: transfer and waiting are the total' % (label, row['worker'], row['name']),
                    row['total'], row['transfer'] + row['waiting'])


def nccl(tally, label):
    """The plugin adds the host ranges of the calls to the time of the kernels; tacho counts the kernels."""
    workers = {}
    for rank, (host, copy, add, mul, kernel) in enumerate((
            ((0, 75), (16, 16), (100, 20), (130, 161), (162, 1556)),
            ((0, 20), (8, 31), (25, 20), (30, 161), (562, 1058)))):
        m = Made('old', distributedInfo={'backend': 'nccl', 'rank': rank, 'world_size': 2})
        m.op('nccl:broadcast', *host, 146, **BROADCAST)
        m.work(*copy, 1, 146, name='ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)', stream=13)
        m.op('aten::add_', *add, 513)
        m.work(*mul, 2, 513)
        m.op('nccl:all_reduce', 160, 75, 2513, **ALL_REDUCE)
        m.work(*kernel, 3, 2513, name='ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)', stream=13)
        workers['worker%d' % rank] = m
    check_workers(
        tally, label, workers,
        {'worker0': [161, 0, 0, 1443, 0, 0, 79, 35, 1718], 'worker1': [161, 0, 0, 1080, 0, 0, 52, 327, 1620]},
        {'worker0': [32, 129, 1443, 114], 'worker1': [152, 9, 1080, 379]},
        {'worker0': [1169, 464], 'worker1': [1169, 3]},
        {('worker0', 'nccl:broadcast'): (1, 212480, 212480, 75, 36),
         ('worker0', 'nccl:all_reduce'): (1, 8196000, 8196000, 1558, 1133),
         ('worker1', 'nccl:broadcast'): (1, 212480, 212480, 39, 36),
         ('worker1', 'nccl:all_reduce'): (1, 8196000, 8196000, 1133, 1133)})


GLOO = (
    (((3, 16, 38), (5, 25, 36), (3, 66, 18)), (0, 20), (30, 101), ((5, 110, 18), (3, 120, 36))),
    (((3, 20, 28), (5, 28, 30), (3, 77, 6)), (0, 30), (70, 70), ((5, 88, 38), (3, 130, 16))),
)


def gloo(with_kernel):
    workers = {}
    for rank, (broadcasts, add, mul, reduces) in enumerate(GLOO):
        m = Made('new', distributedInfo={'backend': 'gloo', 'rank': rank, 'world_size': 2})
        ext = 10
        for name, some, args in (('gloo:broadcast', broadcasts, BROADCAST), ('gloo:all_reduce', reduces, ALL_REDUCE)):
            for tid, start, dur in some:
                m.note(name, start, dur, ext, tid=tid, **args)
                ext += 1
        m.op('aten::add_', *add, 1, tid=0)
        if with_kernel:
            m.work(*mul, 1, 1)
        else:
            m.op('aten::mul', *mul, 2, tid=0)
        # The one step: annotations do not make one, so a marker spans what the plugin's step did.
        m.step(0, 0, 156 if rank == 0 else 146, 3, tid=0)
        workers['worker%d' % rank] = m
    return workers


GLOO_WAITS = {'worker0': [75, 34], 'worker1': [78, 20]}
GLOO_COLLECTIVES = {('worker0', 'gloo:broadcast'): (3, 637440, 212480, 63, 41),
                    ('worker0', 'gloo:all_reduce'): (2, 16392000, 8196000, 46, 34),
                    ('worker1', 'gloo:broadcast'): (3, 637440, 212480, 44, 44),
                    ('worker1', 'gloo:all_reduce'): (2, 16392000, 8196000, 54, 34)}


def gloo_gpu(tally, label):
    check_workers(
        tally, label, gloo(True),
        {'worker0': [101, 0, 0, 39, 0, 0, 16, 0, 156], 'worker1': [70, 0, 0, 44, 0, 0, 20, 12, 146]},
        {'worker0': [31, 70, 39, 16], 'worker1': [16, 54, 44, 32]}, GLOO_WAITS, GLOO_COLLECTIVES)


def gloo_cpu(tally, label):
    check_workers(
        tally, label, gloo(False),
        {'worker0': [0, 0, 0, 109, 0, 0, 47, 0, 156], 'worker1': [0, 0, 0, 98, 0, 0, 36, 12, 146]},
        {'worker0': [47, 74, 35, 0], 'worker1': [36, 64, 34, 12]}, GLOO_WAITS, GLOO_COLLECTIVES)


def annotation(tally, label):
    """One range of a library is communication, whatever its category."""
    m = Made('new')
    m.step(1, 0, 100, 1)
    m.note('nccl:all_reduce', 10, 40, 2)
    tally.check(label, 40, m.costs()[1][3])
    tally.check(label + ' collectives', ['nccl:all_reduce'], [r['name'] for r in m.table('distributed', 'collectives')])


CASES = [('distributed_nccl', nccl), ('distributed_gloo_gpu', gloo_gpu), ('distributed_gloo_cpu', gloo_cpu),
         ('distributed_nccl_user_annotation', annotation)]
