"""PyTorch's table of averages a second time, from the trace: also the rows that are not operators of tacho.

Ranges of the user, steps, calls of the runtime, Python frames and modules are rows of one table in PyTorch, with times,
device time and memory, each less those of the rows right below it.  Frames and modules take part only where the
answers list them.  FLOPs are those of its own formulas, which know seven operators.
"""

import functools
import json
from bisect import bisect_left, bisect_right
from collections import defaultdict

from ref_memory import records

HOST = {'op', 'annotation', 'step', 'optimizer', 'data_loading', 'forward', 'runtime', 'driver', 'overhead'}
FRAMES = {'python', 'module'}
FIGURES = ('count', 'cpu_total', 'self_cpu', 'dev_total', 'self_dev', 'cpu_mem', 'self_cpu_mem', 'dev_mem', 'self_dev_mem')


class Node:
    __slots__ = ('item', 'above', 'below', 'device', 'memory')

    def __init__(self, item, above):
        self.item, self.above, self.below, self.device = item, above, [], 0
        self.memory = {'cpu': 0, 'dev': 0}

    def totals(self):
        """(host, device, memory of the host, of the device), with all that is below."""
        device = self.device + sum(node.totals()[1] for node in self.below)
        return self.item.dur, device, self.memory['cpu'], self.memory['dev']


def nest(trace, kinds):
    """The rows of every thread as trees, {id(slice): node}."""
    nodes = {}
    for items in trace.tracks.values():
        stack = []
        for item in items:
            if item.kind not in kinds or item.dead:
                continue
            while stack and (item.start >= stack[-1].item.end or item.end > stack[-1].item.end):
                stack.pop()
            node = nodes[id(item)] = Node(item, stack[-1] if stack else None)
            if stack:
                stack[-1].below.append(node)
            stack.append(node)
    return nodes


def attach_memory(nodes, events):
    """Whatever was allocated and released while a row was open is its memory, by any thread."""
    found = records(events)
    times = [r.time for r in found]
    sums = {'cpu': [0], 'dev': [0]}
    for record in found:
        for side, running in sums.items():
            running.append(running[-1] + (record.bytes if (record.device == 'CPU') == (side == 'cpu') else 0))
    for node in nodes.values():
        first, last = bisect_left(times, node.item.start), bisect_right(times, node.item.end)
        for side, running in sums.items():
            node.memory[side] = running[last] - running[first]


class Table:
    """{name: figures} of every row of the host but the operators, and of what ran on the device."""

    def __init__(self, trace, events, with_frames):
        nodes = nest(trace, HOST | FRAMES if with_frames else HOST)
        attach_memory(nodes, events)
        for work in trace.device_work():
            op = work.op
            while op is not None and op.dead:
                op = op.owner
            if op is not None:
                nodes[id(op)].device += work.dur
        disturbed(trace, nodes)
        self.rows, self.kinds = defaultdict(lambda: dict.fromkeys(FIGURES, 0)), {}
        for node in nodes.values():
            if node.item.kind != 'op':
                self.add(node)
        self.device = defaultdict(lambda: [0, 0])
        for item in trace.slices:
            if item.kind in ('kernel', 'memcpy', 'memset', 'device_annotation'):
                row = self.device[label(item)]
                row[0], row[1] = row[0] + 1, row[1] + item.dur

    def add(self, node):
        row, totals = self.rows[label(node.item)], node.totals()
        inner = [n.totals() for n in node.below]
        own = [t - sum(i[k] for i in inner) for k, t in enumerate(totals)]
        self.kinds[label(node.item)] = node.item.kind
        for figure, value in zip(FIGURES, (1, totals[0], own[0], totals[1], own[1], totals[2], own[2], totals[3], own[3])):
            row[figure] += value


def disturbed(trace, nodes):
    """A row of the profiler's own cost carries the id of the op it disturbed: PyTorch puts it below the call that was
    running and gives it that op's device time."""
    calls = [n for n in nodes.values() if n.item.kind in ('runtime', 'driver')]
    for node in [n for n in nodes.values() if n.item.kind == 'overhead']:
        for call in calls:
            if call.item.start <= node.item.start and node.item.end <= call.item.end and call.item.owner is not None:
                call.below.append(node)
                node.device = sum(s.dur for s in trace.device_work() if s.op is call.item.owner)


def label(item):
    return 'ProfilerStep*' if item.name.startswith('ProfilerStep#') else item.name


# ---- FLOPs ----

def product(numbers):
    return functools.reduce(lambda a, b: a * b, numbers, 1)


def concrete(item):
    return [json.loads(v) if isinstance(v, str) and v[:1] == '[' else v for v in item.args.get('Concrete Inputs') or []]


def conv2d(dims, item):
    inputs = concrete(item)
    stride, padding, dilation, groups = inputs[3], inputs[4], inputs[5], int(inputs[6])
    if isinstance(padding, str):
        return 0
    (batch, _, high, wide), (out, within, kernel_high, kernel_wide) = dims[0], dims[1]
    rows = (high + 2 * padding[0] - dilation[0] * (kernel_high - 1) - 1) // stride[0] + 1
    columns = (wide + 2 * padding[1] - dilation[1] * (kernel_wide - 1) - 1) // stride[1] + 1
    del groups     # the second dimension of the weights is that of one group already
    return 2 * batch * out * within * kernel_high * kernel_wide * rows * columns


def product_of(first, second):
    def formula(dims, _):
        a, b = dims[first], dims[second]
        return 2 * product(a) * b[-1]
    return formula


def elementwise(dims, _):
    return product(dims[0])


FORMULAS = {'aten::mm': product_of(0, 1), 'aten::addmm': product_of(1, 2), 'aten::bmm': product_of(0, 1),
            'aten::baddbmm': product_of(1, 2), 'aten::conv2d': conv2d, 'aten::add': elementwise, 'aten::mul': elementwise}


def flops(item):
    """What PyTorch counts for one call."""
    formula, dims = FORMULAS.get(item.name), item.args.get('Input Dims') or []
    try:
        return formula(dims, item) if formula else 0
    except (IndexError, TypeError, ValueError):
        return 0
