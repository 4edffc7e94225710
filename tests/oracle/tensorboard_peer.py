"""What the plugin does to backward work, so that what it loses can be distinguished from what we get wrong.

It takes the nodes of the autograd engine out of their threads and hangs them under the modules whose forward
operators they undo.  Nodes of operators outside any module are lost, with all that is inside them; and
since the backward thread is then empty it is removed, so that its memory events find no operator.
"""

from collections import Counter, defaultdict

import ref_modules
from common import dims
from reference import nanoseconds

NODES = {'op', 'module', 'data_loading', 'optimizer', 'step'}
FIGURES = ('calls', 'host_total', 'host_self', 'device_total', 'device_self')


def shape_of(item):
    value = item.args.get('Input Dims', item.args.get('Input dims'))
    return dims(value if value is not None else [])


def node_parents(trace):
    """{id(slice): the innermost slice around it that is a node of the plugin}"""
    parents = {}
    for track in trace.tracks.values():
        for item in track:
            above = item.parent
            if above is not None and above.kind not in NODES:
                above = parents[id(above)]
            parents[id(item)] = above
    return parents


def main_track(trace):
    """The thread with the steps, else the one with the longest range without backward nodes."""
    for item in trace.slices:
        if item.kind == 'step':
            return item.track
    best = {}
    for track, items in trace.tracks.items():
        nodes = [s for s in items if s.kind in NODES]
        if nodes and not any(s.name.startswith(ref_modules.ENGINE) for s in nodes):
            best[track] = max(s.end for s in nodes) - min(s.start for s in nodes)
    return max(best, key=best.get) if best else None


class Backward:
    """`lost`: ids of ops that are nowhere; `unseen`: ids of ops that memory events do not find."""

    def __init__(self, trace, events):
        self.trace, self.lost, self.unseen, self.roots = trace, set(), set(), []
        self.parents = node_parents(trace)
        self.root_of = self.find_roots()
        pairs = dict(ref_modules.arrows(events, nanoseconds))
        modules = [s for s in trace.slices if s.kind == 'module' and self.on_top(s)]
        groups = self.groups()
        if not pairs or not modules or not groups:
            return
        attached = self.attached(pairs, groups)
        main = main_track(trace)
        self.roots = [root for group in groups for root in group]
        inside = defaultdict(list)
        for item in trace.slices:
            root = self.root_of[id(item)]
            if root is not None:
                inside[id(root)].append(item)
        for number, group in enumerate(groups):
            for root in group:
                ids = {id(s) for s in inside[id(root)]}
                if number not in attached:
                    self.lost |= ids
                if number not in attached or root.track != main:
                    self.unseen |= ids

    def on_top(self, item):
        above = self.parents[id(item)]
        return above is None or above.kind == 'step'

    def find_roots(self):
        """{id(slice): the node of the engine right below a step or a thread that contains it, or None}"""
        roots = {}
        for track in self.trace.tracks.values():
            for item in track:
                above = self.parents[id(item)]
                found = roots[id(above)] if above is not None else None
                if found is None and item.kind == 'op' and item.name.startswith(ref_modules.ENGINE) \
                        and self.on_top(item):
                    found = item
                roots[id(item)] = found
        return roots

    def groups(self):
        out = []
        for track in sorted(self.trace.tracks.values(), key=lambda items: items[0].start):
            for item in track:
                if item.kind == 'op' and item.name.startswith(ref_modules.ENGINE) and self.on_top(item):
                    if item.name == ref_modules.ACCUMULATE and out:
                        out[-1].append(item)
                    else:
                        out.append([item])
        return out

    def attached(self, pairs, groups):
        """Numbers of the groups that find a module."""
        starts, numbers = {}, {id(root): i for i, group in enumerate(groups) for root in group}
        for item in self.trace.slices:
            root = self.root_of[id(item)]
            if item.kind == 'op' and root is not None and root is not item:
                starts.setdefault(item.start, numbers[id(root)])
        in_module = set()
        for item in self.trace.slices:
            if item.kind == 'op' and item.start in pairs:
                above = item
                while above is not None:
                    if above.kind == 'module':
                        in_module.add(item.start)
                        break
                    above = self.parents[id(above)]
        return {starts[pairs[start]] for start in in_module if pairs[start] in starts}


def lost_operators(span, backward):
    """{key: figures} that the plugin's operator tables lack, by name and by name and shape."""
    table = defaultdict(Counter)
    for item in span.trace.slices:
        if item.kind == 'op' and not item.dead and id(item) in backward.lost:
            for key in ((item.name, None), (item.name, shape_of(item))):
                row = table[key]
                row['calls'] += 1
                row['host_total'] += item.dur
                row['host_self'] += item.dur - sum(c.dur for c in item.children)
                row['device_total'] += item.device_total
                row['device_self'] += item.device_self
    return table


def odd_names(trace, parents):
    """{operator name: row of DEFECTS} of operators the plugin's tree treats differently.

    It drops a node that overlaps another partially, so all around it change; and it merges an operator with
    the only node inside it of the same name, whatever calls the outer one makes besides.
    """
    odd = {}
    for track in trace.tracks.values():
        stack = []
        for item in track:
            if item.kind not in NODES:
                continue
            while stack and item.start >= stack[-1].end:
                stack.pop()
            if stack and item.end > stack[-1].end:
                for other in [item] + stack:
                    odd[other.name] = 'overlap'
            else:
                stack.append(item)
    inside = defaultdict(list)
    for item in trace.slices:
        above = parents[id(item)]
        if item.kind in NODES and above is not None:
            inside[id(above)].append(item)
    for item in trace.slices:
        some = inside[id(item)]
        if item.kind == 'op' and len(some) == 1 and some[0].kind == 'op' and some[0].name == item.name \
                and not some[0].dead:
            while item is not None:
                odd[item.name] = 'duplicate'
                item = item.owner
    return odd
