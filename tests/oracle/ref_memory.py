"""Memory the right way: pairs by device and address over the whole trace, sums by operator.

Over a `reference.Trace` and the raw events.  A record belongs to the innermost op of its thread
with `start <= time < end`.  An op whose name starts with `aten::empty` is shown with what is around
it: the innermost of op, module, data loading, optimizer and step.
"""

from collections import defaultdict

from reference import nanoseconds, number_if_digits

DEVICE_NAMES = {0: 'CPU', 1: 'GPU', 6: 'HIP', 12: 'XPU', 13: 'MPS', 15: 'HPU', 19: 'MTIA',
                20: 'PrivateUse'}
AROUND = {'op', 'module', 'data_loading', 'optimizer', 'forward', 'step'}


class Record:
    """One [memory] event; `partner` is the release of an allocation and the other way round."""

    __slots__ = ('time', 'device', 'address', 'bytes', 'allocated', 'reserved', 'op', 'partner', 'track')

    def __init__(self, event):
        args = event.get('args') or {}
        self.time = nanoseconds(event.get('ts'))
        self.track = (number_if_digits(event.get('pid')), number_if_digits(event.get('tid')))
        self.device = device_name(args.get('Device Type'), args.get('Device Id'))
        self.address, self.bytes = args.get('Addr'), args.get('Bytes')
        self.allocated, self.reserved = args.get('Total Allocated'), args.get('Total Reserved')
        self.op = self.partner = None


def device_name(kind, number):
    name = DEVICE_NAMES.get(kind, 'device')
    return name if name == 'CPU' else '%s%d' % (name, number)


def records(events):
    found = [Record(e) for e in events if e.get('ph') == 'i' and e.get('name') == '[memory]']
    found.sort(key=lambda r: r.time)
    return found


class Memory:
    def __init__(self, trace, events):
        self.trace, self.records = trace, records(events)
        self.attach()
        self.pair()

    def attach(self):
        """A walk over each thread: the ops that are open when a record comes."""
        by_track = defaultdict(list)
        for record in self.records:
            by_track[record.track].append(record)
        for track, some in by_track.items():
            ops = [s for s in self.trace.tracks.get(track, ()) if s.kind == 'op']
            stack, at = [], 0
            for record in some:
                while at < len(ops) and ops[at].start <= record.time:
                    stack.append(ops[at])
                    at += 1
                    stack = [s for s in stack if s.end > ops[at - 1].start or s is ops[at - 1]]
                stack = [s for s in stack if s.end > record.time]
                record.op = stack[-1] if stack else None

    def pair(self):
        live = {}
        for record in self.records:
            if record.address is None:
                continue
            key = (record.device, record.address)
            if record.bytes > 0:
                live[key] = record
            elif key in live:
                record.partner = live.pop(key)
                record.partner.partner = record

    def op_name(self, record):
        """The op of the allocation, also for its release; None where it was not recorded or had no op."""
        if record.bytes <= 0:
            record = record.partner
        if record is None or record.op is None:
            return None
        name, above = record.op.name, record.op
        if not name.startswith('aten::empty'):
            return name
        above = above.parent
        while above is not None and above.kind not in AROUND:
            above = above.parent
        if above is None:
            return name
        return '%s (%s)' % (above.name, name)

    def blocks(self, start=None, end=None):
        """(op, device, bytes, allocated at, released at): every block with an event in the window."""
        out = []
        for record in self.records:
            if record.address is None or record.bytes <= 0 and record.partner is not None:
                continue
            first, last = (record, record.partner) if record.bytes > 0 else (None, record)
            times = [r.time for r in (first, last) if r is not None]
            if start is None or any(start <= t < end for t in times):
                out.append((self.op_name(record), record.device, abs(record.bytes),
                            first.time if first else None, last.time if last else None))
        return out

    def curve(self, start=None, end=None):
        return [(r.time, r.device, r.allocated, r.reserved) for r in self.records
                if r.allocated is not None and r.reserved is not None and r.address is not None
                and (start is None or start <= r.time < end)]

    def peaks(self, start=None, end=None):
        """{device: (time, allocated, reserved)}, the first moment of the most."""
        best = {}
        for time, device, allocated, reserved in self.curve(start, end):
            if device not in best or allocated > best[device][1]:
                best[device] = (time, allocated, reserved)
        return best

    def statistics(self, start=None, end=None):
        """{(op, device): calls and six sums}: records and calls by their time in the window."""
        calls = defaultdict(int)
        for item in self.trace.slices:
            if item.kind == 'op' and not item.dead and (start is None or start <= item.start < end):
                calls[item.name] += 1
        table = {}
        for record in self.records:
            if record.op is None or start is not None and not start <= record.time < end:
                continue
            for depth, item in enumerate(self.ops_around(record.op)):
                row = table.setdefault((item.name, record.device), dict.fromkeys(
                    ('size_increase', 'self_size_increase', 'allocations', 'self_allocations',
                     'allocation_bytes', 'self_allocation_bytes'), 0))
                for own in ('', 'self_')[:1 if depth else 2]:
                    row[own + 'size_increase'] += record.bytes
                    if record.bytes > 0:
                        row[own + 'allocations'] += 1
                        row[own + 'allocation_bytes'] += record.bytes
        return {key: {'calls': calls[key[0]], **row} for key, row in table.items() if any(row.values())}

    @staticmethod
    def ops_around(op):
        """The op and the ops around it; duplicates stand for their outer op."""
        out = []
        while op is not None:
            if op.kind == 'op' and not op.dead:
                out.append(op)
            op = op.owner
        return out
