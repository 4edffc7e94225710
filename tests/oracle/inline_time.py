"""Inline cases about time: steps and their parts, operators, kernels, devices."""

from fractions import Fraction

import ref_device
import ref_steps
from common import compare_table, keyed
from made import COSTS, Made

NOTHING = [0, 0, 0, 0, 0, 0, 0, 0]


def parts(tally, label, made, expected):
    """Steps in order: the costs given, and those of the reference."""
    got = made.costs()
    tally.check(label + ' steps', list(expected), list(got))
    for step, costs in expected.items():
        tally.check('%s step %s' % (label, step), costs, got.get(step))
        tally.check('%s step %s adds up' % (label, step), sum(costs[:8]), costs[8])
    right = {step.number: [row[c] / 1000 for c in COSTS] for step, row in ref_steps.breakdown(made.reference())}
    tally.check(label + ' reference', right, got)


def same_operators(tally, label, made):
    expected = made.reference().operators()
    compare_table(tally, label + ' reference', expected,
                  keyed(made.table('operators', 'operators'), 'name'),
                  ('calls', 'host_total', 'host_self', 'device_total', 'device_self'))


def operators(tally, label, made, expected):
    got = made.operators()
    tally.check(label + ' operators', set(expected), set(got))
    for name, figures in expected.items():
        tally.check('%s %s' % (label, name), figures, got.get(name))
    same_operators(tally, label, made)


def all_categories(tally, label, vintage):
    m = Made(vintage)
    m.step(1, 50, 400, 1)
    m.note('enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', 100, 180, 2)
    m.op('aten::to', 200, 60, 3)
    m.op('nll_loss_backward', 340, 70, 4, tid=456)
    m.launch(360, 20, 405, 10, 4, tid=456, kind='memcpy')
    m.launch(390, 10, 420, 5, 4, tid=456, kind='memset')
    m.launch(405, 5, 430, 15, 4, tid=456)
    parts(tally, label, m, {1: [15, 10, 5, 0, 30, 180, 35, 125, 400]})
    operators(tally, label, m, {'aten::to': [1, 60, 60, 0, 0], 'nll_loss_backward': [1, 70, 35, 30, 30]})
    found = m.kernels()
    tally.check(label + ' kernels', [('a_kernel', 'nll_loss_backward')], [(r['name'], r['op']) for r in found])


def external_id(tally, label, vintage):
    m = Made(vintage)
    m.op('aten::mat_mul', 100, 100, 2)
    m.op('aten::mm', 120, 70, 4)
    for at, ext, start, dur in ((120, 4, 130, 5), (120, 2, 140, 6), (190, 4, 200, 7), (190, 2, 210, 8)):
        m.launch(at, 0, start, dur, ext)
    operators(tally, label, m, {'aten::mat_mul': [1, 100, 30, 26, 14], 'aten::mm': [1, 70, 70, 12, 12]})


def operator_relation(tally, label, vintage):
    for where, start in (('same start', 100), ('same end', 130)):
        m = Made(vintage)
        m.op('aten::mat_mul', 100, 100, 2)
        m.op('aten::mm', start, 70, 4)
        operators(tally, '%s %s' % (label, where), m,
                  {'aten::mat_mul': [1, 100, 30, 0, 0], 'aten::mm': [1, 70, 70, 0, 0]})


def remove_dup_nodes(tally, label, vintage):
    m = Made(vintage)
    for ext, start, dur in ((2, 100, 100), (3, 110, 80), (4, 120, 60)):
        m.op('aten::mm', start, dur, ext)
    m.launch(130, 10, 220, 8, 4)
    operators(tally, label, m, {'aten::mm': [1, 100, 90, 8, 8]})


def top_level_runtime(tally, label, vintage):
    m = Made(vintage)
    m.op('aten::mat_mul', 100, 100, 2)
    m.launch(130, 20, 220, 8, 335, tid=456)
    operators(tally, label, m, {'aten::mat_mul': [1, 100, 100, 0, 0]})
    tally.check(label + ' kernels', [1], [r['calls'] for r in m.kernels('name')])


def runtime_called_by_profilerstep(tally, label, vintage):
    m = Made(vintage)
    m.step(1, 100, 300, 2)
    m.launch(130, 20, 220, 8, 2)
    parts(tally, label, m, {1: [8, 0, 0, 0, 20, 0, 0, 272, 300]})
    tally.check(label + ' operators', {}, m.operators())
    tally.check(label + ' kernels', 1, len(m.kernels()))


def runtime_launch_many(tally, label, vintage):
    m = Made(vintage)
    m.op('Broadcast', 100, 1000, 2)
    corr = m.call(130, 20, 2, name='cudaLaunchCooperativeKernelMultiDevice')
    m.work(200, 120318, corr, 2, name='ncclBroadcastRingLLKernel_copy_i8(ncclColl)')
    m.work(210, 132800, corr, 2, device=1, name='ncclBroadcastRingLLKernel_copy_i8(ncclColl)')
    operators(tally, label, m, {'Broadcast': [1, 1000, 980, 253118, 253118]})
    tally.check(label + ' kernels', [2], [r['calls'] for r in m.kernels('name')])
    tally.check(label + ' kernels by op', [('Broadcast', 2)], [(r['op'], r['calls']) for r in m.kernels()])


def no_profilerstep(tally, label, vintage):
    m = Made(vintage)
    m.op('aten::to', 100, 60, 2)
    m.op('nll_loss_backward', 300, 70, 4)
    m.launch(310, 20, 320, 100, 4)
    parts(tally, label, m, {0: [100, 0, 0, 0, 10, 0, 70, 140, 320]})


def two_steps(vintage, copy_for):
    m = Made(vintage)
    m.step(1, 100, 200, 1)
    m.op('aten::to', 200, 60, 2)
    m.launch(250, 5, 280, copy_for, 2, kind='memcpy')
    m.step(2, 350, 150, 3)
    m.op('aten::mm', 360, 50, 4)
    m.launch(400, 5, 410, 200, 4)
    return m


def steps_no_overlap(tally, label, vintage):
    m = two_steps(vintage, 40)
    parts(tally, label, m, {1: [0, 40, 0, 0, 5, 0, 55, 120, 220], 2: [200, 0, 0, 0, 5, 0, 45, 10, 260]})
    mean = {r['category']: r['time'] for r in m.table('overview', 'breakdown')}
    tally.check(label + ' average step', 240000, sum(mean.values()))
    tally.check(label + ' average kernel', 100000, mean['kernel'])
    tally.check(label + ' average other', 65000, mean['other'])


def steps_with_overlap(tally, label, vintage):
    m = two_steps(vintage, 100)
    m.work(150, 90, 1, name='stale')
    parts(tally, label, m, {1: [0, 100, 0, 0, 5, 0, 15, 20, 140], 2: [200, 0, 0, 0, 5, 0, 25, 0, 230]})


def self_time(tally, label, vintage):
    m = Made(vintage)
    m.op('aten::mat_mul', 100, 100, 2)
    m.op('aten::mm', 120, 40, 4)
    m.launch(150, 10, 155, 20, 4)
    m.launch(170, 25, 175, 16, 2)
    operators(tally, label, m, {'aten::mat_mul': [1, 100, 35, 36, 16], 'aten::mm': [1, 40, 30, 20, 20]})


def last_steps_no_kernel(tally, label, vintage):
    m = Made(vintage)
    for number, start, dur in ((1, 100, 200), (2, 300, 100), (3, 400, 50)):
        m.step(number, start, dur, number)
    m.work(90, 20, 1, name='stale')
    m.launch(125, 5, 150, 180, 1)
    parts(tally, label, m, {1: [180, 0, 0, 0, 5, 0, 0, 35, 220]})
    notes = m.table('steps', 'steps')
    tally.check(label + ': the other steps are still steps of the host', [1, 2, 3], [r['step'] for r in notes])


def pure_cpu(tally, label, vintage):
    m = Made(vintage)
    m.step(1, 100, 200, 1)
    m.op('aten::to', 110, 10, 2)
    m.step(2, 300, 100, 3)
    m.op('aten::mm', 320, 40, 4)
    parts(tally, label, m, {1: [0, 0, 0, 0, 0, 0, 10, 190, 200], 2: [0, 0, 0, 0, 0, 0, 40, 60, 100]})


def device(tally, label, made, expected):
    """{device: (utilization, SM efficiency, occupancy)} as Fractions or None."""
    got = {r['device']: r for r in made.table('overview', 'devices')}
    trace = made.reference()
    kept = ref_steps.steps(trace)[0]
    start, end = kept[0].start, kept[-1].end
    by_device = ref_device.kernels_by_device(trace)
    for number, values in expected.items():
        kernels = by_device[number]
        right = (ref_device.utilization(kernels, start, end), ref_device.sm_efficiency(kernels, start, end),
                 ref_device.occupancy(kernels, start, end))
        tally.check('%s device %d reference' % (label, number), values, right)
        for name, value in zip(('utilization', 'sm_efficiency', 'occupancy'), values):
            mine = got.get(number, {}).get(name)
            tally.check('%s device %d %s' % (label, number, name),
                        None if value is None else float(value), mine, slack=1e-9)


def loads(blocks, occupied):
    return {'blocks per SM': blocks, 'est. achieved occupancy %': occupied}


def gpu_utilization(tally, label, vintage):
    m = Made(vintage)
    m.op('aten::mat_mul', 100, 100, 2)
    m.op('aten::mm', 120, 70, 4)
    m.work(130, 10, m.call(120, 0, 4), 4, device=1, **loads(.5, .6))
    corr = m.call(120, 0, 2)
    m.work(135, 15, corr, 2, device=1, name='b_kernel', **loads(.6, .1))
    m.work(150, 0, corr, 2, device=1, name='b_kernel', **loads(.3, .2))
    m.work(145, 25, m.call(125, 3, 4), 4, device=1, **loads(.3, 1.0))
    m.work(200, 20, m.call(195, 1, 2), 2, device=1, **loads(10.5, .3))
    sm = Fraction('2.5') + 5 + 3 + Fraction('4.5') + 6 + 20
    device(tally, label, m, {1: (Fraction(60, 120), sm / 120, Fraction('38.5') / 70 / 100)})
    groups = {(r['name'], r['op']): r for r in m.kernels()}
    weighted = {('a_kernel', 'aten::mm'): (12.5 / 35, 31 / 35), ('b_kernel', 'aten::mat_mul'): (.6, .1),
                ('a_kernel', 'aten::mat_mul'): (10.5, .3)}
    for key, (blocks, occupied) in weighted.items():
        tally.check('%s %s blocks per SM' % (label, key), blocks, groups[key]['blocks_per_sm'], slack=1e-9)
        tally.check('%s %s occupancy' % (label, key), occupied / 100, groups[key]['occupancy'], slack=1e-9)
    by_name = {r['name']: r for r in m.kernels('name')}
    tally.check(label + ' by name: blocks per SM', 222.5 / 55, by_name['a_kernel']['blocks_per_sm'], slack=1e-9)
    tally.check(label + ' by name: occupancy', .37 / 55, by_name['a_kernel']['occupancy'], slack=1e-9)
    busy = [100 + 10 * i for i in range(12)]
    for at, share in zip(busy, (0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1)):
        window = ('--from', '%dus' % (at - 100), '--to', '%dus' % (at - 90))
        got = m.table('overview', 'devices', *window)
        tally.check('%s utilization from %d on' % (label, at), share, got[0]['utilization'] if got else 0)


def kernels_out_of_step(tally, label, vintage):
    m = Made(vintage)
    m.op('aten::mat_mul', 10, 10, 1)
    m.launch(15, 5, 60, 20, 1, device=1, **loads(.5, .6))
    m.step(2, 100, 100, 2)
    m.op('aten::mm', 120, 70, 3)
    m.op('aten::mm', 220, 20, 4)
    m.launch(230, 10, 240, 25, 4, device=1, **loads(10.5, .3))
    device(tally, label, m, {1: (Fraction(0), None, None)})
    by_name = m.kernels('name')[0]
    tally.check(label + ' blocks per SM', 272.5 / 45, by_name['blocks_per_sm'], slack=1e-9)
    tally.check(label + ' occupancy', .195 / 45, by_name['occupancy'], slack=1e-9)


def kernel_columns(tally, label, vintage):
    m = Made(vintage)
    common = {'grid': [16, 1, 1], 'registers per thread': 18, 'shared memory': 0}
    m.op('op1', 100, 100, 1)
    m.op('op2', 300, 100, 2)
    for at, dur, ext, block in ((110, 15, 1, [256, 1, 1]), (120, 10, 1, [256, 1, 1]), (130, 13, 1, [512, 1, 1]),
                                (310, 17, 2, [256, 1, 1])):
        m.launch(at, 1, at + 20, dur, ext, name='kernel1', block=block, **common)
    got = [(r['op'], r['block'], r['total'] // 1000, r['calls'], r['registers'], r['shared_memory'])
           for r in m.kernels('launch')]
    tally.check(label, [('op1', '[256,1,1]', 25, 2, 18, 0), ('op2', '[256,1,1]', 17, 1, 18, 0),
                        ('op1', '[512,1,1]', 13, 1, 18, 0)],
                [(op, block.replace(' ', ''), *rest) for op, block, *rest in got])


def kernel_columns_missing(tally, label, vintage):
    m = Made(vintage)
    full = {'grid': [16, 1, 1], 'block': [256, 1, 1], 'registers per thread': 18, 'shared memory': 20}
    m.op('op1', 100, 100, 1)
    sets = [{k: v for k, v in full.items() if k != missing} for missing in full] + [{}]
    for i, args in enumerate(sets):
        m.launch(110 + i, 1, 120 + 20 * i, 10 + i, 1, name='kernel1', **args)
    got = {r['total'] // 1000: r for r in m.kernels('launch')}
    tally.check(label + ' rows', [10, 11, 12, 13, 14], sorted(got))
    for i, args in enumerate(sets):
        for key, column in (('grid', 'grid'), ('block', 'block'), ('registers per thread', 'registers'),
                            ('shared memory', 'shared_memory')):
            tally.check('%s row %d %s' % (label, i, column), key in args, got[10 + i][column] is not None)


def tensor_core_case(vintage, name):
    m = Made(vintage)
    m.op('aten::conv2d', 200, 100, 1)
    m.op('op_no_tc', 205, 10, 2)
    m.op('aten::cudnn_convolution', 215, 10, 3)
    m.launch(210, 1, 240, 10, 2, name=name)
    m.launch(220, 1, 260, 15, 3, name='volta_s884cudnn_fp16_256x64_ldg8_relu_exp_small_nhwc_tn_v1')
    got = {r['name']: (r['tensor_core_eligible'], r['tensor_core_self_share'], r['tensor_core_total_share'])
           for r in m.table('operators', 'operators')}
    return m, got


def tensor_core(tally, label, vintage):
    """The original's kernel is called `some_kernel`, which it takes for one without Tensor Cores. Its name does not say
    so: it is not known, and neither are sums with much of it. One that says so gives the original's figures."""
    m, got = tensor_core_case(vintage, 'void at::native::vectorized_elementwise_kernel<4, float>')
    tally.check(label + ' conv2d eligible', True, got['aten::conv2d'][0])
    tally.check(label + ' conv2d self', 0, got['aten::conv2d'][1] or 0)
    tally.check(label + ' conv2d total', .6, got['aten::conv2d'][2], slack=1e-9)
    tally.check(label + ' cudnn', (True, 1.0, 1.0), got['aten::cudnn_convolution'])
    tally.check(label + ' op without', (False, 0, 0), tuple(v or 0 for v in got['op_no_tc']))
    tally.check(label + ' kernels', [True, False], [r['tensor_core'] for r in m.kernels('name')])
    tally.check(label + ' device', .6, m.table('overview', 'devices')[0]['tensor_core_share'], slack=1e-9)
    m, got = tensor_core_case(vintage, 'void some_kernel')
    tally.check(label + ' cudnn beside an unknown one', (True, 1.0, 1.0), got['aten::cudnn_convolution'])
    tally.check(label + ' op not known', (False, None, None), got['op_no_tc'])
    tally.check(label + ' kernels not known', [True, None], [r['tensor_core'] for r in m.kernels('name')])
    tally.check(label + ' device not known', None, m.table('overview', 'devices')[0]['tensor_core_share'])


def datapipe(tally, label, vintage):
    m = Made(vintage)
    m.op('enumerate(DataPipe)#ShufflerIterDataPipe', 100, 23, 1)
    m.op('aten::mm', 130, 10, 2)
    m.step(1, 90, 100, 3)
    parts(tally, label, m, {1: [0, 0, 0, 0, 0, 23, 10, 67, 100]})
    tally.check(label + ' operators', ['aten::mm'], list(m.operators()))


def minimal(tally, label, vintage):
    m = Made(vintage)
    m.step(3, 10, 90.5, 1)
    m.op('aten::mm', 20, 15.25, 2)
    m.launch(25, 4, 33.125, 5.5, 2, **loads(.007576, 0))
    parts(tally, label, m, {3: [5.5, 0, 0, 0, 4, 0, 9.125, 71.875, 90.5]})
    operators(tally, label, m, {'aten::mm': [1, 15.25, 11.25, 5.5, 5.5]})
    got = m.table('overview', 'devices')
    tally.check(label + ' utilization', 5.5 / 90.5, got[0]['utilization'], slack=1e-9)


def slots_run_out(tally, label, vintage):
    m = Made(vintage)
    m.step(1, 0, 100, 1)
    m.op('aten::mm', 0, 90, 2)
    corr = m.call(10, 2, 2)
    m.work(0, 100, corr, 2)
    m.work(20, 40, corr, 2, kind='memcpy')
    parts(tally, label, m, {1: [100, 0, 0, 0, 0, 0, 0, 0, 100]})


def tail(tally, label, vintage):
    for last, kept in ((7, [1, 2]), (8, [1, 2, 3])):
        m = Made(vintage)
        for number, count in ((1, 10), (2, 10), (3, last)):
            m.step(number, 1000 * number, 900, number)
            for i in range(count):
                at = 1000 * number + 10 * i
                m.launch(at, 2, at + 5, 3, number)
        got = m.costs()
        tally.check('%s: work 10, 10, %d' % (label, last), kept, list(got))
        right = {s.number: [row[c] / 1000 for c in COSTS] for s, row in ref_steps.breakdown(m.reference())}
        tally.check('%s: work 10, 10, %d: reference' % (label, last), right, got)


def both(case):
    """A case in the words of both vintages."""
    def run(tally, label):
        for vintage in ('old', 'new'):
            case(tally, '%s (%s)' % (label, vintage), vintage)
    return run


CASES = [(name, both(case)) for name, case in (
    ('all_categories', all_categories), ('external_id', external_id), ('operator_relation', operator_relation),
    ('remove_dup_nodes', remove_dup_nodes), ('top_level_runtime', top_level_runtime),
    ('runtime_called_by_profilerstep', runtime_called_by_profilerstep),
    ('runtime_launch_multipe_kernels', runtime_launch_many), ('no_profilerstep', no_profilerstep),
    ('multiple_profilersteps_no_overlap', steps_no_overlap), ('self_time', self_time),
    ('multiple_profilersteps_with_overlap', steps_with_overlap), ('last_steps_no_kernel', last_steps_no_kernel),
    ('pure_cpu', pure_cpu), ('gpu_utilization', gpu_utilization),
    ('gpu_utilization_kernel_out_of_step', kernels_out_of_step), ('group_by_kernel_columns', kernel_columns),
    ('group_by_kernel_columns_invalid_input', kernel_columns_missing), ('tensor_core', tensor_core),
    ('datapipe', datapipe), ('the minimal example', minimal), ('slots run out', slots_run_out),
    ('steps cut short at the end', tail))]
