"""The plugin's answers about modules, and the tree it draws."""

import csv
import io
from collections import Counter, defaultdict

import ref_modules
from common import Refused, call, rows
from reference import external_id, nanoseconds
from tensorboard_peer import NODES
from tensorboard_time import backward_of, once

FIGURES = ('calls', 'host_total', 'host_self', 'device_total', 'device_self', 'backward_host', 'backward_device')
# Types of the plugin's nodes and our kinds.
TYPES = {'ProfilerStep': 'step', 'Module': 'module', 'Operator': 'op'}


@once
def modules_of(span):
    table = ref_modules.table(span.trace)
    ref_modules.add_backward(span.trace, table, ref_modules.arrows(span.events, nanoseconds))
    return {name: row for (name, _), row in table.items()}


def modules(check, span, params, answer):
    got = {r['module']: r for r in rows(span.ask('modules'), 'modules')}
    if answer['status'] != 200:
        check.equal('modules', [], sorted(got))
        return
    for name in sorted(set(modules_of(span)) | set(got)):
        for figure in FIGURES:
            check.equal('module %s %s, reference' % (name, figure), modules_of(span).get(name, {}).get(figure),
                        got.get(name, {}).get(figure) or 0)
    seen, parents = {}, defaultdict(set)
    for node in answer['response']['data']:
        collect(check, node, None, seen, parents)
    for name, above in parents_of(span).items():
        check.equal('module %s is below' % name, sorted(above, key=str), sorted(parents[name], key=str))
    check.equal('modules', sorted(seen), sorted(got))
    sizes = Counter()
    for item in span.trace.slices:
        if item.kind == 'module':
            sizes[ref_modules.display(item.name)] += 1
    inside = ranges_inside(span)
    for name, node in seen.items():
        mine = got.get(name)
        if mine is None:
            continue
        what = 'module %s' % name
        check.equal(what + ' calls', node['occurences'], mine['calls'])
        check.time(what + ' host', node['host_duration'], mine['host_total'], sizes[name])
        check.time(what + ' device', node['device_duration'], mine['device_total'] or 0, inside[name])
        check.time(what + ' own device', node['self_device_duration'], mine['device_self'] or 0, inside[name])
        check.time(what + ' own host as the plugin counts', node['self_host_duration'], peer_self(span)[name],
                   100 * (inside[name] + sizes[name]))
        check.leave('module_self')
        check.equal(what + ' operators', node['operators'], operators_of(span)[name])
        whole = node['device_duration'] or node['host_duration']
        check.near(what + ' mean', node['avg_duration'], whole / node['occurences'], 1e-6)
        check.equal(what + ' number', str(node['id']), name.rsplit('_', 1)[-1])
        if len(parents[name]) == 1:
            check.equal(what + ' parent', next(iter(parents[name])), mine['parent'])


def collect(check, node, parent, seen, parents):
    """A module that is called from several has a node below each of them, with the same figures."""
    stack = [(node, parent)]
    while stack:
        node, parent = stack.pop()
        before = seen.setdefault(node['name'], node)
        for key in ('occurences', 'operators', 'host_duration', 'self_host_duration', 'device_duration', 'avg_duration',
                    'self_device_duration', 'id'):
            if before is not node and parent in parents[node['name']]:
                check.equal('module %s twice: %s' % (node['name'], key), before[key], node[key])
        parents[node['name']].add(parent)
        stack += [(child, node['name']) for child in node['children']]


@once
def parents_of(span):
    """{module: names of the modules right around its calls}"""
    out = defaultdict(set)
    for item in span.trace.slices:
        if item.kind == 'module':
            above = ref_modules.outer_module(item)
            out[ref_modules.display(item.name)].add(ref_modules.display(above.name) if above is not None else None)
    return out


@once
def operators_of(span):
    """{module: operators right below its calls}"""
    count, parents = Counter(), backward_of(span).parents
    for item in span.trace.slices:
        above = parents[id(item)]
        if item.kind == 'op' and not item.dead and above is not None and above.kind == 'module':
            count[ref_modules.display(above.name)] += 1
    return count


@once
def ranges_inside(span):
    """{module: pieces of device work below it}"""
    count, inner = Counter(), ref_modules.own_modules(span.trace)
    for work in span.trace.device_work():
        call_ = inner.get(id(work.launch)) if work.launch is not None else None
        while call_ is not None:
            count[ref_modules.display(call_.name)] += 1
            call_ = ref_modules.outer_module(call_)
    return count


@once
def peer_self(span):
    """{module: ns}: host time less that of every node right below it.

    Calls without an id are all taken for calls of the first module.
    """
    out, parents = Counter(), backward_of(span).parents
    for item in span.trace.slices:
        if item.kind == 'module':
            out[ref_modules.display(item.name)] += item.dur
        above = parents[id(item)]
        if item.kind in NODES and not item.dead and above is not None and above.kind == 'module':
            out[ref_modules.display(above.name)] -= item.dur
    first = min((s for s in span.trace.slices if s.kind == 'module'), key=lambda s: (s.start, -s.dur))
    out[ref_modules.display(first.name)] -= sum(s.dur for s in span.trace.slices
                                                if s.kind == 'runtime' and external_id(s) is None)
    return out


@once
def exported(span):
    """The slices of the program's CSV export: (name, kind, start, duration, id, parent)."""
    status, out, err = call(['export', span.path, '--to', 'csv', '-o', '-', '--no-cache'])
    if status != 0:
        raise Refused(status, err)
    reader = csv.reader(io.StringIO(out.decode('utf-8'), newline=''))
    head = next(reader)
    columns = [head.index(c) for c in ('id', 'name', 'kind', 'start_ns', 'duration_ns', 'parent')]
    return [[row[c] for c in columns] for row in reader]


def tree(check, span, params, answer):
    """The nodes of the plugin's tree are slices of ours, with the same times, below the same slices."""
    response = answer['response']
    table = exported(span)
    by_id = {row[0]: row for row in table}
    dead = {(s.name, s.start - span.start, s.dur) for s in span.trace.slices if s.dead}
    places = defaultdict(list)
    for row in table:
        places[row[1], int(row[3]) // 2000].append(row)
    backward = backward_of(span)
    above = []
    threads = {s.track[1] for s in span.trace.slices}
    for depth, node in response['first_nodes']:
        check.equal('depth of %s' % node['name'], True, depth <= len(above))
        check.equal('thread of %s' % node['name'], True, node['tid'] in threads)
        above = above[:depth]
        name, start, end = node['name'], node['start_time'] * 1000, node['end_time'] * 1000
        what = 'node %s at %.3f us' % (name, node['start_time'])
        if node['type'] == 'backward' or name == 'CallTreeRoot':
            check.leave('root' if depth == 0 else 'backward_node')
            above.append(None)
            continue
        row = closest(places, name, start - span.start, end - start)
        if row is None:
            check.fail(what + ' is missing')
            above.append(None)
            continue
        check.near(what + ' start', start - span.start, int(row[3]), 1)
        check.near(what + ' duration', end - start, int(row[4]), 2)
        if depth and above[-1] is not None:
            check.equal(what + ' is below', above[-1][1], parent_node(by_id, row, dead))
        above.append(row)
    counts = Counter(s.kind for s in span.trace.slices if s.kind in ('step', 'module'))
    mine = Counter(row[2] for row in table)
    for kind in ('step', 'module'):
        check.equal('%ss' % kind, counts[kind], mine[kind])
    node_counts(check, span, response, backward)


def closest(places, name, start, duration):
    """The slice of that name nearest in time; ties by its length."""
    bucket = int(start) // 2000
    found = [row for b in (bucket - 1, bucket, bucket + 1) for row in places[name, b]
             if abs(int(row[3]) - start) <= 1 and abs(int(row[4]) - duration) <= 2]
    return min(found, key=lambda row: abs(int(row[4]) - duration)) if found else None


def parent_node(by_id, row, dead):
    """Name of the slice around it that the plugin has a node for."""
    above = by_id.get(row[5])
    while above is not None:
        key = (above[1], int(above[3]), int(above[4]))
        if above[2] in NODES and key not in dead:
            return above[1]
        above = by_id.get(above[5])
    return None


def node_counts(check, span, response, backward):
    """Numbers of nodes by type, from the reference without what the plugin loses or does not show."""
    tid = response['first_nodes'][0][1]['tid']
    moved = {id(root): root for root in backward.roots}
    main = {s.track for s in span.trace.slices if s.track[1] == tid and s.kind in NODES}
    count = Counter()
    for item in span.trace.slices:
        if item.kind in NODES and not item.dead and id(item) not in backward.lost:
            if item.track in main or under(item, moved, backward.parents):
                count[item.kind] += 1
    check.equal('nodes by type', response['nodes'], sum(response['per_type'].values()))
    check.equal('nodes by depth', response['nodes'], sum(response['per_depth'].values()))
    check.equal('roots', 1, response['per_type'].get('Python'))
    check.equal('nodes that are kept', min(200, response['nodes']), len(response['first_nodes']))
    depths = Counter(str(depth) for depth, _ in response['first_nodes'])
    check.equal('depths', [], [d for d, n in depths.items() if n > response['per_depth'].get(d, 0)])
    if len(response['first_nodes']) == response['nodes']:
        check.equal('all depths', dict(depths), response['per_depth'])
    for type_, kind in TYPES.items():
        check.equal('nodes of type %s' % type_, response['per_type'].get(type_, 0), count[kind])
    check.leave('first_thread')


def under(item, roots, parents):
    while item is not None:
        if id(item) in roots:
            return True
        item = parents[id(item)]
    return False
