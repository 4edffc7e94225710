"""Steps with their device work and what each moment of them was spent on, the right way.

The rules are those of the step tables of `tacho overview`: a step is its host interval, moved by its
device work; the moments of a step go to the first role that was active. Slow, in integer nanoseconds, over a
`reference.Trace`.
"""

import re
from bisect import bisect_right
from collections import namedtuple

from ref_ranges import inside, length, merge, minus

ROLES = ('kernel', 'memcpy', 'memset', 'communication', 'runtime', 'data_loader', 'cpu_exec', 'other')

Step = namedtuple('Step', 'number start end work host_start host_end')

# A range of a communication library, such as nccl:all_reduce; c10d::allreduce_ is an op that calls one.
HOST_COLLECTIVE = re.compile(r'(nccl|rccl|gloo|mpi|ucc|xccl|hccl|cncl|oneccl|c10d):[^:]')
KERNEL_COLLECTIVE = re.compile(r'ncclDevKernel|ncclKernel|ncclDevFunc|rccl')
HOST_WORK = {'op', 'forward', 'optimizer'}
WORK = {'op', 'runtime', 'driver', 'sync', 'collective', 'kernel', 'memcpy', 'memset'}


def is_host_collective(item):
    return item.kind in ('op', 'annotation') and HOST_COLLECTIVE.match(item.name) is not None


def is_device_collective(item):
    """By its arguments, its name, or the op that launched it; copies and memsets are not."""
    if item.kind != 'kernel':
        return False
    if item.args.get('Collective name') or KERNEL_COLLECTIVE.match(item.name):
        return True
    return item.op is not None and (item.op.name == 'record_param_comms'
                                    or HOST_COLLECTIVE.match(item.op.name) is not None)


def calls_only(trace):
    """Do kernels run the collectives?  Then a host range of theirs is the call, and its time the host's; gloo
    and MPI run theirs on the host.  The TensorBoard plugin counts both."""
    return any(is_device_collective(s) for s in trace.slices)


def role_of(item, calls=False):
    if item.kind == 'kernel':
        return 'communication' if is_device_collective(item) else 'kernel'
    if item.kind in ('memcpy', 'memset'):
        return item.kind
    if is_host_collective(item):
        if not calls or item.name.startswith(('gloo:', 'mpi:')):
            return 'communication'
        return 'cpu_exec' if item.kind == 'op' else None
    if item.kind in ('runtime', 'driver'):
        return 'runtime'
    if item.kind == 'data_loading':
        return 'data_loader'
    return 'cpu_exec' if item.kind in HOST_WORK else None


def role_ranges(trace):
    ranges = {role: [] for role in ROLES}
    calls = calls_only(trace)
    for item in trace.slices:
        role = role_of(item, calls)
        if role is not None:
            ranges[role].append((item.start, item.end))
    return {role: merge(some) for role, some in ranges.items()}


def host_steps(trace):
    """(number, start, end) in order of time; one step 0 over all work where ops are recorded (the TensorBoard plugin ends it
    with the last op, though kernels go on), else over everything."""
    found = sorted((s.start, s.end, int(s.name[13:])) for s in trace.slices if s.kind == 'step')
    if found:
        return [(number, start, end) for start, end, number in found]
    has_ops = any(s.kind == 'op' for s in trace.slices)
    some = [s for s in trace.slices if s.kind in WORK] if has_ops else []
    some = some or [s for s in trace.slices if s.kind not in ('span', 'device_annotation')]
    return [(0, min(s.start for s in some), max(s.end for s in some))] if some else []


def in_flight(outside, work):
    """Ends of what had been launched before the recording: on its stream it runs before the first step's work."""
    first, ends = {}, []
    for number, mine in enumerate(work):
        for item in mine:
            first.setdefault(item.track, (item.start, number))
            first[item.track] = min(first[item.track], (item.start, number))
    for item in outside:
        start, number = first.get(item.track, (None, None))
        if item.launch is None and number == 0 and item.start < start:
            ends.append(item.end)
    return ends


def steps(trace, hosts=None):
    """(kept, left out).  hosts: steps that were found where nothing marks them, as host_steps gives them."""
    hosts = host_steps(trace) if hosts is None else hosts
    starts = [start for _, start, _ in hosts]
    work = [[] for _ in hosts]
    outside = []
    for item in trace.device_work():
        at = -1
        if item.launch is not None:
            at = bisect_right(starts, item.launch.start) - 1
            if at >= 0 and item.launch.end > hosts[at][2]:
                at = -1
        if at >= 0:
            work[at].append(item)
        else:
            outside.append(item)
    if not any(work):
        return [Step(n, s, e, 0, s, e) for n, s, e in hosts], []
    before = hosts[0][1]
    if work[0]:
        first = min(s.start for s in work[0])
        before = max([before] + [s.end for s in outside if s.end < first] + in_flight(outside, work))
    out = []
    for (number, host_start, host_end), mine in zip(hosts, work):
        start = max(before, host_start)
        end = max([host_end, start] + [s.end for s in mine])
        out.append(Step(number, start, end, len(mine), host_start, host_end))
        before = end
    last = max(i for i, step in enumerate(out) if step.work)
    if last > 0 and 8 * out[last - 1].work > 10 * out[last].work:
        last -= 1
    return (out[:last + 1], out[last + 1:]) if len(out) > 1 else (out, [])


def breakdown(trace, kept=None, ranges=None):
    """[(step, {role: ns, 'total': ns})]"""
    kept = steps(trace)[0] if kept is None else kept
    ranges = role_ranges(trace) if ranges is None else ranges
    rest = merge((s.start, s.end) for s in kept)
    taken = {}
    for role in ROLES[:-1]:
        left = minus(rest, ranges[role])
        taken[role] = minus(rest, left)
        rest = left
    taken['other'] = rest
    table = []
    for step in kept:
        row = {role: length(inside(taken[role], step.start, step.end)) for role in ROLES}
        table.append((step, {**row, 'total': step.end - step.start}))
    return table
