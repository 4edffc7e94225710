"""HTA's tables of streams, launches and copies, written down a second time.

Every figure exists twice: from HTA's rounded microseconds with all it counts (`exact=False`), and from nanoseconds as it
should be (`exact=True`): overlapping works leave no negative gap, every call that launches counts, and bandwidth is
bytes by time.
"""

import bisect

import hta_rows

SHORT = {True: 30000, False: 30}                # kernel_wait, in the unit of the times
LONG_CALL = {True: 50000, False: 50}
LONG_DELAY = {True: 100000, False: 100}
COPIES = {'cudaMemcpyAsync', 'cudaMemsetAsync'}
LAUNCHES = {'cudaLaunchKernel', 'cudaLaunchKernelExC'}
QUEUED = LAUNCHES | COPIES | {'cuLaunchKernel', 'cuLaunchKernelEx', 'hipLaunchKernel', 'hipExtModuleLaunchKernel',
                              'hipMemsetAsync', 'hipMemcpyAsync', 'hipMemcpyWithStream'}
QUEUED_OLD = QUEUED - {'cuLaunchKernelEx'}      # 0.5.0
CALLS = {'cuda_runtime', 'cuda_driver'}


def times(row, exact):
    return (row.start, row.end) if exact else (row.begin, row.finish)


def describe(values):
    """count, mean, std, min, quartiles, max as pandas gives them; None where it has no number."""
    values = sorted(values)
    if not values:
        return [0] + [None] * 7
    def at(part):
        place = part * (len(values) - 1)
        low = int(place)
        high = min(low + 1, len(values) - 1)
        return values[low] + (values[high] - values[low]) * (place - low)
    return [len(values), sum(values) / len(values), hta_rows.spread(values) if len(values) > 1 else None,
            values[0], at(.25), at(.5), at(.75), values[-1]]


def calls_of(kept):
    """{correlation: call of the host}"""
    return {r.correlation: r for r in kept if r.correlation >= 0 and not hta_rows.is_device(r)}


def device_of(kept):
    return [r for r in kept if r.cat in hta_rows.DEVICE and r.stream != -1]


def idle(kept, exact):
    """{(stream, class): gaps}; of HTA's classes `other` is always there: the first work has no gap."""
    calls, streams, out = calls_of(kept), {}, {}
    for row in device_of(kept):
        streams.setdefault(row.stream, []).append(row)
    for stream, some in streams.items():
        some.sort(key=lambda r: times(r, exact)[0])
        before = None
        if not exact:
            out[stream, 'other'] = []
        for row in some:
            start, end = times(row, exact)
            if before is not None and (not exact or start >= before):
                call = calls.get(row.correlation)
                kind = ('host_wait' if call is not None and times(call, exact)[0] > before else
                        'kernel_wait' if start - before < SHORT[exact] else 'other')
                out.setdefault((stream, kind), []).append(start - before)
            before = max(end, before) if exact and before is not None else end
    return out


def pairs(kept, names):
    """(call, work) by correlation."""
    calls = calls_of(kept)
    return [(calls[r.correlation], r) for r in device_of(kept) if r.correlation in calls
            and (calls[r.correlation].name in names if names else calls[r.correlation].cat in CALLS)]


def queues(kept, exact, old=False, launches_first=True):
    """{stream: lengths after each change}; at one time launches come first, or last."""
    return {stream: [length for _, length in points]
            for stream, points in queue_points(kept, exact, old, launches_first).items()}


def full_time(points, limit):
    """How long at least so many works were queued: from each such change to the next one."""
    return sum(following[0] - time for (time, length), following in zip(points, points[1:]) if length >= limit)


def queue_points(kept, exact, old=False, launches_first=True):
    """{stream: [(time, length after it)]}"""
    changes = {}
    for call, work in pairs(kept, None if exact else QUEUED_OLD if old else QUEUED):
        points = changes.setdefault(work.stream, [])
        points += [(times(call, exact)[0], 0 if launches_first else 2, 1), (times(work, exact)[0], 1, -1)]
    out = {}
    for stream, points in changes.items():
        length, out[stream] = 0, []
        for time, _, change in sorted(points):
            length += change
            out[stream].append((time, length))
    return out


def launches(kept, exact):
    """[(correlation, call, work, delay, is a kernel)]"""
    out = []
    for call, work in pairs(kept, None if exact else LAUNCHES | COPIES):
        (a, b), (c, d) = times(call, exact), times(work, exact)
        out.append((call.correlation, b - a, d - c, max(0, c - b), call.name not in COPIES))
    return out


def op_launches(kept, exact):
    """{(operator, works it launches): [(from its start to the first launch, from there to the work)]}. HTA looks for
    the operator in all threads, among `aten::` ones, and does not know all calls that launch."""
    ops, calls = {}, {}
    for row in kept:
        if row.cat == 'cpu_op' and (exact or row.name.startswith('aten::')):
            ops.setdefault((row.event['pid'], row.event['tid']) if exact else None, []).append(row)
    for some in ops.values():
        some.sort(key=lambda r: (times(r, exact)[0], -times(r, exact)[1] if exact else 0))
    for call, work in pairs(kept, None if exact else QUEUED - COPIES):
        key, (start, end) = (call.event['pid'], call.event['tid']) if exact else None, times(call, exact)
        some = ops.get(key, [])
        place = bisect.bisect_right(some, start, key=lambda r: times(r, exact)[0]) - 1
        while place >= 0 and times(some[place], exact)[1] < end:
            place -= 1
        while not exact and place > 0 and some[place - 1].begin == some[place].begin and some[place - 1].finish >= end:
            place -= 1  # of those that begin in one microsecond, HTA takes the first
        if place >= 0:
            calls.setdefault((key, place), []).append((start, times(work, exact)[0], work.name))
    out = {}
    for (key, place), works in calls.items():
        works.sort(key=lambda w: w[0])
        name = ops[key][place].name, ' -> '.join(w[2] for w in works)
        begin = times(ops[key][place], exact)[0]
        out.setdefault(name, []).append((works[0][0] - begin, works[0][1] - works[0][0]))
    return out


def kind_of_copy(name):
    return 'Memset' if name.startswith('Memset') else name[:11]


def bandwidths(kept, exact):
    """{kind: bandwidth after each change, where above 0}, and the number of all changes."""
    changes, out, count = {}, {}, 0
    for row in device_of(kept) if exact else [r for r in kept if r.stream != -1]:
        args = row.event.get('args') or {}
        if hta_rows.kernel_class(row.name) != 'MEMORY':
            continue
        start, end = times(row, exact)
        length = end - start
        if exact:
            if not args.get('bytes') or row.cat == 'kernel':
                continue
            value, end = args['bytes'] * 1e9 / max(1, length), start + max(1, length)
        else:
            value, end = args.get('memory bandwidth (GB/s)') or 0, start + (length or 1)
        changes.setdefault(kind_of_copy(row.name), []).extend([(start, 1, float(value)), (end, 0, -float(value))])
        count += 2
    for kind, points in changes.items():
        total, running, out[kind] = 0., 0, []
        for _, starts, change in sorted(points, key=lambda p: p[:2]):
            running += 1 if starts else -1
            total = total + change if running else 0.
            if running and total > 0:
                out[kind].append(total)
    return {kind: values for kind, values in out.items() if values}, count


def touch(kept, kind):
    """Do any two copies of a kind overlap, or begin where another ends? Then residues of doubles may stay."""
    until = None
    for row in sorted((r for r in kept if r.stream != -1 and hta_rows.kernel_class(r.name) == 'MEMORY'
                       and kind_of_copy(r.name) == kind), key=lambda r: r.begin):
        if until is not None and row.begin <= until:
            return True
        until = max(row.finish, row.begin + 1, until if until is not None else row.begin)
    return False
