"""VisualDL's memory page a second time, and what it should have been: both from the events of a Paddle JSON file.

The original places memory events by times cut to microseconds in a tree of its own (spec 4, 10): events of one
microsecond come in reverse, those outside every range and those of inner ranges below the first level are lost, those of
a range inside an operator count twice. `peer` does the same, so that a recorded answer can be distinguished from a
mistake of ours; `right` is every event of the file once.
"""

import glob
import json
import os
import re

HOST = {'Operator', 'Dataloader', 'ProfileStep', 'UserDefined', 'OperatorInner', 'Forward', 'Backward', 'Optimization',
        'Communication', 'PythonOp', 'PythonUserDefined'}
MEMORY = {'Allocate', 'Free', 'ReservedAllocate', 'ReservedFree'}


class Node:
    def __init__(self, name, kind, start, end):
        self.name, self.kind, self.start, self.end = name, kind, start, end
        self.children, self.memory = [], []


class Event:
    def __init__(self, event, at):
        a = event['args']
        self.time, self.place, self.kind, self.at = event['ts'] * 1000, a['place'], event['cat'], at
        self.address, self.bytes = int(a['addr']), int(a['increase_bytes'])
        self.allocated, self.reserved = int(a['current_allocated']), int(a['current_reserved'])
        self.peak_allocated, self.peak_reserved = (int(a.get('peak_' + k, 0)) for k in ('allocated', 'reserved'))


def ns(text):
    return int(float(text.split()[0]) * 1000)


def read(folder, worker, span):
    """The trace events of a worker's recording; None when it is not JSON (raw quotes). A protobuf file is next to the
    same recording as JSON, which is also what the original makes of it before it reads it."""
    found = sorted(glob.glob(os.path.join(folder, worker + '_time_*.json')))
    if not found and folder.endswith('_pb'):
        found = sorted(glob.glob(os.path.join(folder[:-3], worker + '_time_*.json')))
    for path in found:
        try:
            data = json.load(open(path, encoding='utf-8'), strict=False)
        except ValueError:
            return None
        number = data.get('span_indx', data.get('span_index', '0'))
        if len(found) == 1 or str(number) == str(span):
            return [e for e in data['traceEvents'] if e]
    return None


def split(events):
    """Ranges and memory events by thread, times from the origin."""
    threads, origin = {}, None
    for at, e in enumerate(events):
        tid = re.sub(r'\(.*\)$', '', str(e.get('tid')))
        if e.get('ph') == 'X' and e['cat'] in HOST:
            name = e['name'][:e['name'].rindex('[')] if '[' in e['name'] else e['name']
            node = Node(name, e['cat'], ns(e['args']['start_time']), ns(e['args']['end_time']))
            threads.setdefault(tid, ([], []))[0].append(node)
            if node.start == 0:
                origin = e['ts'] * 1000
        elif e.get('ph') == 'i' and e.get('cat') in MEMORY:
            threads.setdefault(tid, ([], []))[1].append(Event(e, at))
    for _, memory in threads.values():
        for e in memory:
            e.time -= origin or 0
    return threads


def place_memory(node, pending):
    for child in node.children:
        place_memory(child, pending)
    first = stop = None
    for i, e in enumerate(pending):
        if e.time > node.end:
            stop = i
            break
        if e.time >= node.start:
            first = i if first is None else first
            node.memory.append(e)
    if first is not None:
        del pending[first:stop if stop is not None else len(pending)]


def book(node, out):
    for child in node.children:
        if child.kind == 'Operator':
            for part in child.children:
                out.extend((child.name, e) for e in part.memory)
        if child.kind != 'OperatorInner':
            out.extend((child.name, e) for e in child.memory)
        book(child, out)


def nest(ranges):
    """The ranges of a thread as a tree."""
    root = Node('root node', 'UserDefined', 0, float('inf'))
    stack = [root]
    for node in sorted(ranges, key=lambda n: (n.start, -n.end)):
        while node.start >= stack[-1].end:
            stack.pop()
        stack[-1].children.append(node)
        stack.append(node)
    return root


def peer(events):
    """(name, event) for every point the original shows."""
    out = []
    for ranges, memory in split(events).values():
        if not ranges:
            continue
        root = nest(ranges)
        place_memory(root, sorted(memory, key=lambda e: (e.time, -e.at)))
        book(root, out)
    return out


def right(events):
    """Every memory event of the file."""
    return [e for _, memory in split(events).values() for e in memory]


def blocks(events):
    """Pairs of (address, bytes): an allocation with its release, or one of them alone, in order of time."""
    found, live = [], {}
    for e in events:
        key = (e.address, e.kind.startswith('Reserved'))
        if not e.kind.endswith('Free'):
            live.setdefault(key, []).append(e)
            found.append(e)
        elif live.get(key):
            live[key].pop()
        else:
            found.append(e)
    return [(str(e.address), round(abs(e.bytes) / 1024, 2)) for e in found]


def by_name(events, wanted):
    """The rows of the table by name: counts and KB of allocations and releases."""
    sums = {}
    for name, e in peer(events) if events else []:
        if not wanted(e):
            continue
        row = sums.setdefault((name, 'Reserved' if e.kind.startswith('Reserved') else 'Allocated'), [0, 0, 0, 0])
        free = e.kind.endswith('Free')
        row[1 if free else 0] += 1
        row[3 if free else 2] += abs(e.bytes) / 1024
    return [key + (r[0], r[1], round(r[2], 2), round(r[3], 2), round(r[2] - r[3], 2)) for key, r in sums.items()]


def pairs(booked):
    """Records of the allocation table: (address, type, event, time, event, time, KB); times in ns, None where unknown."""
    found, live = [], {}
    for name, e in sorted(booked, key=lambda p: (p[1].time, -p[1].at)):
        kind = 'ReservedAllocate' if e.kind.startswith('Reserved') else 'Allocated'
        key, size = (e.address, kind), round(abs(e.bytes) / 1024, 2)
        if not e.kind.endswith('Free'):
            record = [hex(e.address), kind, name, e.time, None, None, size]
            live.setdefault(key, []).append(record)
            found.append(record)
        elif live.get(key):
            live[key].pop()[4:6] = [name, e.time]
        else:
            found.append([hex(e.address), kind, None, None, name, e.time, size])
    return found
