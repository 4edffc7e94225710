"""Inline cases about modules, backward work and the arithmetic of ranges."""

import json

import ref_modules
from made import Made, us
from reference import nanoseconds

ENGINE = ref_modules.ENGINE
FIGURES = ('calls', 'host_total', 'host_self', 'device_total', 'device_self', 'backward_host', 'backward_device')


def modules(tally, label, made, expected):
    """{module: (parent, depth, calls, host, self, device, self, backward host, device)}"""
    got = {r['module']: (r['parent'], r['depth'], r['calls'], *(us(r[f] or 0) for f in FIGURES[1:]))
           for r in made.table('modules', 'modules')}
    for name in sorted(set(expected) | set(got)):
        tally.check('%s %s' % (label, name), expected.get(name), got.get(name))
    trace = made.reference()
    rows = ref_modules.table(trace)
    ref_modules.add_backward(trace, rows, ref_modules.arrows(json.loads(json.dumps(made.events)), nanoseconds))
    right = {name: (r['parent'], r['depth'], r['calls'], *(us(r[f]) for f in FIGURES[1:]))
             for (name, _), r in rows.items()}
    tally.check(label + ' reference', right, got)


def net(vintage):
    """The worked example: forward on thread 1, backward on thread 2."""
    m = Made(vintage)
    m.step(1, 0, 400, 100, tid=1)
    m.note('enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', 1, 5, 101, tid=1)
    m.frame('train.py(1): main', 9, 380, 1, tid=1)
    m.frame('nn.Module: Net_0', 10, 100, 2, 1, module=0, tid=1)
    m.frame('nn.Module: Linear_0', 20, 40, 3, 2, module=1, tid=1)
    m.op('aten::linear', 22, 30, 1, tid=1)
    m.op('aten::addmm', 24, 20, 2, tid=1)
    m.op('aten::relu', 70, 10, 3, tid=1)
    m.launch(26, 2, 40, 30, 2, tid=1)
    m.note('Optimizer.step#SGD.step', 300, 50, 102, tid=1)
    m.op(ENGINE + 'ReluBackward0', 150, 20, 10, tid=2)
    m.op('ReluBackward0', 152, 15, 11, tid=2)
    m.op(ENGINE + 'AddmmBackward0', 180, 30, 12, tid=2)
    m.op('AddmmBackward0', 182, 25, 13, tid=2)
    m.launch(185, 2, 200, 50, 13, tid=2)
    m.op(ENGINE + 'torch::autograd::AccumulateGrad', 215, 10, 14, tid=2)
    m.arrow(1, 70, 152, 1, 2)
    m.arrow(2, 24, 182, 1, 2)
    return m


def worked_example(tally, label):
    for vintage in ('old', 'new'):
        m = net(vintage)
        here = '%s (%s)' % (label, vintage)
        # The plugin's self times of modules also take off the operators; ours only the modules inside.
        modules(tally, here, m, {'Net_0': (None, 0, 1, 100, 60, 30, 0, 60, 50),
                                 'Linear_0': ('Net_0', 1, 1, 40, 40, 30, 30, 40, 50)})
        got = m.operators()
        tally.check(here + ' linear', [1, 30, 10, 30, 0], got['aten::linear'])
        tally.check(here + ' addmm', [1, 20, 18, 30, 30], got['aten::addmm'])
        tally.check(here + ' AddmmBackward0', [1, 25, 23, 50, 50], got['AddmmBackward0'])
        tally.check(here + ' operators', 8, len(got))
        stages = {r['stage']: us(r['device_time']) for r in m.table('overview', 'stages')}
        tally.check(here + ' stages on the device', (30, 50), (stages['forward'], stages['backward']))


def hierarchy(tally, label):
    m = Made('new')
    for i, at in enumerate((100, 200, 300)):
        base = 10 * i
        m.frame('train.py(1): main', at, 50, base + 1)
        m.frame('nn.Module: MyModule_0', at + 1, 40, base + 2, base + 1, module=1)
        m.frame('nn.Module: Linear_0', at + 2, 20, base + 3, base + 2, module=2)
    m.frame('nn.Module: Conv2_0', 400, 10, 50, module=3)
    got = {r['module']: (r['parent'], r['depth'], r['calls']) for r in m.table('modules', 'modules')}
    tally.check(label, {'MyModule_0': (None, 0, 3), 'Linear_0': ('MyModule_0', 1, 3), 'Conv2_0': (None, 0, 1)}, got)
    classes = {r['module']: r['calls'] for r in m.table('modules', 'modules', '--group-by', 'type')}
    tally.check(label + ' by class', {'MyModule': 3, 'Linear': 3, 'Conv2': 1}, classes)


def empty_backward(tally, label):
    """Dropout has no backward work: it has none, and the backward part of Net begins with Linear's."""
    m = Made('new')
    m.step(1, 100, 400, 1)
    m.frame('nn.Module: Net_0', 100, 80, 1, module=0)
    m.frame('nn.Module: Linear_0', 105, 30, 2, 1, module=1)
    m.frame('nn.Module: Dropout_0', 140, 30, 3, 1, module=2)
    m.op('aten::linear', 106, 20, 2)
    m.op('aten::dropout', 141, 20, 3)
    m.op(ENGINE + 'AddmmBackward0', 300, 50, 4)
    m.op('AddmmBackward0', 302, 45, 5)
    m.arrow(1, 106, 302, 123, 123)
    modules(tally, label, m, {'Net_0': (None, 0, 1, 80, 20, 0, 0, 50, 0),
                              'Linear_0': ('Net_0', 1, 1, 30, 30, 0, 0, 50, 0),
                              'Dropout_0': ('Net_0', 1, 1, 30, 30, 0, 0, 0, 0)})
    backward = [(us(r['start']), us(r['duration'])) for r in m.table('steps', 'segments') if r['stage'] == 'backward']
    tally.check(label + ' backward part', [(200, 50)], backward)


def accumulate_first(tally, label):
    """The plugin cannot load a file whose first node accumulates gradients."""
    m = net('new')
    m.op(ENGINE + 'torch::autograd::AccumulateGrad', 140, 5, 15, tid=2)
    modules(tally, label, m, {'Net_0': (None, 0, 1, 100, 60, 30, 0, 60, 50),
                              'Linear_0': ('Net_0', 1, 1, 40, 40, 30, 30, 40, 50)})


def shared_root(tally, label):
    """The plugin cannot load a file in which two forward ops lead to one node; the first has it."""
    m = net('new')
    m.arrow(3, 70, 182, 1, 2)
    modules(tally, label, m, {'Net_0': (None, 0, 1, 100, 60, 30, 0, 60, 50),
                              'Linear_0': ('Net_0', 1, 1, 40, 40, 30, 30, 40, 50)})


def module_that_overlaps(tally, label):
    """A module that overlaps another partially is kept; the plugin drops it and then the file."""
    m = Made('new')
    m.step(1, 0, 300, 1)
    m.frame('nn.Module: Net_0', 10, 100, 1, module=0)
    m.frame('nn.Module: Linear_0', 50, 80, 2, 1, module=1)
    m.op('aten::mm', 115, 10, 2)
    got = m.modules()
    tally.check(label, [('Linear_0', 80000), ('Net_0', 100000)],
                sorted((name, row['host_total']) for name, row in got.items()))
    tally.check(label + ' operators', ['aten::mm'], list(m.operators()))


def range_arithmetic(tally, label):
    """Merging, A−B, A∩B and ΣA, seen through windows of one unit; the units are tenths."""
    a, b = ((11, 22), (33, 44), (55, 66)), ((0, 1), (10, 14), (15, 16), (19, 34), (43, 46))
    c = ((11, 22), (15, 23), (33, 39), (35, 36), (37, 38), (41, 42))
    for name, high, low, kernel, copy in (
            ('merge', c, (), ((11, 23), (33, 39), (41, 42)), ()),
            ('A minus B', b, a, b, ((14, 15), (16, 19), (34, 43), (55, 66)))):
        m = Made('new')
        m.step(1, 0, 70, 1)
        for i, (start, end) in enumerate(high):
            m.work(start, end - start, m.call(0, 0), stream=10 + i)
        for i, (start, end) in enumerate(low):
            m.work(start, end - start, m.call(0, 0), stream=20 + i, kind='memcpy')
        whole = m.costs()[1]
        for role, cost, ranges in (('kernel', whole[0], kernel), ('memcpy', whole[1], copy)):
            tally.check('%s %s %s' % (label, name, role), sum(e - s for s, e in ranges), cost)
        for at in range(70):
            got = m.costs('--from', '%dus' % at, '--to', '%dus' % (at + 1))
            tally.check('%s %s at %d' % (label, name, at),
                        [any(s <= at < e for s, e in ranges) for ranges in (kernel, copy)],
                        [bool(c) for c in got.get(1, [0, 0])[:2]])
    # A∩B = A − (A − B): 3.3 = sum of A; 1.9 of it outside of B.
    tally.check(label + ' sum', 33, sum(e - s for s, e in a))


def step_table(tally, label):
    """Host intervals of the steps, the gap before each, forward to backward, the tail after it."""
    m = net('new')
    m.step(2, 430, 100, 200, tid=1)
    m.op('aten::mm', 440, 20, 201, tid=1)
    m.note('gloo:all_reduce', 470, 40, 202, tid=3)
    m.op('aten::add', 500, 20, 203, tid=1)
    m.launch(505, 2, 480, 10, 203, tid=1)
    got = [tuple(us(r[c]) for c in ('start', 'end', 'duration', 'gap', 'communication', 'exposed_communication'))
           for r in m.table('steps', 'steps')]
    tally.check(label, [(0, 400, 400, None, 0, 0), (430, 530, 100, 30, 40, 30)],
                [(*row[:3], row[3] or None, row[4] or 0, row[5] or 0) for row in got])
    first = m.table('steps', 'steps')[0]
    tally.check(label + ' forward and backward', (215, 175), (us(first['forward_backward']), us(first['tail'])))
    parts = {(r['step'], r['stage']): (us(r['start']), us(r['duration'])) for r in m.table('steps', 'segments')}
    for stage, expected in (('data_loading', (1, 5)), ('forward', (10, 100)), ('backward', (150, 75)),
                            ('optimizer', (300, 50))):
        tally.check('%s %s' % (label, stage), expected, parts.get((1, stage)))


CASES = [('the worked example', worked_example), ('build_module_hierarchy', hierarchy),
         ('a module without backward work', empty_backward), ('accumulation first', accumulate_first),
         ('two arrows to one node', shared_root), ('modules that overlap partially', module_that_overlaps),
         ('ranges', range_arithmetic), ('steps', step_table)]
