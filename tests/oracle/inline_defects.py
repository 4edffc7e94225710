"""The twenty known defects of the TensorBoard plugin, each with a trace that shows ours is right.

Some are in the other modules as well (B1 `slots run out`, B6 and B7 in `inline_modules`).
"""

import json
import os
from fractions import Fraction

from common import Refused, ask, rows, scratch
from inline_memory import blocks
from inline_time import device, operators, parts
from made import COSTS, Made, folder_of, us


def b1(tally, label):
    """A role that takes every moment leaves none for the next ones."""
    m = Made()
    for step in (1, 2):
        at = 200 * step
        m.step(step, at, 100, step)
        m.op('aten::mm', at, 90, 10 + step)
        corr = m.call(at + 10, 2, 10 + step)
        m.work(at, 100, corr, 10 + step)
        m.work(at + 20, 40, corr, 10 + step, kind='memcpy')
        m.work(at + 20, 30, corr, 10 + step, kind='memset', stream=8)
    parts(tally, label, m, {1: [100] + [0] * 7 + [100], 2: [100] + [0] * 7 + [100]})


def b2(tally, label):
    """Device-side twins are neither steps nor host work; ranges of the user are not host work either."""
    m = Made()
    for step in (1, 2):
        at = 1000 * step
        m.step(step, at, 500, step)
        m.note('my range', at + 10, 480, 20 + step)
        m.op('aten::mm', at + 100, 50, 10 + step)
        m.launch(at + 110, 10, at + 130, 200, 10 + step)
        for name in ('ProfilerStep#%d' % step, 'my range'):
            m.add('gpu_user_annotation', name, at + 130, 200, 0, 7, {'External id': step})
    parts(tally, label, m, {1: [200, 0, 0, 0, 10, 0, 20, 270, 500], 2: [200, 0, 0, 0, 10, 0, 20, 270, 500]})
    tally.check(label + ' steps', [1, 2], [r['step'] for r in m.table('steps', 'steps')])
    users = {r['name']: (r['calls'], us(r['host_total']), us(r['device_total']))
             for r in m.table('overview', 'user_events')}
    tally.check(label + ' ranges of the user', (2, 960, 400), users.get('my range'))


def b3(tally, label):
    """A kernel launched by a driver call belongs to the op around the call."""
    m = Made()
    m.step(1, 0, 500, 1)
    m.op('aten::mm', 100, 100, 2)
    m.work(150, 60, m.call(120, 10, None, name='cuLaunchKernelEx', cat='cuda_driver'), 2,
           name='sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x64')
    operators(tally, label, m, {'aten::mm': [1, 100, 90, 60, 60]})
    tally.check(label + ' kernels', ['aten::mm'], [r['op'] for r in m.kernels()])
    parts(tally, label, m, {1: [60, 0, 0, 0, 10, 0, 40, 390, 500]})
    got = m.table('operators', 'operators')[0]
    tally.check(label + ' tensor cores', 1.0, got['tensor_core_self_share'])


def b4(tally, label):
    """Where the id of an op is only a copy of the correlation it says nothing."""
    m = Made()
    m.step(1, 0, 500, 1)
    m.op('aten::mm', 100, 100, 7)
    m.op('aten::add', 300, 50, 8)
    for at, corr, dur in ((120, 8, 60), (310, 7, 40)):
        m.call(at, 10, corr, corr=corr)
        m.work(at + 20, dur, corr, corr)
    operators(tally, label, m, {'aten::mm': [1, 100, 90, 60, 60], 'aten::add': [1, 50, 40, 40, 40]})
    tally.check(label + ' kernels', {('aten::mm', 60), ('aten::add', 40)},
                {(r['op'], us(r['total'])) for r in m.kernels()})
    # An id that names an op elsewhere is not believed either.
    m = Made()
    m.op('aten::mm', 100, 100, 7)
    m.op('aten::add', 300, 50, 8)
    m.launch(120, 10, 140, 60, 8)
    m.launch(310, 10, 330, 40, 8)
    operators(tally, label + ' elsewhere', m, {'aten::mm': [1, 100, 90, 60, 60],
                                               'aten::add': [1, 50, 40, 40, 40]})


def b5(tally, label):
    """Ops that overlap partially are both kept, with their kernels, and counted."""
    m = Made()
    m.op('aten::mm', 100, 100, 2)
    m.op('aten::add', 180, 40, 3)
    m.launch(110, 10, 130, 60, 2)
    m.launch(205, 10, 230, 30, 3)
    operators(tally, label, m, {'aten::mm': [1, 100, 90, 60, 60], 'aten::add': [1, 40, 30, 30, 30]})
    lost = {d['cause']: d['count'] for d in ask('operators', m.path)['quality']['events_dropped']}
    tally.check(label + ' said', 1, lost.get('partial_overlap'))


def b8(tally, label):
    """Communication kernels are communication, by their arguments, their name or their op."""
    m = Made()
    m.step(1, 0, 1000, 1)
    m.op('record_param_comms', 100, 20, 2)
    m.launch(105, 5, 200, 100, 2, name='ncclDevKernel_AllReduce_Sum_bf16_RING_LL')
    m.op('aten::mm', 130, 20, 3)
    m.launch(135, 5, 400, 100, 3, name='custom', **{'Collective name': 'allreduce'})
    m.op('record_param_comms', 160, 20, 4, **collective(0, 1, 'allreduce', 1024))
    m.launch(165, 5, 600, 100, 4, name='someKernelOfAPlugin')
    m.launch(170, 5, 700, 50, 4, name='an_mm', stream=8, kind='memcpy')
    m.op('aten::add', 190, 5, 5)
    m.launch(191, 2, 800, 70, 5, name='an_add', stream=9)
    got = m.costs()[1]
    tally.check(label, [70, 50, 0, 300], got[:4])


def b9(tally, label):
    """One rank lacks a collective: the others are still matched, the odd one is reported."""
    workers = {}
    for rank, seqs in ((0, (1, 2, 3)), (1, (1, 3))):
        m = Made(distributedInfo={'backend': 'nccl', 'rank': rank, 'world_size': 2})
        m.step(1, 0, 2000, 1)
        for seq in seqs:
            at, late = 500 * seq, 20 * rank
            m.op('record_param_comms', at, 10, seq, **collective(rank, seq, 'allreduce', 1024))
            m.launch(at + 1, 5, at + 50 + late, 100 - late, seq, name='ncclDevKernel_AllReduce_Sum_f32_RING_LL',
                     **collective(rank, seq, 'allreduce', 1024))
        workers['rank%d' % rank] = m
    answer = ask('distributed', folder_of(workers), '--all-workers')
    found = {(r['sequence'], r['rank']): us(r['late_by']) for r in rows(answer, 'arrivals')}
    tally.check(label, {(1, 0): 0, (1, 1): 20, (3, 0): 0, (3, 1): 20},
                {key: late for key, late in found.items() if key[0] != 2})
    waits = {r['rank']: (us(r['transfer']), us(r['waiting'])) for r in rows(answer, 'synchronization')}
    tally.check(label + ' waiting of the second rank', 0, waits[1][1])
    tally.check(label + ' waiting of the first', 40, waits[0][1])
    tally.check(label + ' said', True, unmatched(answer))


def unmatched(answer):
    """Does the quality of the answer name the collective without a partner?"""
    quality = answer['quality']
    return any(link['linked'] < link['total'] for link in quality['links'] if 'ollective' in link['what']) \
        or any('ollective' in str(note) for note in quality['notes'])


def collective(rank, seq, name, elements, group='0', size=2, dtype='Float'):
    return {'Collective name': name, 'In msg nelems': elements, 'Out msg nelems': elements, 'dtype': dtype,
            'Group size': size, 'Process Group Name': group, 'Process Group Ranks': str(list(range(size))),
            'Rank': rank, 'Seq': seq}


def b10(tally, label):
    """Every collective of every library is communication."""
    names = ['nccl:all_to_all', 'nccl:_all_gather_base', 'nccl:_reduce_scatter_base', 'nccl:coalesced',
             'nccl:send', 'nccl:recv', 'nccl:barrier', 'rccl:all_reduce', 'gloo:all_to_all', 'mpi:all_reduce',
             'ucc:all_gather', 'xccl:broadcast', 'hccl:reduce']
    m = Made()
    m.step(1, 0, 100 * len(names), 1)
    for i, name in enumerate(names):
        m.note(name, 100 * i + 10, 50, 10 + i)
    got = m.costs()[1]
    tally.check(label, [0, 0, 0, 50 * len(names)], got[:4])
    for i, name in enumerate(names):
        part = m.costs('--from', '%dus' % (100 * i), '--to', '%dus' % (100 * i + 100))[1]
        tally.check('%s %s' % (label, name), 50, part[3])
    found = {r['name']: r['calls'] for r in m.table('distributed', 'collectives')}
    tally.check(label + ' calls', len(names), sum(found.values()))


def b11(tally, label):
    """Devices of every kind have a name, also next to others."""
    m = Made()
    m.op('aten::to', 0, 100, 1)
    kinds = ((0, -1, 'CPU'), (1, 0, 'GPU0'), (1, 3, 'GPU3'), (6, 0, 'HIP0'), (12, 1, 'XPU1'), (13, 0, 'MPS0'),
             (15, 0, 'HPU0'), (19, 0, 'MTIA0'), (20, 2, 'PrivateUse2'))
    for i, (kind, number, _) in enumerate(kinds):
        m.memory(10 + i, 100, 8 * (i + 1), kind, number, total_allocated=8 * (i + 1), total_reserved=1024)
    expected = {name: 8 * (i + 1) for i, (_, _, name) in enumerate(kinds)}
    for table, column in (('peaks', 'allocated'), ('events', 'bytes'), ('statistics', 'allocation_bytes')):
        got = {r['device']: r[column] for r in m.table('memory', table)}
        tally.check('%s %s' % (label, table), expected, got)


def b12(tally, label):
    """The capacity is known, and the host's memory is never compared with that of a device."""
    props = [{'id': 0, 'name': 'GPU X', 'totalGlobalMem': 1000000, 'computeMajor': 9, 'computeMinor': 0,
              'numSms': 132}]
    for cpu, gpu, near in ((5000000, 100000, False), (100, 950000, True)):
        m = Made(deviceProperties=props)
        m.step(1, 0, 100, 1)
        m.op('aten::to', 0, 50, 2)
        m.memory(10, 1, 100, 0, -1, total_allocated=cpu, total_reserved=0)
        m.memory(12, 2, 100, 1, 0, total_allocated=gpu, total_reserved=gpu)
        caps = {r['device']: r['capacity'] for r in m.table('memory', 'peaks')}
        tally.check(label + ' capacity', {'CPU': None, 'GPU0': 1000000}, caps)
        advice = [r['id'] for r in m.table('advise', 'advice') if 'memory' in r['id']]
        tally.check('%s advice at %d of 1000000 bytes' % (label, gpu), near, bool(advice))


def b13(tally, label):
    """Spans are numbered by time, not by the text of their number; new files are seen."""
    folder = scratch('spans')
    os.mkdir(folder)
    for i, stamp in enumerate(('999', '1000', '20000')):
        m = Made()
        m.op('op_of_%s' % stamp, 10, 10 + i, 1)
        m.write(os.path.join(folder, 'w0.%s.pt.trace.json' % stamp))
    for span, stamp in (('1', '999'), ('2', '1000'), ('3', '20000')):
        got = [r['name'] for r in rows(ask('operators', folder, '--span', span), 'operators')]
        tally.check('%s %s' % (label, span), ['op_of_%s' % stamp], got)
    m = Made()
    m.op('op_of_new', 10, 10, 1)
    m.write(os.path.join(folder, 'w0.100000.pt.trace.json'))
    got = [r['name'] for r in rows(ask('operators', folder), 'operators')]
    tally.check(label + ' new', ['op_of_new'], got)


def b14(tally, label):
    """Instants have no influence on any range."""
    answers = []
    for late in (None, 50000000, 100 * 3600 * 1000000):
        m = Made()
        m.events.append({'ph': 'i', 'name': 'Iteration Start: PyTorch Profiler', 'pid': 'Traces', 'tid': 'T', 's': 'g',
                         'ts': 5})
        m.op('aten::mm', 10, 100, 1)
        m.launch(20, 10, 40, 90, 1)
        if late is not None:
            m.events.append({'ph': 'i', 'name': 'Record Window End', 'pid': '', 'tid': '', 's': 'g', 'ts': late})
        answers.append((m.costs(), m.table('overview', 'devices'), m.operators()))
    tally.check(label, answers[0], answers[1])
    tally.check(label + ' after four days', answers[0], answers[2])
    tally.check(label + ' total', 120, answers[0][0][0][8])


def b15(tally, label):
    """Work that runs on two streams at once: the sum of the work, and the time it took."""
    m = Made()
    m.step(1, 0, 500, 1)
    m.op('aten::mm', 100, 100, 2)
    for stream in (7, 8):
        m.launch(110 + stream, 1, 200, 60, 2, stream=stream)
    got = m.operators()['aten::mm']
    tally.check(label + ' sum', 120, got[3])
    tally.check(label + ' union', 60, m.costs()[1][0])
    device(tally, label, m, {0: (Fraction(60, 500), None, None)})


def b16(tally, label):
    """A step of no length divides nothing by zero."""
    m = Made()
    m.step(1, 100, 0, 1)
    m.op('aten::mm', 100, 0, 2)
    shares = [r['share'] for r in m.table('overview', 'breakdown')]
    tally.check(label, 0, sum(s or 0 for s in shares))
    tally.check(label + ' costs', {1: [0] * 9}, m.costs())
    m = Made()
    m.step(1, 100, 0, 1)
    m.work(100, 0, m.call(100, 0))
    got = m.table('overview', 'devices')
    tally.check(label + ' device', [0], [r['utilization'] for r in got])
    json.dumps([m.table(a, t) for a, t in (('kernels', 'kernels'), ('operators', 'operators'))], allow_nan=False)


def b17(tally, label):
    """Self times of a module leave out the modules inside it, and nothing else, on both sides."""
    m = Made()
    m.frame('nn.Module: Outer_0', 0, 1000, 1, module=0)
    m.frame('nn.Module: Inner_0', 100, 300, 2, 1, module=1)
    m.op('aten::mm', 110, 100, 1)
    m.launch(120, 10, 200, 70, 1)
    m.op('aten::add', 500, 100, 2)
    m.launch(510, 10, 600, 30, 2)
    m.launch(800, 10, 900, 20)
    got = {name: tuple(us(r[c]) for c in ('host_total', 'host_self', 'device_total', 'device_self'))
           for name, r in m.modules().items()}
    tally.check(label, {'Outer_0': (1000, 700, 120, 50), 'Inner_0': (300, 300, 70, 70)}, got)


def b18(tally, label):
    """Any device number, and a device that was not recorded."""
    m = Made()
    m.step(1, 0, 1000, 1)
    for i, number in enumerate((3, 64, 200, None)):
        m.launch(10 + i, 1, 100 * (i + 1), 50, device=number, stream=7 + i)
    got = {r['device'] for r in m.table('overview', 'devices')}
    tally.check(label, True, {3, 64, 200} <= got)
    tally.check(label + ' kernels', 4, sum(r['calls'] for r in m.kernels('name')))
    tally.check(label + ' busy', 200, m.costs()[1][0])


def b19(tally, label):
    """Work on every thread counts, whichever comes first in the file."""
    m = Made()
    m.op('aten::rand', 0, 50, 1, tid=999)
    m.step(1, 100, 500, 2)
    m.frame('nn.Module: Net_0', 110, 200, 1, module=0)
    m.op('aten::mm', 120, 100, 3)
    m.frame('nn.Module: Other_0', 150, 100, 2, module=1, tid=555)
    m.op('aten::add', 160, 10, 4, tid=555)
    tally.check(label, ['Net_0', 'Other_0'], sorted(m.modules()))
    tally.check(label + ' operators', ['aten::add', 'aten::mm', 'aten::rand'], sorted(m.operators()))


def b20(tally, label):
    """Blocks are known by device and address, and paired over the whole trace."""
    m = Made()
    m.op('aten::to', 0, 100, 1)
    for time, address, size, kind, number in ((10, 500, 64, 1, 0), (20, 500, 32, 1, 1), (30, 500, 16, 0, -1),
                                              (200, 500, -32, 1, 1), (300, 500, -64, 1, 0), (400, 500, -16, 0, -1)):
        m.memory(time, address, size, kind, number)
    every = {('aten::to', 64, 10, 300, 290), ('aten::to', 32, 20, 200, 180), ('aten::to', 16, 30, 400, 370)}
    tally.check(label, every, blocks(m))
    tally.check(label + ' in a window', {('aten::to', 64, 10, 300, 290)},
                blocks(m, '--from', '250us', '--to', '350us'))


def gpu_only(tally, label):
    """Without any host event the one step is all there is."""
    m = Made()
    m.work(100, 50, 1)
    m.work(200, 30, 2, kind='memcpy')
    parts(tally, label, m, {0: [50, 30, 0, 0, 0, 0, 0, 50, 130]})


def no_id_beside_a_module(tally, label):
    """Calls without an id belong to what is around them, not to the first module of the file."""
    m = Made()
    m.step(1, 0, 1000, 1)
    m.frame('nn.Module: Net_0', 100, 100, 1, module=0)
    m.op('aten::mm', 120, 50, 2)
    m.launch(130, 10, 200, 40)
    m.op('aten::add', 500, 50, 3)
    m.launch(510, 10, 600, 70)
    operators(tally, label, m, {'aten::mm': [1, 50, 40, 40, 40], 'aten::add': [1, 50, 40, 70, 70]})
    tally.check(label + ' module', 40, us(m.modules()['Net_0']['device_total']))


def no_crash(tally, label):
    """Events without a name or a category cost only themselves."""
    m = Made()
    m.step(1, 0, 100, 1)
    m.op('aten::mm', 10, 20, 2)
    m.events += [{'ph': 'X', 'cat': 'cpu_op', 'pid': 100, 'tid': 123, 'ts': 40, 'dur': 5},
                 {'ph': 'X', 'name': 'no category', 'pid': 100, 'tid': 123, 'ts': 50, 'dur': 5}]
    try:
        tally.check(label, ['aten::mm'], list(m.operators()))
        tally.check(label + ' costs', 20, m.costs()[1][COSTS.index('cpu_exec')])
    except Refused as problem:
        tally.fail('%s: %s' % (label, problem))


def empty_args(tally, label):
    """Keys may come in any order, and args may be empty."""
    m = Made()
    for i, order in enumerate((('ph', 'cat', 'name', 'pid', 'tid', 'args', 'ts', 'dur'),
                               ('args', 'ph', 'cat', 'name', 'pid', 'tid', 'ts', 'dur'),
                               ('ph', 'cat', 'name', 'pid', 'tid', 'ts', 'dur', 'args'))):
        event = {'ph': 'X', 'cat': 'cpu_op', 'name': 'op%d' % i, 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 5, 'args': {}}
        m.events.append({k: event[k] for k in order})
    tally.check(label, ['op0', 'op1', 'op2'], sorted(m.operators()))


CASES = [('B1 every moment taken', b1), ('B2 device-side markers', b2), ('B3 driver launches', b3),
         ('B4 ids that say nothing', b4), ('B5 partial overlap', b5), ('B8 communication kernels', b8),
         ('B9 a missing collective', b9), ('B10 every collective', b10), ('B11 devices', b11),
         ('B12 capacity', b12), ('B13 spans', b13), ('B14 instants', b14), ('B15 two streams', b15),
         ('B16 nothing to divide by', b16), ('B17 self times of modules', b17), ('B18 many devices', b18),
         ('B19 all threads', b19), ('B20 device and address', b20), ('only device events', gpu_only),
         ('calls without an id', no_id_beside_a_module), ('events without a name', no_crash),
         ('empty args', empty_args)]
