"""How well each device was used between two moments, as Fractions; None where nothing says so."""

from collections import defaultdict
from decimal import Decimal
from fractions import Fraction

from ref_ranges import inside, length, of


def number(value):
    """An argument that should be a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    return Fraction(value) if isinstance(value, (int, Decimal)) else Fraction(repr(value))


def kernels_by_device(trace):
    found = defaultdict(list)
    for item in trace.slices:
        if item.kind == 'kernel':
            device = item.args.get('device')
            found[device if isinstance(device, int) else item.track[0]].append(item)
    return found


def utilization(kernels, start, end):
    return Fraction(length(inside(of(kernels), start, end)), end - start) if end > start else Fraction(0)


def segments(kernels):
    """(start, end, blocks per SM of everything running, at most 1), where that is above nothing."""
    edges = []
    for item in kernels:
        blocks = number(item.args.get('blocks per SM'))
        if blocks is not None and blocks > 0 and item.dur > 0:
            edges += [(item.start, blocks), (item.end, -blocks)]
    edges.sort()
    out, running, at = [], Fraction(0), None
    for time, change in edges:
        if running > 0 and time > at:
            out.append((at, time, min(running, Fraction(1))))
        running, at = running + change, time
    return out


def sm_efficiency(kernels, start, end):
    return mean_of_segments(segments(kernels), start, end)


def mean_of_segments(parts, start, end):
    clipped = [(max(a, start), min(b, end), value) for a, b, value in parts]
    clipped = [part for part in clipped if part[0] < part[1]]
    if not clipped or end <= start:
        return None
    return sum((b - a) * value for a, b, value in clipped) / Fraction(end - start)


def occupancy(kernels, start, end):
    """A share; producers write per cent."""
    weight = total = Fraction(0)
    for item in kernels:
        value = number(item.args.get('est. achieved occupancy %'))
        ns = min(item.end, end) - max(item.start, start)
        if value is not None and value >= 0 and ns > 0:
            weight, total = weight + ns, total + ns * value
    return total / weight / 100 if weight else None


def weighted(kernels, key):
    """Mean weighted by time; a kernel without the value counts as 0; None when none has it."""
    values = [(number(item.args.get(key)), item.dur) for item in kernels]
    if all(value is None for value, _ in values):
        return None
    time = sum(dur for _, dur in values)
    return sum((value or 0) * dur for value, dur in values) / Fraction(time) if time else Fraction(0)
