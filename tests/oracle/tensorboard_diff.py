"""The plugin's comparison of two runs.

It lays the trees of the two main threads side by side, step after step, and pairs modules, their backward parts,
optimizers and data loaders of the same name in order; what is between two pairs is a pair of lists.  tacho aligns
by the names around a call instead and answers in means of a step (docs/COMPARE.md), so this is asked three ways: the
recorded tree against the plugin's arithmetic on the reference, its nodes against tacho's own slices and modules,
and the calls of every operator against `tacho diff`.
"""

from collections import Counter, defaultdict

import ref_modules
from common import ask, rows
from reference import nanoseconds
from tensorboard_modules import closest, exported
from tensorboard_peer import NODES
from tensorboard_time import backward_of, once

PAIRED = {'backward', 'data_loading', 'module', 'optimizer', 'step'}
FIGURES = ('calls', 'host_duration', 'device_duration', 'self_host_duration', 'self_device_duration')


def is_node(item):
    """For an optimizer only its step."""
    if item.kind == 'optimizer' and not item.name.startswith('Optimizer.step#'):
        return False
    return item.kind in NODES and not item.dead


class Node:
    """A range of the plugin's tree; `calls` are the calls of the runtime right below it."""

    def __init__(self, name, kind, start, end, item=None):
        self.name, self.kind, self.start, self.end, self.item = name, kind, start, end, item
        self.children, self.device_self, self.calls = [], 0, []

    def below(self):
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += node.children

    @property
    def dur(self):
        return self.end - self.start

    @property
    def device(self):
        return sum(node.device_self for node in self.below())

    def self_host(self):
        return self.dur - sum(c.dur for c in self.children) - sum(c.dur for c in self.calls)


class Tree:
    """The main thread of a span as the plugin draws it, with the backward work under its modules."""

    def __init__(self, span):
        self.trace, self.of = span.trace, {}
        self.backward = backward_of(span)
        self.root = Node('CallTreeRoot', 'root', 0, 0)
        self.main = next(s.track for s in self.trace.slices if s.kind == 'step')
        engine = {id(root) for root in self.backward.roots}
        for track, items in self.trace.tracks.items():
            for item in items:
                self.add(track, item, engine)
        for work in self.trace.device_work():
            node = self.node_of(work.launch) if work.launch is not None else None
            if node is not None:
                node.device_self += work.dur
        self.move_backward(dict(ref_modules.arrows(span.events, nanoseconds)))

    def node_of(self, item):
        """The node around a slice, or its own."""
        while item is not None and id(item) not in self.of:
            item = self.backward.parents[id(item)]
        return self.of.get(id(item)) if item is not None else None

    def add(self, track, item, engine):
        above = self.node_of(self.backward.parents[id(item)])
        if item.kind == 'runtime' and above is not None:
            above.calls.append(item)
        if not is_node(item):
            return
        node = self.of[id(item)] = Node(item.name, item.kind, item.start, item.end, item)
        if id(item) in engine:
            return
        if above is not None:
            above.children.append(node)
        elif track == self.main:
            self.root.children.append(node)

    def groups(self, pairs):
        """{start of a forward operator: the nodes of the engine that undo it}"""
        groups, out = self.backward.groups(), {}
        number = {id(root): i for i, group in enumerate(groups) for root in group}
        inside = {}
        for item in self.trace.slices:
            root = self.backward.root_of[id(item)]
            if root is not None and root is not item:
                inside.setdefault(item.start, number[id(root)])
        taken = set()
        for forward, backward in sorted(pairs.items()):
            group = inside.get(backward)
            if group is not None and group not in taken:
                taken.add(group)
                out[forward] = [self.of[id(root)] for root in groups[group]]
        return out

    def move_backward(self, pairs):
        groups = self.groups(pairs)
        tops = [node for step in [self.root] + self.root.children if step.kind in ('root', 'step')
                for node in step.children if node.kind == 'module']
        made = [m for m in (self.make_backward(node, groups) for node in tops) if m.children]
        for node in sorted(made, key=lambda n: (n.start, -n.end)):
            self.insert(node)

    def make_backward(self, module, groups):
        made = Node(module.name + '.backward', 'backward', module.start, module.end)
        stack = list(reversed(module.children))
        while stack:
            node = stack.pop()
            if node.kind == 'module':
                made.children.append(self.make_backward(node, groups))
                continue
            if node.kind == 'op':
                made.children += groups.get(node.start, [])
            stack += reversed(node.children)
        made.children.sort(key=lambda n: (n.start, -n.end))
        if made.children:
            made.start, made.end = made.children[0].start, made.children[-1].end
        return made

    def insert(self, node):
        above = self.root
        while True:
            inner = next((c for c in above.children if c.start <= node.start < c.end), None)
            if inner is None:
                break
            above = inner
        above.children.append(node)
        above.children.sort(key=lambda n: (n.start, -n.end))

    def of_steps(self):
        steps = [n for n in self.root.children if n.kind == 'step']
        return [c for s in steps for c in s.children] if steps else self.root.children


@once
def tree_of(span):
    return Tree(span)


def paired(left, right):
    """[(nodes of the left, nodes of the right)] of two lists, cut where both have the same; [] when nowhere."""
    pairs, cursor = [], 0
    for i, node in enumerate(left):
        if node.kind not in PAIRED:
            continue
        for k in range(cursor, len(right)):
            if (right[k].kind, right[k].name) == (node.kind, node.name):
                pairs.append((i, k))
                cursor = k + 1
                break
    out, i0, k0 = [], 0, 0
    for i, k in pairs + [(len(left), len(right))] if pairs else []:
        if left[i0:i] or right[k0:k]:
            out.append((left[i0:i], right[k0:k]))
        if i < len(left):
            out.append((left[i:i + 1], right[k:k + 1]))
        i0, k0 = i + 1, k + 1
    return out


def children_of(left, right):
    if len(left) == 1 and len(right) == 1:
        return paired(left[0].children, right[0].children)
    if len(left) > 1 and len(right) > 1:
        return paired(left, right)
    return []


def sums(nodes):
    """{operator: figures in ns} of all that is below."""
    out = defaultdict(Counter)
    for top in nodes:
        for node in top.below():
            if node.kind != 'op':
                continue
            row = out[node.name]
            row['calls'] += 1
            row['host_duration'] += node.dur
            row['device_duration'] += node.device
            row['self_host_duration'] += node.self_host()
            row['self_device_duration'] += node.device_self
    return out


def one_side(check, what, recorded, nodes):
    check.equal(what + ' name', recorded['name'],
                'Blank' if not nodes else nodes[0].name if len(nodes) == 1 else 'CompositeNodes')
    size = sum(1 for top in nodes for _ in top.below())
    check.time(what + ' host', recorded['duration'], sum(n.dur for n in nodes), size)
    check.time(what + ' device', recorded['device_duration'], sum(n.device for n in nodes), size)
    check.time(what + ' total', recorded['total_duration'], sum(n.device or n.dur for n in nodes), size)
    mine, theirs = sums(nodes), {row['name']: row for row in recorded['aggs']}
    check.equal(what + ' operators', sorted(theirs), sorted(mine))
    for name in sorted(set(mine) & set(theirs)):
        check.equal('%s %s calls' % (what, name), theirs[name]['calls'], mine[name]['calls'])
        for figure in FIGURES[1:]:
            check.time('%s %s %s' % (what, name, figure), theirs[name][figure], mine[name][figure],
                       4 * mine[name]['calls'])


def one_node(check, path, recorded, left, right):
    """A node of the answer and, where the answer has them, all below it."""
    one_side(check, 'diff %s left' % path, recorded['left'], left)
    one_side(check, 'diff %s right' % path, recorded['right'], right)
    mine = children_of(left, right)
    if 'path' in recorded:
        check.equal('diff path', path, recorded['path'])
    if 'children' not in recorded:  # the last level of /diffnode
        return
    check.equal('diff %s parts' % path, len(recorded['children']), len(mine))
    for i, (child, (a, b)) in enumerate(zip(recorded['children'], mine)):
        one_node(check, '%s-%d' % (path, i), child, a, b)


def whole(check, sides, params, answer):
    left, right = (tree_of(span).of_steps() for span in sides)
    one_node(check, '0', answer['response'], left, right)
    for span, name in zip(sides, ('left', 'right')):
        against_slices(check, span, name)
        against_modules(check, span, name)
    against_diff(check, sides, left, right)


def part(check, sides, params, answer):
    """One level of the tree, by its path."""
    left, right = (tree_of(span).of_steps() for span in sides)
    path = params.get('path') or '0'
    for number in path.split('-')[1:]:
        left, right = children_of(left, right)[int(number)]
    one_node(check, path, answer['response'], left, right)


def against_slices(check, span, side):
    """Every node is a slice of tacho's."""
    places = defaultdict(list)
    for row in exported(span):
        places[row[1], int(row[3]) // 2000].append(row)
    for top in tree_of(span).of_steps():
        for node in top.below():
            if node.item is not None:
                found = closest(places, node.name, node.start - span.start, node.dur)
                check.equal('diff %s slice %s at %d' % (side, node.name, node.start - span.start), True,
                            found is not None)


def against_modules(check, span, side):
    """The modules of all steps together are the rows of tacho's table."""
    got = {r['module']: r for r in rows(span.ask('modules'), 'modules')}
    calls = [n for top in tree_of(span).of_steps() for n in top.below() if n.kind == 'module']
    for name in sorted({ref_modules.display(n.name) for n in calls}):
        some = [n for n in calls if ref_modules.display(n.name) == name]
        what = 'diff %s module %s' % (side, name)
        check.equal(what + ' calls', len(some), got[name]['calls'])
        check.equal(what + ' host', sum(n.dur for n in some), got[name]['host_total'])
        check.equal(what + ' device', sum(n.device for n in some), got[name]['device_total'] or 0)


def lost_calls(span):
    """Calls in backward work that the plugin hangs nowhere."""
    tree, kept = tree_of(span), set()
    for top in tree.of_steps():
        kept |= {id(n.item) for n in top.below()}
    return Counter(s.name for s in span.trace.slices
                   if s.kind == 'op' and not s.dead and id(s) not in kept and id(s) in tree.backward.lost)


def against_diff(check, sides, left, right):
    """Calls of every operator, and whether only one of the runs has it."""
    answer = ask('diff', sides[0].path, sides[1].path)
    got = {r['name']: r for r in rows(answer, 'operators')}
    steps = [r['steps'] for r in rows(answer, 'steps')]
    mine = []
    for span, nodes in zip(sides, (left, right)):
        counts = Counter({name: row['calls'] for name, row in sums(nodes).items()})
        lost = lost_calls(span)
        if lost:
            check.leave('backward_lost', len(lost))
        mine.append(counts + lost)
    for name in sorted(set(mine[0]) | set(mine[1])):
        row = got.get(name) or {}
        for side, column in enumerate(('calls_a', 'calls_b')):
            check.near('diff operator %s %s' % (name, column), mine[side][name] / steps[side], row.get(column), 1e-9)
        only = 'removed' if not mine[1][name] else 'added' if not mine[0][name] else None
        check.equal('diff operator %s is only in one' % name, only,
                    row.get('status') if row.get('status') in ('added', 'removed') else None)
