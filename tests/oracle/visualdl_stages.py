"""VisualDL's stages on the host a second time, from the events of a Paddle JSON file (spec 6.3 to 6.5).

A stage is a range of that kind right below a step, counted range by range.  What is below it, but not it, is in it; what
else is below a step is in Other, with itself.
"""

import visualdl_memory

STAGES = ('Dataloader', 'Forward', 'Backward', 'Optimization')


class Stages:
    """`rows`: {stage: lengths of its ranges}, `inner`: {stage: [ranges of the kind OperatorInner]}, in ns."""

    def __init__(self, events):
        self.rows, self.inner, self.by_step = {}, {}, []
        for ranges, _ in visualdl_memory.split(events).values():
            for step in visualdl_memory.nest(ranges).children:
                if step.kind == 'ProfileStep':
                    self.add(step)
                else:
                    self.collect(step, step.kind if step.kind in STAGES else 'Other', own=step.kind not in STAGES)

    def add(self, step):
        last = {}
        rest = step.end - step.start
        self.rows.setdefault('ProfileStep', []).append(rest)
        for child in step.children:
            stage = child.kind if child.kind in STAGES else 'Other'
            self.collect(child, stage, own=stage == 'Other')
            if stage != 'Other':
                length = child.end - child.start
                self.rows.setdefault(stage, []).append(length)
                rest -= length
                last[stage] = length
        self.rows.setdefault('Other', []).append(rest)
        self.by_step.append({**last, 'Other': rest})

    def collect(self, node, stage, own):
        if own and node.kind == 'OperatorInner':
            self.inner.setdefault(stage, []).append((node.start, node.end))
        for child in node.children:
            self.collect(child, stage, True)
