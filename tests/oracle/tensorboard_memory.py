"""The plugin's answers about memory: statistics by operator, curve, blocks."""

from collections import defaultdict

from common import rows
from ref_memory import Memory
from tensorboard_time import backward_of, once

KB = 1024
FIGURES = ('calls', 'size_increase', 'self_size_increase', 'allocations', 'self_allocations', 'allocation_bytes',
           'self_allocation_bytes')
UNITS = {'us': 1000, 'ms': 1000000, 's': 1000000000, 'B': 1, 'KB': 2**10, 'MB': 2**20, 'GB': 2**30}
MOST_POINTS = 10240


@once
def memory_of(span):
    return Memory(span.trace, span.events)


def window_of(span, params):
    """(start, end) in the trace's nanoseconds, end exclusive as ours is; and the options that ask for it."""
    if 'start_ts' not in params:
        return None, None, ()
    start, end = (int(float(params[k]) * 1000) for k in ('start_ts', 'end_ts'))
    return start, end + 1, ('--from', '%dns' % (start - span.start), '--to', '%dns' % (end + 1 - span.start))


def statistics(check, span, params, answer):
    start, end, options = window_of(span, params)
    got = {(r['op'], r['device']): r for r in rows(span.ask('memory', *options), 'statistics')}
    right = memory_of(span).statistics(start, end)
    check.equal('memory statistics, reference', sorted(right), sorted(got))
    for key, row in right.items():
        for figure in FIGURES:
            check.equal('memory of %s %s, reference' % (key, figure), row[figure], got.get(key, {}).get(figure))
    peer = peer_statistics(span, start, end)
    expected = {(row[0], device): dict(zip(FIGURES, row[1:])) for device, part in answer['response']['rows'].items()
                for row in part}
    check.equal('memory statistics rows', sorted(expected), sorted(peer))
    for key, row in expected.items():
        for figure in FIGURES:
            what, value = 'memory of %s %s' % (key, figure), peer.get(key, {}).get(figure)
            mine = got.get(key, {}).get(figure)
            # What the plugin counts differently is what it says; ours is the reference's.
            if mine != value:
                check.leave('memory_window' if figure == 'calls' and start is not None else 'backward_memory')
                what += ' as the plugin counts'
            if figure == 'calls' and value is not None and row[figure] < value:
                check.leave('memory_calls')
                continue
            if 'increase' in figure or 'bytes' in figure:
                check.near(what, row[figure], None if value is None else value / KB, .0051)
            else:
                check.equal(what, row[figure], value)
    for key in set(got) - set(expected):
        check.leave('backward_memory', len(FIGURES))
        check.equal('memory of %s is all on the backward thread' % (key,), None, peer.get(key))


def peer_statistics(span, start, end):
    """As the plugin counts: ops that it sees, and calls that touch the window."""
    memory, unseen = memory_of(span), backward_of(span).unseen
    table, calls = {}, defaultdict(int)
    for item in span.trace.slices:
        if item.kind == 'op' and not item.dead and id(item) not in unseen \
                and (start is None or item.end >= start and item.start < end):
            calls[item.name] += 1
    for record in memory.records:
        if record.op is None or id(record.op) in unseen or start is not None and not start <= record.time < end:
            continue
        for depth, item in enumerate(memory.ops_around(record.op)):
            row = table.setdefault((item.name, record.device), dict.fromkeys(FIGURES[1:], 0))
            for own in ('', 'self_')[:1 if depth else 2]:
                row[own + 'size_increase'] += record.bytes
                row[own + 'allocations'] += record.bytes > 0
                row[own + 'allocation_bytes'] += max(0, record.bytes)
    return {key: {'calls': calls[key[0]], **row} for key, row in table.items() if any(row.values())}


def curve(check, span, params, answer):
    response, note = answer['response'], (answer.get('note') or {}).get('cut', {})
    time_unit = UNITS[params.get('time_metric', 'ms')]
    size_unit = UNITS[params.get('memory_metric', 'MB')]
    shift = span.start - response['metadata']['first_ts'] * 1000
    table = rows(span.ask('memory'), 'curve')
    check.equal('memory factors', [response['metadata']['time_factor'], response['metadata']['memory_factor']],
                [1000 / time_unit, 1 / size_unit])
    check.equal('memory curves', sorted(response['metadata']['devices']), sorted(response['rows']))
    check.equal('memory peaks', sorted(response['metadata']['devices']), sorted(response['metadata']['peaks']))
    check.equal('memory devices', sorted(response['metadata']['devices']), sorted({r['device'] for r in table}))
    right = memory_of(span)
    check.equal('memory curve, reference', sorted(right.curve(), key=str), sorted(
        ((r['time'] + span.start, r['device'], r['allocated'], r['reserved']) for r in table), key=str))
    peaks = {r['device']: r for r in rows(span.ask('memory'), 'peaks')}
    for device, text in response['metadata']['peaks'].items():
        value = float(text.split(': ')[1].rstrip('GMKB'))
        check.near('memory peak of %s' % device, value, peaks[device]['allocated'] / size_unit, .0501)
        check.equal('memory peak of %s, reference' % device, right.peaks()[device],
                    (peaks[device]['time'] + span.start, peaks[device]['allocated'], peaks[device]['reserved']))
    known = {'GPU%d' % r['device']: r['memory_bytes'] for r in rows(span.ask('info'), 'devices')}
    for device, row in peaks.items():
        check.equal('memory capacity of %s' % device, known.get(device), row['capacity'])
        check.leave('capacity')
    for device, points in response['rows'].items():
        mine = stair([((r['time'] + shift) / time_unit, r['allocated'] / size_unit, r['reserved'] / size_unit)
                      for r in table if r['device'] == device])
        if len(mine) > MOST_POINTS:
            mine = largest_triangles(mine, MOST_POINTS)
        compare_points(check, device, points, mine, note.get('/rows/%s' % device), 1 / time_unit)


def stair(points):
    """Before each point but the first the value of the one before."""
    out = points[:1]
    for before, point in zip(points, points[1:]):
        out += [(point[0], *before[1:]), point]
    return out


def compare_points(check, device, expected, got, cut, ns):
    what = 'memory curve of %s' % device
    check.equal(what + ' points', cut['length'] if cut else len(expected), len(got))
    if cut:
        check.equal(what + ' points that are kept', cut['kept'], len(expected))
        check.equal(what + ' numbers', [len(got)] * 3, [c['numbers'] for c in cut['columns']])
    for i, (theirs, mine) in enumerate(zip(expected, got)):
        if abs(theirs[0] - mine[0]) > ns or abs(theirs[1] - mine[1]) > 1e-9 * max(1, mine[1]) or theirs[2] != mine[2]:
            check.fail('%s point %d: expected %s, got %s' % (what, i, theirs, mine))
            return
    check.tally.passed += 3 * len(expected)
    for i, column in enumerate(cut['columns'] if cut else ()):
        total = sum(p[i] for p in got)
        check.near('%s sum of column %d' % (what, i), column['sum'], total, 1e-9 * abs(total) + len(got) * ns)


def largest_triangles(points, count):
    """Down-sampling as the plugin does it (largest triangle, three buckets)."""
    n_bins, middle = count - 2, points[1:-1]
    size, more = divmod(len(middle), n_bins)
    bins, at = [], 0
    for i in range(n_bins):
        n = size + (i < more)
        bins.append(middle[at:at + n])
        at += n
    out = [points[0]]
    for i, some in enumerate(bins):
        ahead = bins[i + 1] if i + 1 < n_bins else [points[-1]]
        cx, cy = sum(p[0] for p in ahead) / len(ahead), sum(p[1] for p in ahead) / len(ahead)
        ax, ay = out[-1][:2]
        out.append(max(some, key=lambda b: abs((ax - cx) * (b[1] - ay) - (ax - b[0]) * (cy - ay))))
    return out + [points[-1]]


def blocks(check, span, params, answer):
    start, end, options = window_of(span, params)
    table = [r for r in rows(span.ask('memory', *options), 'events') if r['kind'] in ('allocation', 'release')]
    right = sorted(memory_of(span).blocks(start, end), key=str)
    got = sorted(((r['op'], r['device'], r['bytes'], absolute(span, r['allocated_at']),
                   absolute(span, r['released_at'])) for r in table), key=str)
    check.equal('number of blocks, reference', len(right), len(got))
    for theirs, mine in zip(right, got):
        check.equal('block, reference', theirs, mine)
    if shared_addresses(span):
        check.leave('memory_address', sum(map(len, answer['response']['rows'].values())))
        return
    unseen = unseen_blocks(span)
    by_device = defaultdict(list)
    for row in got:
        if row[3:] in unseen and row[0] is not None:
            check.leave('backward_memory')
            row = (None, *row[1:])
        by_device[row[1]].append(clipped(row, start, end))
    for device, expected in answer['response']['rows'].items():
        mine = sorted(by_device[device], key=lambda r: (r[3] is None or r[4] is None, r[3] is None, r[4] or r[3]))
        check.equal('blocks of %s' % device, len(expected), len(mine))
        for i, (theirs, row) in enumerate(zip(expected, mine)):
            one_block(check, 'block %d of %s' % (i, device), theirs, row, zero_of(span))


def one_block(check, what, theirs, row, zero):
    op, _, size, begin, finish = row
    check.equal(what + ' op', theirs[0], '<unknown>' if op is None else op)
    # Two digits, three where two would be zero.
    check.near(what + ' size', theirs[1], size / KB, .005001 if theirs[1] >= .01 else .00051)
    for name, value, time in (('begin', theirs[2], begin), ('end', theirs[3], finish)):
        check.near('%s %s' % (what, name), value, None if time is None else (time - zero) / 1e6, .005001)
    if begin is not None and finish is not None:
        check.near(what + ' duration', theirs[4], (finish - begin) / 1e6, .005001)


@once
def shared_addresses(span):
    """Addresses that occur on several devices: there the plugin mixes up the blocks."""
    seen = defaultdict(set)
    for record in memory_of(span).records:
        seen[record.address].add(record.device)
    return {address for address, devices in seen.items() if address is not None and len(devices) > 1}


@once
def unseen_blocks(span):
    """{(allocated at, released at)} of the blocks whose allocating op the plugin's memory view does not see."""
    unseen = backward_of(span).unseen
    return {(r.time, r.partner.time if r.partner else None) for r in memory_of(span).records
            if r.bytes > 0 and r.op is not None and id(r.op) in unseen}


@once
def zero_of(span):
    """The plugin's zero: the first event it kept."""
    times = [r.time for r in memory_of(span).records]
    return min([span.start] + times[:1])


def absolute(span, time):
    return None if time is None else time + span.start


def clipped(row, start, end):
    """The plugin pairs inside a window: times outside of it are not known to it."""
    if start is None:
        return row
    inside = [t if t is not None and start <= t < end else None for t in row[3:]]
    return (*row[:3], *inside)
