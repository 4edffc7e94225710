"""Modules the right way: self times leave out the modules inside, both on the host and on the device."""

from collections import defaultdict

ENGINE = 'autograd::engine::evaluate_function: '
ACCUMULATE = ENGINE + 'torch::autograd::AccumulateGrad'


def display(name):
    return name[11:] if name.startswith('nn.Module: ') else name


def outer_module(item):
    """The innermost module around a slice on its thread."""
    above = item.parent
    while above is not None and above.kind != 'module':
        above = above.parent
    return above


def own_modules(trace):
    """{id(slice): innermost module call that contains it, itself if it is one}."""
    inner = {}
    for track in trace.tracks.values():
        for item in track:
            inner[id(item)] = item if item.kind == 'module' else \
                inner[id(item.parent)] if item.parent is not None else None
    return inner


def module_at(calls, time):
    """The last module call in track order that is open at a time."""
    found = None
    for call in calls:
        if call.start > time:
            break
        if time < call.end:
            found = call
    return found


def table(trace):
    """{(name, module id): figures}; the parent is the module of the first call, by its name."""
    calls = [s for s in trace.slices if s.kind == 'module']
    calls.sort(key=lambda s: s.start)
    rows, by_track = {}, defaultdict(list)
    for call in calls:
        by_track[call.track].append(call)
    device = defaultdict(int)
    for work in trace.device_work():
        if work.launch is not None:
            inner = module_at(by_track[work.launch.track], work.launch.start)
            device[id(inner)] += work.dur
    children = defaultdict(list)
    for call in calls:
        children[id(outer_module(call))].append(call)
    total = {}
    for call in sorted(calls, key=lambda s: -s.depth):
        total[id(call)] = device[id(call)] + sum(total[id(c)] for c in children[id(call)])
    for call in calls:
        key = display(call.name), call.args['Python module id']
        above = outer_module(call)
        depth = 0
        while above is not None:
            above, depth = outer_module(above), depth + 1
        above = outer_module(call)
        row = rows.setdefault(key, {
            'parent': display(above.name) if above is not None else None, 'depth': depth, 'calls': 0,
            'host_total': 0, 'host_self': 0, 'device_total': 0, 'device_self': 0})
        row['calls'] += 1
        row['host_total'] += call.dur
        row['host_self'] += call.dur - sum(c.dur for c in children[id(call)])
        row['device_total'] += total[id(call)]
        row['device_self'] += device[id(call)]
    return rows


def add_backward(trace, rows, flows):
    """backward_host, backward_device of every row; flows: [(forward start, backward start)] in ns.

    A node of the autograd engine belongs to the innermost module around the forward op that an
    arrow leads from; accumulation of gradients belongs to the node before it on its thread.
    """
    for row in rows.values():
        row['backward_host'] = row['backward_device'] = 0
    roots, forward = [], defaultdict(list)
    for track in trace.tracks.values():
        engine = [s for s in track if s.name.startswith(ENGINE) and s.kind == 'op' and not s.dead]
        roots += [s for s in engine if not under_engine(s)]
    for item in trace.slices:
        if item.kind == 'op':
            forward[item.start].append(item)
    owner = {}
    for source, sink in flows:
        root = next((r for r in roots if r.start <= sink < r.end), None)
        ops = [s for s in forward[source] if not under_engine(s)]
        if root is not None and ops and id(root) not in owner:
            owner[id(root)] = outer_module(ops[-1])
    before = {}
    for root in roots:
        module = owner.get(id(root))
        if root.name == ACCUMULATE and module is None:
            module = before.get(root.track)
        before[root.track] = module
        while module is not None:
            row = rows[display(module.name), module.args['Python module id']]
            row['backward_host'] += root.dur
            row['backward_device'] += root.device_total
            module = outer_module(module)


def under_engine(item):
    above = item.owner
    while above is not None:
        if above.name.startswith(ENGINE):
            return True
        above = above.owner
    return False


def arrows(events, nanoseconds):
    """fwdbwd pairs of a trace: [(start of the forward op, start of the backward op)]."""
    ends = defaultdict(dict)
    for event in events:
        if event.get('cat') == 'fwdbwd' and event.get('ph') in ('s', 'f'):
            ends[event.get('id')][event['ph']] = nanoseconds(event.get('ts'))
    return sorted((pair['s'], pair['f']) for pair in ends.values() if len(pair) == 2)
