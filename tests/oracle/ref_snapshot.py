"""Memory snapshots of PyTorch, slowly: what every table of `tacho memory` should say.

The initial state is found the other way round than the program does it: from the final state back
through the history, event by event.
"""

import bisect
import pickle
import re
from collections import Counter, defaultdict


class Refusing(pickle.Unpickler):
    """Plain data only."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError('%s.%s' % (module, name))


def load(path):
    with open(path, 'rb') as file:
        found = Refusing(file).load()
    return {'segments': found, 'device_traces': []} if isinstance(found, list) else found


def rounded(size):
    """What the allocator gives at least for what was asked for."""
    return max(512, -(-size // 512) * 512)


def frames_of(block):
    if 'frames' in block:
        return block['frames']
    history = block.get('history') or []
    return history[0]['frames'] if history else []


def is_python(frame):
    return frame['filename'].endswith('.py') or frame['filename'].startswith('<')


def is_users(frame):
    path = frame['filename']
    if not is_python(frame) or frame['line'] <= 0:
        return False
    packages = re.search(r'-packages/(.*)', path)
    if packages:
        return not packages.group(1).startswith('torch/')
    if path.startswith('<') or '/lib/python3' in path:
        return False
    return not re.search(r'/torch/(nn|autograd|optim|distributed|utils)/|/torch/_', path)


def operator(frame):
    found = re.match(r'at::_ops::(?!empty)(.*?)::', frame['name'])
    if found:
        return 'aten::' + found.group(1)
    found = re.match(r'torch::autograd::generated::(.*?)::', frame['name'])
    return found and found.group(1)


def spell(frame):
    return '%s:%d %s' % (re.split(r'[/\\]', frame['filename'])[-1], frame['line'], frame['name'])


def name_of(frames):
    """The name that a call stack gives; None when there is no stack."""
    for frame in frames:
        if is_users(frame):
            return spell(frame)
    for frame in frames:
        if operator(frame):
            return operator(frame)
    for frame in frames:
        if is_python(frame) and frame['line'] > 0:
            return spell(frame)
    plumbing = ('c10::', 'torch::unwind', 'torch::CapturedTraceback',
                'torch::cuda::(anonymous namespace)::gather', 'torch::(anonymous namespace)::gather')
    native = [f for f in frames if not f['name'].startswith(plumbing)] or frames
    return native[0]['name'] if native else None


def names_above(frames):
    """The name, and those of the user's frames that called it, innermost first."""
    names = [name_of(frames)]
    users = [i for i, frame in enumerate(frames) if is_users(frame)]
    return names + [spell(frames[i]) for i in users[1:]] if users else names


class Device:
    """One device replayed: rows as the program makes them, totals, who holds what."""

    def __init__(self, number, history, segments, has_time, base_us):
        self.name = 'GPU%d' % number
        whole = [e for e in history if isinstance(e.get('action'), str)]
        requests = any(e['action'] in ('free_requested', 'free') for e in whole)
        self.release = {'free_requested', 'free'} if requests else {'free_completed'}
        self.times = []
        for i, event in enumerate(whole):
            time = (event.get('time_us', base_us) - base_us) * 1000 if has_time else i * 1000
            self.times.append(max([time] + self.times[-1:]))
        self.history = whole
        self.final = {b['address']: b for s in segments for b in with_addresses(s)
                      if b['state'] == 'active_allocated'}
        self.reserved_at_end = sum(s['total_size'] for s in segments)
        self.segments_at_end = {s['address']: s['total_size'] for s in segments if 'address' in s}
        self.in_pieces = any(s.get('is_expandable') for s in segments) or \
            any(e['action'] in ('segment_map', 'segment_unmap') for e in whole)
        self.find_start()
        self.play()

    def find_start(self):
        """Back from the end: what was alive, and reserved, when the history begins."""
        alive = {address: block['size'] for address, block in self.final.items()}
        self.reserved_at_start = self.reserved_at_end
        self.segments_at_start = dict(self.segments_at_end)
        self.given = {}  # by place in the history: bytes of the block
        for at, event in reversed(list(enumerate(self.history))):
            action = event['action']
            if action == 'alloc':
                least = rounded(event['size'])
                self.given[at] = max(least, alive.pop(event['addr'], least))
            elif action in self.release:
                self.given[at] = alive[event['addr']] = rounded(event['size'])
            elif action in ('segment_alloc', 'segment_map'):
                self.reserved_at_start -= event['size']
                self.segments_at_start.pop(event['addr'], None)
            elif action in ('segment_free', 'segment_unmap'):
                self.reserved_at_start += event['size']
                self.segments_at_start[event['addr']] = event['size']
        self.alive_at_start = alive
        touched = {e['addr'] for e in self.history if e['action'] == 'alloc' or e['action'] in self.release}
        self.existing = [a for a in alive if a not in touched]

    def play(self):
        """Forward: a point of the curve for each event, what is alive at the first highest one."""
        alive = {a: (size, name_of(frames_of(self.final[a])) if a in self.existing else None)
                 for a, size in self.alive_at_start.items()}
        reserved = self.reserved_at_start
        self.segments = dict(self.segments_at_start)
        self.curve, self.points, self.peak = [], Counter(), None
        self.holders = {}
        if self.existing:
            self.note(self.times[0] if self.times else 0, alive, reserved)
        for at, (time, event) in enumerate(zip(self.times, self.history)):
            action = event['action']
            if action == 'alloc':
                alive[event['addr']] = (self.given[at], name_of(event['frames']) or '')
            elif action in self.release:
                alive.pop(event['addr'], None)
            elif action in ('segment_alloc', 'segment_map'):
                reserved += event['size']
                self.segments[event['addr']] = event['size']
            elif action in ('segment_free', 'segment_unmap'):
                reserved -= event['size']
                self.segments.pop(event['addr'], None)
            elif action != 'oom':
                if action != 'free_completed':
                    self.points[event.get('user_metadata') or action] += 1
                continue
            self.note(time, alive, reserved)
        self.alive_at_end = alive

    def note(self, time, alive, reserved):
        allocated = sum(size for size, _ in alive.values())
        self.curve.append((time, allocated, reserved))
        if self.peak is None or allocated > self.peak[1]:
            self.peak = (time, allocated, reserved)
            self.holders = held(alive)
            self.at_peak = dict(self.segments), dict(alive)

    def free_space(self):
        """At the peak: bytes of segments without a block, and free bytes of the others."""
        segments, alive = self.at_peak
        used = defaultdict(int)
        starts = sorted(segments)
        for address, (size, _) in alive.items():
            used[starts[bisect.bisect_right(starts, address) - 1] if starts else 0] += size
        free = {start: size - used[start] for start, size in segments.items()}
        return (sum(n for start, n in free.items() if not used[start]),
                sum(n for start, n in free.items() if used[start]))

    def sums(self):
        """{name: [allocations, bytes, increase, the same of what it called]}, from the events' own stacks."""
        found = defaultdict(lambda: [0] * 6)
        for at, event in enumerate(self.history):
            freed = event['action'] in self.release
            if not event['frames'] or not (freed or event['action'] == 'alloc'):
                continue
            given = self.given[at]
            signed = -given if freed else given
            for i, name in enumerate(names_above(event['frames'])):
                row = found[name]
                for offset in (0, 3) if i == 0 else (3,):
                    row[offset] += not freed and given > 0
                    row[offset + 1] += 0 if freed else given
                    row[offset + 2] += signed
        return found


def held(alive):
    """{name: (bytes, blocks)}."""
    found = defaultdict(lambda: (0, 0))
    for size, name in alive.values():
        found[name] = (found[name][0] + size, found[name][1] + 1)
    return dict(found)


def with_addresses(segment):
    address = segment.get('address', 0)
    for block in segment['blocks']:
        address = block.get('address', address)
        yield dict(block, address=address)
        address += block['size']


def devices(snapshot):
    histories = snapshot.get('device_traces') or []
    segments = defaultdict(list)
    for segment in snapshot.get('segments') or []:
        segments[segment.get('device', 0)].append(segment)
    times = [e['time_us'] for h in histories for e in h if 'time_us' in e]
    if times or not any(histories):
        times += [a['time_us'] for a in snapshot.get('external_annotations') or []]
    found = []
    for number in sorted(set(range(len(histories))) | set(segments)):
        history = histories[number] if number < len(histories) else []
        if history or segments[number]:
            found.append(Device(number, history, segments[number], bool(times), min(times, default=0)))
    return found
