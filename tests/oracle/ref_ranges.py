"""Sets of moments as sorted lists of half-open ranges (start, end); whole numbers or Fractions."""


def merge(ranges):
    """Sorted and disjoint; what overlaps or touches is joined, empty ranges are gone."""
    out = []
    for start, end in sorted(r for r in ranges if r[1] > r[0]):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def both(a, b):
    """Moments of two merged lists that are in both."""
    out, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if start < end:
            out.append((start, end))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return out


def minus(a, b):
    """Moments of the merged list a that are not in the merged list b."""
    out, j = [], 0
    for start, end in a:
        while j < len(b) and b[j][1] <= start:
            j += 1
        k = j
        while k < len(b) and b[k][0] < end:
            if b[k][0] > start:
                out.append((start, b[k][0]))
            start = max(start, b[k][1])
            k += 1
        if start < end:
            out.append((start, end))
    return out


def length(ranges):
    return sum(end - start for start, end in ranges)


def inside(ranges, start, end):
    """The part of a merged list inside [start, end)."""
    return both(ranges, [(start, end)]) if start < end else []


def of(slices):
    return merge((s.start, s.end) for s in slices)
