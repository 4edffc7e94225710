"""Communication the right way: overlap with computation, transfer and waiting, per step and per worker.

A collective of a worker is a host range of a communication library, with the kernels launched for
it, or a kernel alone.  Members of a collective are matched by group and sequence where these are
recorded, else by their order among the collectives of one name.  The members are taken to end together:
the transfer lasts as long as that of the fastest member, what is left of a member's time is waiting.
"""

from collections import defaultdict, namedtuple

import ref_steps
from ref_ranges import both, inside, length, merge

Overlap = namedtuple('Overlap', 'computation overlapping communication other')
WIDTHS = {'long int': 8, 'float': 4, 'int': 4, 'c10::Half': 2, 'c10::BFloat16': 2, 'unsigned char': 1, 'double': 8,
          'signed char': 1, 'bool': 1}


def overlap(trace):
    """{step number: Overlap in ns}"""
    ranges = ref_steps.role_ranges(trace)
    compute = ranges['kernel'] or ranges['cpu_exec']
    out = {}
    for step in ref_steps.steps(trace)[0]:
        a = inside(compute, step.start, step.end)
        b = inside(ranges['communication'], step.start, step.end)
        shared = length(both(a, b))
        out[step.number] = Overlap(length(a) - shared, shared, length(b) - shared,
                                   step.end - step.start + shared - length(a) - length(b))
    return out


class Collective:
    def __init__(self, item):
        self.item, self.name, self.start, self.end = item, item.name, item.start, item.end
        self.ranges = [(item.start, item.end)]
        self.transfer, self.step = [], None

    def bytes(self):
        shapes, types = self.item.args.get('Input Dims') or [], self.item.args.get('Input type') or []
        total = 0
        for shape, kind in zip(shapes, types):
            count = 1
            for side in shape:
                count *= side
            total += count * WIDTHS.get(kind, 0)
        return total


def collectives(trace):
    """Host ranges of communication libraries in order of time, each with the step it starts and ends in."""
    found = [Collective(s) for s in trace.slices if ref_steps.is_host_collective(s)]
    found.sort(key=lambda c: (c.start, -c.end))
    by_op = {id(c.item): c for c in found}
    for item in trace.slices:
        if item.kind == 'kernel' and item.op is not None and id(item.op) in by_op:
            by_op[id(item.op)].ranges.append((item.start, item.end))
    kept = ref_steps.steps(trace)[0]
    for one in found:
        one.ranges.sort(key=lambda r: (r[0], -r[1]))
        one.step = next((s.number for s in kept if s.start <= one.start and one.end <= s.end), None)
    return found


def match(workers):
    """workers: [collectives of a worker]; fills in `transfer` of all, by order among those of one name."""
    members = defaultdict(list)
    for number, some in enumerate(workers):
        seen = defaultdict(int)
        for one in some:
            members[one.name, seen[one.name]].append(one)
            seen[one.name] += 1
    for some in members.values():
        for j in range(max(len(one.ranges) for one in some)):
            having = [one for one in some if j < len(one.ranges)]
            shortest = min(one.ranges[j][1] - one.ranges[j][0] for one in having)
            for one in having:
                one.transfer.append((one.ranges[j][1] - shortest, one.ranges[j][1]))


def sums(some):
    """(total, transfer) in ns of a list of collectives."""
    return (length(merge(r for one in some for r in one.ranges)),
            length(merge(r for one in some for r in one.transfer)))
