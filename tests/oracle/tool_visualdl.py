"""Recorded answers of VisualDL's profiler page against tacho.

ANSWERS is a list of {request, response}: a route with its parameters and what VisualDL gave.  Each request goes
to the function of its route below; a route without one is a failure.  What the original cannot see or gets wrong
is DEFECTS: the figures a row stands for are not compared with the answer, or only after the row's own arithmetic,
and are counted under its name.  Times of the answers have two decimals of the unit asked for.
"""

import functools
import os
import re
from collections import Counter
from urllib.parse import parse_qsl

from common import DATA, Refused, ask, call, figures, read_answers, remembers, rows, samples, short
import visualdl_memory
import visualdl_stages
from ref_ranges import length, merge

DEFECTS = {
    # id: (section of the spec, what and why)
    'truncation': ('1.3', 'start and end are cut to whole nanoseconds after a multiplication of doubles: each may '
                   'be one too small, and a sum by that for each call'),
    'gap': ('6.2', 'utilisation is a share of the summed steps; ours is of the time from the first step to the last, '
            'gaps between steps included'),
    'sm_sum': ('6.2', 'SM efficiency adds up kernels that run at the same time; ours counts a moment once'),
    'launch_types': ('0.3', 'types 15 and 16 (kernel launches) are not seen: parts of operators and their time are missing'),
    'no_overview': ('0.3', 'no Forward directly below a step: the original has no overview; ours finds stages at any depth'),
    'last_repeat': ('6.4', 'of a stage that comes twice in a step the chart shows the last one only; ours adds them up'),
    'merged_stage': ('6.3', 'calls of a stage are counted range by range; ours joins those that follow each other in a step, so '
                     'calls, means, longest and shortest are of the joined ones'),
    'returned_rows': ('7.1', 'shares of a pie are of the rows it returns'),
    'twice': ('8.1', 'kernels that an operator launches itself are added twice when grouped by attributes'),
    'search': ('8.1', 'searching in that grouping always fails'),
    'shapes_lost': ('0.1', 'shapes that hang on an inner range are lost; ours are those of the operator, one row each'),
    'negative': ('7.3', 'a negative dimension cuts the text of a shape'),
    'phase_names': ('7.2', 'two inner ranges of one class shift the columns behind them, and infer_meta is not known among the '
                    'others'),
    'host_node': ('8.1', 'a kernel outside every operator is named after the range around its call; ours has no operator'),
    'memory_time': ('10', 'memory events are placed by times cut to microseconds, events of one microsecond in reverse, those of '
                    'inner ranges deeper than one level are lost and others counted twice; ours are placed where they were '
                    'recorded'),
    'echo_peak': ('10', 'the two peak series only repeat arguments of the file'),
    'not_loaded': ('0.3', 'the original could not load the file and answers as if the run were empty; ours opens it'),
}
ECHO = {'timeunits': 'a fixed list', 'trace': 'only echoes the file', 'operator/stack_table': 'unfinished in the original: null',
        'descriptions': 'help texts', 'views': 'which pages the original offers', 'runs': 'names of folders'}
# Routes of a comparison that was never written: the original answers nothing, whatever it is asked.
UNWRITTEN = ('comparison/',)
UNITS = {'ns': 1.0, 'us': 1e3, 'ms': 1e6, 's': 1e9}
STAGES = {'ProfileStep': 'step', 'Dataloader': 'data_loading', 'Forward': 'forward', 'Backward': 'backward',
          'Optimization': 'optimizer', 'Other': 'other'}
KINDS = {'Operator': ('op',), 'CudaRuntime': ('runtime',), 'UserDefined': ('annotation',), 'OperatorInner': ('op_phase',),
         'Communication': ('collective',), 'PythonOp': ('python',), 'Kernel': ('kernel',), 'Memcpy': ('memcpy',),
         'Memset': ('memset',)}


class Answers:
    """What the program says of one run, asked once each."""

    def __init__(self, folder):
        self.folder = folder

    def ask(self, analysis, worker, span, *options):
        """Kept, except where faults are put into the answers."""
        return (self.ask_now if remembers() else self.ask_once)(analysis, worker, span, *options)

    @functools.lru_cache(None)
    def ask_once(self, *question):
        return self.ask_now(*question)

    def ask_now(self, analysis, worker, span, *options):
        extra = ['--run', os.path.basename(self.folder)]
        if worker and worker != 'All':
            extra += ['--worker', worker]
        if span is not None:
            extra += ['--span', str(int(span) + 1)]
        return ask(analysis, self.folder, *extra, *options)

    def table(self, name, analysis, q, *options):
        return rows(self.ask(analysis, q.get('worker'), q.get('span'), *options), name)


def unwritten(tally, label, folder, response):
    """It answers null where tacho answers: a run compared with itself is the same, phase by phase."""
    tally.check('%s: nothing' % label, None, response['data'])
    answer = ask('diff', folder, folder, '--run', os.path.basename(folder))
    tally.check('%s: change of each part' % label, [0] * len(rows(answer, 'breakdown')),
                [r['change'] for r in rows(answer, 'breakdown')])
    tally.check('%s: causes' % label, [('unexplained', 0)],
                [(r['id'], r['change']) for r in rows(answer, 'causes')])


class Comparison:
    def __init__(self, tally, label, answers, q, used):
        self.tally, self.label, self.a, self.q, self.used = tally, label, answers, q, used
        self.unit = UNITS[q.get('time_unit', 'us')]

    def time(self, what, theirs, ns, calls=1):
        """A time of the answer, two decimals of the unit, against nanoseconds."""
        if theirs in (None, '-'):
            theirs = 0
        ours = (ns or 0) / self.unit
        if abs(ours - theirs) <= 0.0050001:
            self.tally.passed += 1
        elif ns and abs(ours - theirs) <= 0.0050001 + max(calls, 1) / self.unit:
            self.used['truncation'] += 1
            self.tally.passed += 1
        else:
            self.tally.fail('%s: %s: VisualDL %s, tacho %.4f' % (self.label, what, theirs, ours))

    def share(self, what, theirs, part, whole=None, calls=0):
        """Percent with two decimals against a share, or against a part of a whole that may be off with its calls."""
        ours = 100 * ((part or 0) if whole is None else share_of(part or 0, whole))
        slack = 100 * calls / whole if whole and part else 0
        self.tally.check('%s: %s' % (self.label, what), theirs or 0, ours, 0.0050001 + slack)

    def equal(self, what, theirs, ours):
        self.tally.check('%s: %s' % (self.label, what), theirs, ours)

    def defect(self, row, count=1):
        self.used[row] += count

    def table(self, name, analysis, *options):
        return self.a.table(name, analysis, self.q, *options)


def share_of(part, whole):
    return part / whole if whole else 0


# ---- overview ----

def environment(c, data):
    facts = {r['key']: r['value'] for r in c.table('configuration', 'overview')}
    c.equal('device type', data['device_type'], facts['device_type'])
    if data['num_workers']:
        c.equal('number of workers', data['num_workers'], int(facts['workers']))
    else:  # it counts those it has an overview of
        c.defect('no_overview')
    for theirs, ours in (('process_utilization', 'process_cpu_use'), ('system_utilization', 'system_cpu_use')):
        c.share(theirs, data['CPU'][theirs], float(facts[ours]))
    if 'GPU' not in data:
        return
    gpu, mine = data['GPU'], c.table('devices', 'overview')[0]
    known = c.table('devices', 'info')[0]
    c.equal('name', gpu['name'], known['name'])
    c.equal('memory', gpu['memory'], '%.2f GB' % (known['memory_bytes'] / 1024 ** 3))
    c.equal('compute capability', gpu['compute_capability'], known['compute_capability'])
    c.share('occupancy', gpu['achieved_occupancy'], mine['occupancy'])
    c.share('tensor cores', gpu['tensor_core_percentage'], mine['tensor_core_share'])
    steps = c.table('steps', 'steps')
    stretch = (steps[-1]['end'] - steps[0]['start']) / sum(s['duration'] for s in steps)
    if stretch != 1:
        c.defect('gap', 2)
    c.share('utilization', gpu['utilization'], mine['utilization'] * stretch)
    kernels = c.table('kernels', 'kernels', '--group-by', 'launch')
    summed = sum(min(k['blocks_per_sm'], 1) * k['total'] for k in kernels) / sum(s['duration'] for s in steps)
    c.share('SM efficiency as a plain sum', gpu['sm_efficiency'], summed)
    c.equal('SM efficiency of moments is no more', True, mine['sm_efficiency'] * stretch <= summed + 1e-9)
    c.defect('sm_sum')


def model_perspective(c, data):
    stages = {r['stage']: r for r in c.table('stages', 'overview')}
    if not data.get('cpu'):
        return c.defect('no_overview')
    step, peer = stages['step'], stages_of(c)
    for side in ('cpu', 'gpu'):
        listed = [r['name'] for r in data.get(side, ())]
        there = [n for n in ('ProfileStep', *visualdl_stages.STAGES, 'Other') if peer and n in peer.rows]
        if peer and side in data:
            c.equal(side + ' rows', listed, there)
    for side, prefix in (('cpu', 'host'), ('gpu', 'device')):
        for row in data.get(side, ()):
            mine = stages[STAGES[row['name']]]
            what = '%s %s ' % (side, row['name'])
            total = sum(stages[s][prefix + '_time'] or 0 for s in ours_of(c, row['name']) if s in stages)
            c.time(what + 'total', row['total_time'], total, 4 * row['calls'])
            c.share(what + 'ratio', row['ratio'], total, step[prefix + '_time'], 2 * row['calls'])
            if peer:
                c.equal(what + 'calls as the original counts', row['calls'], len(peer.rows[row['name']]))
            if peer and side == 'cpu':
                one_stage(c, what, row, peer.rows[row['name']])
            if row['name'] == 'Other' and len(ours_of(c, 'Other')) > 1:
                c.defect('no_overview', 3)
                continue
            if peer and row['calls'] != mine['calls']:
                c.defect('merged_stage', 4)
                c.time(what + 'mean as the original counts', row['avg_time'], total / row['calls'], 4)
                continue
            c.equal(what + 'calls', row['calls'], mine['calls'])
            for theirs, ours in (('avg_time', '_mean'), ('max_time', '_max'), ('min_time', '_min')):
                c.time(what + theirs, row[theirs], mine[prefix + ours], 4)
    return None


def one_stage(c, what, row, lengths):
    for name, value in (('total_time', sum(lengths)), ('avg_time', sum(lengths) / len(lengths)),
                        ('max_time', max(lengths)), ('min_time', min(lengths))):
        c.equal('%s%s as the original counts' % (what, name), True,
                abs(row[name] - value / c.unit) <= 0.0050001 + protobuf_slack(c, len(lengths)))


def protobuf_slack(c, ranges):
    """A protobuf file is compared with the same recording as JSON: that has lost up to a nanosecond of each end."""
    return ranges / c.unit if c.a.folder.endswith('_pb') else 0


def perstep(c, data):
    if not data or not data.get('order'):
        return c.defect('no_overview')
    side = 'device_time' if c.q.get('device_type') == 'gpu' else 'host_time'
    mine = {(r['step'], r['stage']): r[side] for r in c.table('stage_steps', 'overview')}
    totals = {r['stage']: r for r in c.table('stages', 'overview')}
    steps, peer = len(data['steps']), stages_of(c)
    c.equal('steps', data['steps'], sorted({step for step, _ in mine}))
    c.equal('rows', [steps] * len(data['order']), [len(values) for values in data['data']])
    if peer:
        c.equal('stages', data['order'], [n for n in (*visualdl_stages.STAGES, 'Other') if n in peer.rows])
    for stage, values in zip(data['order'], data['data']):
        if peer and side == 'host_time' and len(peer.by_step) == steps:
            for number, (value, row) in enumerate(zip(values, peer.by_step)):
                c.equal('%s of step %d as the original counts' % (stage, number), True,
                        abs(value - row.get(stage, 0) / c.unit) <= 0.0050001 + protobuf_slack(c, 6))
        for step, value in zip(data['steps'], values):
            ns = sum(mine.get((step, s)) or 0 for s in ours_of(c, stage))
            repeated = side == 'host_time' and stage != 'Other' and model_calls(c, stage) != steps
            if repeated and abs(ns / c.unit - value) > 0.02:
                c.equal('%s of step %s is no more than the sum' % (stage, step), True, value <= ns / c.unit + 0.02)
                c.defect('last_repeat')
            else:
                c.time('%s of step %s' % (stage, step), value, ns, 6)
    return totals and None


def model_answer(c):
    """Rows of the stages the original found, as the answer to another request of the same file says."""
    for request, response in c.everything:
        if request.startswith('overview/model_perspective?') and request.split('run=')[1] == c.request.split('run=')[1]:
            return (response.get('data') or {}).get('cpu', [])
    return []


def model_calls(c, stage):
    return next((r['calls'] for r in model_answer(c) if r['name'] == stage), None)


def ours_of(c, stage):
    """Our names of a stage. What the original did not find among the children of steps is in its Other."""
    if stage != 'Other':
        return [STAGES[stage]]
    seen = model_answer(c)
    if not seen:
        return ['other']
    found = {r['name'] for r in seen}
    return ['other'] + [ours for theirs, ours in STAGES.items() if theirs not in found and theirs not in ('Other', 'ProfileStep')]


def events_of(c):
    found = {}
    for row in c.table('stage_events', 'overview'):
        time = row['device_time'] if row['host_time'] is None else row['host_time']
        found[row['kind'], row['stage']] = (row['calls'], time)
    return found


def has_launches(c):
    return any('kernel launch' in r['name'] for r in phases(c))


def phases(c, *options):
    answer = c.a.ask('operators', c.q.get('worker'), c.q.get('span'), *options)
    return rows(answer, 'phases') if 'phases' in answer['tables'] else []


CPU_KINDS = ('Operator', 'CudaRuntime', 'UserDefined', 'OperatorInner', 'Communication', 'PythonOp')


def stages_of(c):
    """The stages as the original counts them; None when the file is not JSON."""
    events = file_events(c)
    return visualdl_stages.Stages(events) if events else None


def inner_ranges(c, stage, calls, time):
    """Inner ranges without kernel launches, which the original does not see: as the file has them."""
    c.defect('launch_types', 2)
    peer = stages_of(c)
    if peer is None:
        return
    found = [peer.inner.get(stage, [])] if stage != 'ProfileStep' else list(peer.inner.values())
    if calls is not None:
        c.equal('inner ranges in %s as the original counts' % stage, calls, sum(map(len, found)))
    c.time('inner ranges in %s as the original counts' % stage, time, sum(length(merge(f)) for f in found))


def ratios_of(c, kind, part):
    """Percent of the durations of all stages."""
    whole = sum(part['durations']['value'])
    for name, value, ratio in zip(part['ratios']['key'], part['durations']['value'], part['ratios']['value']):
        c.equal('%s in %s ratio' % (kind, name), True,
                abs(ratio - (100 * value / whole if whole else 0)) <= 0.0051 + (0.5 / whole if whole else 0))
    for column in ('durations', 'ratios'):
        c.equal('%s stages of %s' % (kind, column), part['calling_times']['key'], part[column]['key'])
        c.equal('%s values of %s' % (kind, column), len(part[column]['key']), len(part[column]['value']))


def event_type(c, data):
    mine = events_of(c)
    for kind in data['order']:
        for name, calls, ns in zip(data[kind]['calling_times']['key'], data[kind]['calling_times']['value'],
                                   data[kind]['durations']['value']):
            if kind == 'OperatorInner' and has_launches(c):
                inner_ranges(c, name, calls, ns)
                continue
            got = [mine.get((k, s), (0, 0)) for k in KINDS[kind] for s in ours_of(c, name)]
            c.equal('%s in %s calls' % (kind, name), calls, sum(g[0] for g in got))
            c.time('%s in %s' % (kind, name), ns, sum(g[1] for g in got), 4 * calls)
        ratios_of(c, kind, data[kind])
        if not (kind == 'OperatorInner' and has_launches(c)):
            there = {s for (k, s), (calls, _) in mine.items() if k in KINDS[kind] and calls and s != 'step'}
            seen = {s for name in data[kind]['calling_times']['key'] for s in ours_of(c, name)}
            c.equal('stages of %s' % kind, [], sorted(there - seen))
    kinds = {'gpu': ('Kernel', 'Memcpy', 'Memset')}.get(c.q.get('device_type'), CPU_KINDS)
    for kind in kinds:
        if any(k in KINDS[kind] and calls and s != 'step' for (k, s), (calls, _) in mine.items()):
            if not (kind == 'OperatorInner' and has_launches(c) and stages_of(c) and not stages_of(c).inner):
                c.equal('%s is there' % kind, True, kind in data['order'])


def event_type_model(c, data):
    mine = events_of(c)
    c.equal('rows', [len(data['phase_type'])] * len(data['order']), [len(values) for values in data['data']])
    for kind, values in zip(data['order'], data['data']):
        for name, value in zip(data['phase_type'], values):
            if kind == 'OperatorInner' and has_launches(c):
                inner_ranges(c, name, None, value)
                continue
            stages = ours_of(c, name) if name != 'ProfileStep' else list(STAGES.values())
            got = [mine.get((k, s), (0, 0)) for k in KINDS[kind] for s in stages]
            c.time('%s in %s' % (kind, name), value, sum(g[1] for g in got), 4 * max(1, sum(g[0] for g in got)))


def named_rows(c, theirs, mine, prefixes):
    """Rows by name: calls, and the five times of each side."""
    by_name = {r['name']: r for r in mine}
    c.equal('names', sorted(r['name'] for r in theirs), sorted(by_name))
    for row in theirs:
        ours = by_name.get(row['name'])
        if ours is None:
            continue
        c.equal(row['name'] + ' calls', row['calls'], ours['calls'])
        for their_side, columns in prefixes:
            for suffix, column in zip(('total_time', 'avg_time', 'max_time', 'min_time'), columns):
                if their_side + suffix in row:
                    c.time('%s %s%s' % (row['name'], their_side, suffix), row[their_side + suffix], ours[column],
                           row['calls'] if suffix == 'total_time' else 1)


HOST = ('host_total', 'host_mean', 'host_max', 'host_min')
WORK = ('device_total', 'device_mean', 'device_max', 'device_min')
OP_HOST = ('host_total', 'mean', 'max', 'min')


def userdefined(c, data):
    mine = c.table('user_events', 'overview')
    named_rows(c, data['events'], mine, (('cpu_', HOST), ('gpu_', WORK)))
    by_name = {r['name']: r for r in mine}
    for row in data['events']:
        for side, column in (('cpu_ratio', 'host_share'), ('gpu_ratio', 'device_share')):
            if side in row:
                time = side[:4].replace('cpu_', 'host_').replace('gpu_', 'device_') + 'total'
                mine = by_name[row['name']]
                c.share('%s %s' % (row['name'], side), row[side], mine[column], 1 if mine[time] else None,
                        2 * row['calls'] * (mine[column] or 0) / (mine[time] or 1))


# ---- operators ----

def operator_pie(c, data):
    mine = c.table('operators', 'operators')
    top = int(c.q.get('topk') or 0)
    for side, columns, sort in (('cpu', OP_HOST, 'host_total'), ('gpu', WORK, 'device_total')):
        if side not in data:
            continue
        ranked = sorted(mine, key=lambda r, s=sort: -(r[s] or 0))
        cut = ranked[top - 1][sort] if 0 < top < len(ranked) else None
        listed = {r['name'] for r in data[side]}
        chosen = [r for r in ranked if r['name'] in listed]
        c.equal(side + ' number of rows', len(data[side]), min(top, len(ranked)) if top > 0 else len(ranked))
        c.equal(side + ' the largest', True, cut is None or all((r[sort] or 0) >= cut - 2 * r['calls'] for r in chosen))
        named_rows(c, data[side], chosen, (('', columns),))
        whole = sum(r[sort] or 0 for r in chosen)
        by_name = {r['name']: r for r in chosen}
        for row in data[side]:
            c.share('%s %s ratio' % (side, row['name']), row['ratio'], by_name[row['name']][sort], whole, 2 * row['calls'])
        c.defect('returned_rows', len(data[side]))


def operator_expand(c, data):
    on_device = c.q.get('device_type') == 'gpu'
    column, total = ('device_total', 'device_total') if on_device else ('host_total', 'host_total')
    operators = {r['name']: r for r in c.table('operators', 'operators')}
    parts = phases(c)
    for at, name in enumerate(data['phase_type']):
        values = {phase: series[at] for phase, series in zip(data['order'], data['data'])}
        if name == 'others' and name not in operators:
            c.defect('phase_names', 4)
            continue
        own = [p for p in parts if p['op'] == name and p['parent'] == name]
        if any('kernel launch' in p['name'] for p in parts if p['op'] == name):
            c.defect('launch_types', 2)
        elif Counter(p['phase'] for p in own if p['phase'] != 'other').most_common(1)[:1] and \
                Counter(p['phase'] for p in own if p['phase'] != 'other').most_common(1)[0][1] > 1:
            c.defect('phase_names', 4)
            continue
        else:
            for phase in ('compute',):
                c.time('%s %s' % (name, phase), values[phase], sum(p[column] or 0 for p in own if p['phase'] == phase),
                       operators[name]['calls'])
        for phase in ('infer_shape', 'node_creation'):
            got = sum(p[column] or 0 for p in own if p['phase'] == phase and '::' not in p['name'])
            c.time('%s %s' % (name, phase), values[phase], got, operators[name]['calls'])
        c.time('%s all phases' % name, round(sum(values.values()), 2), operators[name][total], 8 * operators[name]['calls'])


def shape_of(words):
    """VisualDL's list of "X:[[1, 2]]" in the form of our column."""
    return '{%s}' % ', '.join('"%s": %s' % tuple(w.split(':', 1)) for w in words) if words else '[]'


def plain(text):
    return re.sub(r'\s+', '', text or '[]').replace('{}', '[]')


def operator_table(c, data):
    by_shape = c.q.get('group_by') != 'op_name'
    options = ('--group-by', 'name+shape') if by_shape else ()
    search = c.q.get('search_name') or ''
    mine = [r for r in c.table('operators', 'operators', *options) if search in r['name']]
    everything = c.table('operators', 'operators', *options)
    host, work = sum(r['host_total'] for r in everything), sum(r['device_total'] or 0 for r in everything)
    parts = phases(c, *options)
    keyed = {(r['name'], plain(r.get('shapes')) if by_shape else ''): r for r in mine}
    lost = {r['name'] for r in data['events'] if by_shape and not r['input_shape'] and (r['name'], '[]') not in keyed}
    c.equal('rows', len(data['events']), len([r for r in mine if r['name'] not in lost]) + len(lost))
    for row in data['events']:
        shape = ''
        if by_shape:
            if any(w.endswith('[[') for w in row['input_shape']):
                c.defect('negative')
                continue
            shape = plain(shape_of(row['input_shape']))
        ours = keyed.get((row['name'], shape))
        alike = [r for r in mine if r['name'] == row['name']]
        if ours is None and shape == '[]' and alike:  # the original lost the shapes: one row for all of ours
            c.defect('shapes_lost')
            ours = add_up(alike)
        if ours is None:
            c.tally.fail('%s: no row %s %s' % (c.label, row['name'], shape))
            continue
        named_rows(c, [row], [ours], (('cpu_', OP_HOST), ('gpu_', WORK)))
        c.share(row['name'] + ' cpu share', row['cpu_ratio'], ours['host_total'], host, 2 * row['calls'])
        if 'gpu_ratio' in row:
            c.share(row['name'] + ' gpu share', row['gpu_ratio'], ours['device_total'], work, 2 * row['calls'])
        children(c, row, ours, [p for p in parts if p['op'] == row['name'] and p['parent'] == row['name'] and
                                (not by_shape or plain(p['shapes']) == shape)], row['name'] in lost)


def add_up(group):
    whole = dict(group[0])
    for column in ('calls', 'host_total', 'device_total'):
        whole[column] = sum(r[column] or 0 for r in group)
    for top, low, mean, total in (('max', 'min', 'mean', 'host_total'),
                                  ('device_max', 'device_min', 'device_mean', 'device_total')):
        whole[top], whole[low] = max(r[top] or 0 for r in group), min(r[low] or 0 for r in group)
        whole[mean] = whole[total] / whole['calls']
    return whole


def children(c, row, ours, own, lost):
    seen = [p for p in own if 'kernel launch' not in p['name']]
    c.defect('launch_types', len(own) - len(seen))
    if lost:
        return
    theirs = row.get('children', [])
    named_rows(c, theirs, seen, (('cpu_', HOST), ('gpu_', WORK)))
    by_name = {p['name']: p for p in seen}
    for child in theirs:
        mine = by_name[child['name']]
        c.share('%s › %s cpu share' % (row['name'], child['name']), child['cpu_ratio'], mine['host_total'],
                ours['host_total'], 2 * row['calls'])
        c.share('%s › %s gpu share' % (row['name'], child['name']), child['gpu_ratio'], mine['device_total'],
                ours['device_total'] or 0, 2 * row['calls'])


# ---- kernels ----

def kernel_rows(c, theirs, mine):
    by_name = {r['name']: r for r in mine}
    named_rows(c, theirs, mine, (('', ('total', 'mean', 'max', 'min')),))
    for row in theirs:
        ours = by_name[row['name']]
        c.equal(row['name'] + ' blocks per SM', row['mean blocks per sm'], round(ours['blocks_per_sm'], 2))
        c.share(row['name'] + ' occupancy', row['mean est achieved occupancy'], ours['occupancy'])
        c.equal(row['name'] + ' tensor cores', row['tensor core used'], ours['tensor_core'])


def kernel_pie(c, data):
    mine = sorted(c.table('kernels', 'kernels'), key=lambda r: -r['total'])
    if data is None:
        return c.equal('no kernels', 0, len(mine))
    top = int(c.q.get('topk') or 0)
    chosen = mine[:top] if top > 0 else mine
    kernel_rows(c, data['events'], chosen)
    whole = sum(r['total'] for r in chosen)
    by_name = {r['name']: r for r in chosen}
    for row in data['events']:
        c.share(row['name'] + ' ratio', row['ratio'], by_name[row['name']]['total'], whole, 2 * row['calls'])
    return c.defect('returned_rows', len(chosen))


def tensorcore_pie(c, data):
    mine = sorted(c.table('kernels', 'kernels'), key=lambda r: -r['total'])
    if data is None:
        return c.equal('no kernels', 0, len(mine))
    top = int(c.q.get('topk') or 0)
    chosen = mine[:top] if top > 0 else mine
    used = sum(r['calls'] for r in chosen if r['tensor_core'])
    everything = sum(r['calls'] for r in chosen)
    for row, calls in zip(data['events'], (used, everything - used)):
        c.equal(row['name'], row['calls'], float(calls))
        c.share(row['name'] + ' ratio', row['ratio'], calls, everything)
    return c.equal('rows', ['Tensor core used', 'Tensor core unused'], [row['name'] for row in data['events']])


def launched_directly(c, kernel):
    """Is it launched by the operator itself, not by an inner range of it?  Then the original adds it twice."""
    parts = phases(c)
    return kernel['op'] is not None and not any(p['op'] == kernel['op'] and p['device_total'] for p in parts)


def kernel_table(c, data):
    by_name = c.q.get('group_by') == 'kernel_name'
    search = c.q.get('search_name') or ''
    if data is None:
        if not by_name and search:
            return c.defect('search')
        return c.equal('no kernels', 0, len(c.table('kernels', 'kernels')))
    if by_name:
        every = c.table('kernels', 'kernels')
        whole = sum(r['total'] for r in every)
        kernel_rows(c, data['events'], [r for r in every if search in r['name']])
        total = {r['name']: r['total'] for r in every}
        for row in data['events']:
            c.share(row['name'] + ' ratio', row['ratio'], total[row['name']], whole, 2 * row['calls'])
        return None
    launches = c.table('kernels', 'kernels', '--group-by', 'launch')
    whole = sum(r['total'] for r in launches)
    c.equal('rows', len(launches), len(data['events']))
    c.equal('different rows', len(data['events']), len({(r['name'], r['operator'], r['grid'], r['block'],
                                                         r['register per thread'], r['shared memory'])
                                                        for r in data['events']}))
    for row in data['events']:
        found = [r for r in launches if r['name'] == row['name'] and plain(r['grid']) == plain(row['grid']) and
                 plain(r['block']) == plain(row['block']) and (r['op'] in (row['operator'], None))]
        c.equal(row['name'] + ' is there', 1, len(found))
        if not found:
            continue
        ours = found[0]
        if ours['op'] is None:
            known = {r['name'] for r in c.table('operators', 'operators')}
            c.equal(row['name'] + ' is launched by no operator', False, row['operator'] in known)
            c.defect('host_node')
        c.equal(row['name'] + ' registers', row['register per thread'], str(ours['registers']))
        c.equal(row['name'] + ' shared memory', row['shared memory'], str(ours['shared_memory']))
        twice = launched_directly(c, ours)
        if twice:
            c.defect('twice', 2)
        c.share(row['name'] + ' ratio', row['ratio'], ours['total'] * (2 if twice else 1), whole, 4 * row['calls'])
        c.equal(row['name'] + ' blocks per SM', row['mean blocks per sm'], round(ours['blocks_per_sm'], 2))
        c.share(row['name'] + ' occupancy', row['mean est achieved occupancy'], ours['occupancy'])
        c.equal(row['name'] + ' tensor cores', row['tensor core used'], ours['tensor_core'])
        c.equal(row['name'] + ' calls', row['calls'], ours['calls'] * (2 if twice else 1))
        c.time(row['name'] + ' total', row['total_time'], ours['total'] * (2 if twice else 1), row['calls'])
        for theirs, column in (('avg_time', 'mean'), ('max_time', 'max'), ('min_time', 'min')):
            c.time('%s %s' % (row['name'], theirs), row[theirs], ours[column], 2)
    return None


# ---- distributed ----

def workers_of(c):
    """The workers of the run that tacho knows."""
    status, _, err = call(['info', c.a.folder, '--run', os.path.basename(c.a.folder), '--worker', '?'])
    found = re.search(r'available: (.*)', err)
    names = found.group(1).strip().split(', ') if status and found else []
    return sorted(name for name in names if has_span(c, name))


def has_span(c, worker):
    try:
        return bool(c.a.ask('info', worker, c.q.get('span')))
    except Refused:
        return False


def distributed_info(c, data):
    with_device = [w for w in workers_of(c) if c.a.table('devices', 'overview', dict(c.q, worker=w))]
    c.equal('workers', sorted(card['worker_name'] for card in data or []), with_device)
    for card in data or []:
        c.equal('process', card['process_id'], 'pid: %s' % re.search(r'pid_(\d+)', card['worker_name']).group(1))
        q = dict(c.q, worker=card['worker_name'])
        known = c.a.table('devices', 'info', q)[0]
        c.equal('name', card['name'], known['name'])
        c.equal('memory', card['memory'], '%.2f GB' % (known['memory_bytes'] / 1024 ** 3))
        c.equal('compute capability', card['computeCapability'], known['compute_capability'])
        c.equal('device', card['device_id'], 'GPU%d' % known['device'])
        steps = c.a.table('steps', 'steps', q)
        stretch = (steps[-1]['end'] - steps[0]['start']) / sum(s['duration'] for s in steps)
        c.defect('gap')
        c.share('utilization', float(card['utilization'][:-1]), c.a.table('devices', 'overview', q)[0]['utilization'] * stretch)


def distributed_steps(c, data):
    if data is None:
        return c.equal('no kernels', 0, len(c.table('kernels', 'kernels')))
    return c.equal('steps', data[1:], [r['step'] for r in c.table('steps', 'steps')])


def distributed_histogram(c, data):
    step = c.q['step']
    if data['worker_name']:
        c.equal('workers', sorted(data['worker_name']), workers_of(c))
    c.equal('series', [len(data['worker_name'])] * 5, [len(series) for series in data['data']])
    for at, worker in enumerate(data['worker_name']):
        total, communication, computation, overlap, others = (series[at] for series in data['data'])
        q = dict(c.q, worker=worker)
        options = () if step == 'All' else ('--step', step)
        row = next(r for r in c.a.table('overlap', 'distributed', q, *options) if r['worker'] == worker)
        n = len([r for r in c.a.table('steps', 'steps', q) if step in ('All', str(r['step']))])
        both = row['overlapping']
        for what, theirs, ours in (('step', total, row['computation'] + row['overlapping'] + row['communication'] + row['other']),
                                   ('communication', communication, row['communication'] + both),
                                   ('computation', computation, row['computation'] + both), ('overlap', overlap, both),
                                   ('others', others, row['other'])):
            c.time('%s %s' % (worker, what), theirs, ours * (1 if row.get('per_step') else n), 40)


# ---- memory ----

def device_of(place):
    word = re.match(r'^Place\((\w+?)(?::(\d+))?\)$', place)
    known = {'cpu': 'CPU', 'gpu': 'GPU', 'xpu': 'XPU', 'mlu': 'MLU', 'npu': 'NPU'}
    if word.group(1) in known:
        return known[word.group(1)] + (word.group(2) or '')
    return word.group(1) + (':' + word.group(2) if word.group(2) else '')


def file_events(c):
    return visualdl_memory.read(c.a.folder, c.q.get('worker', ''), c.q.get('span', 0))


def booked_of(c, place):
    """(name, event) of a place, as the original has them; None when the file is not JSON."""
    events = file_events(c)
    return [(n, e) for n, e in visualdl_memory.peer(events) if e.place == place] if events else None


def right_of(c, name):
    return [e for e in visualdl_memory.right(file_events(c)) if device_of(e.place) == name]


def kb(count):
    return round(count / 1024, 2)


def is_cut(c):
    """Are times whole microseconds?  Protobuf has nanoseconds, its twin as JSON has not."""
    return not c.a.folder.endswith('_pb')


def same_points(c, what, theirs, peers):
    """Lists of (time, KB, name).  A protobuf file has nanoseconds and places its events better: names are not compared
    then, and times to a microsecond."""
    key = (lambda p: (p[1], p[2], p[0])) if is_cut(c) else (lambda p: (p[0], p[1]))
    theirs, peers = sorted(map(tuple, theirs), key=key), sorted(peers, key=key)
    words = (lambda side: [p[1:] for p in side]) if is_cut(c) else (lambda side: sorted(p[1] for p in side))
    c.equal(what + ' as the original counts', words(theirs), words(peers))
    for one, other in zip(theirs, peers):
        c.tally.check('%s: time of %s' % (c.label, what), one[0], other[0] / c.unit, time_slack(c))


def time_slack(c):
    return 0.0051 if is_cut(c) else 0.0051 + 2000 / c.unit


def memory_devices(c, data):
    events = c.table('events', 'memory')
    listed = [row['device'] for row in data or []]
    if file_events(c):
        booked = {e.place for _, e in visualdl_memory.peer(file_events(c))}
        c.equal('devices as the original has them', sorted(listed), sorted(booked))
    for row in data or []:
        name = device_of(row['device'])
        sizes = [e['bytes'] for e in events if e['device'] == name]
        c.equal(name + ' is there', True, bool(sizes))
        c.equal(name + ' smallest', 0, row['min_size'])
        booked = booked_of(c, row['device'])
        if booked is None:
            c.equal(name + ' largest', row['max_size'], kb(max(sizes)))
            c.equal(name + ' peak', True, row['max_allocation_size'] >= 0)
            c.defect('echo_peak')
            continue
        c.equal(name + ' largest as the original counts', row['max_size'], kb(max(abs(e.bytes) for _, e in booked)))
        c.equal(name + ' largest', kb(max(abs(e.bytes) for e in right_of(c, name))), kb(max(sizes)))
        c.equal(name + ' peak of the file', row['max_allocation_size'], kb(max(e.peak_allocated for _, e in booked)))
        c.defect('memory_time')
        c.defect('echo_peak')


SERIES = (('Allocated', 'allocated'), ('Reserved', 'reserved'), ('PeakAllocated', 'peak_allocated'),
          ('PeakReserved', 'peak_reserved'))


def memory_curve(c, data):
    """The answer is what the original's arithmetic gives; ours is every event of the file, once."""
    name, booked = device_of(c.q['device_type']), booked_of(c, c.q['device_type'])
    mine = [r for r in c.table('curve', 'memory') if r['device'] == name]
    for series, column in SERIES:
        if booked is None:
            plain_series(c, series, data[series], mine, column)
            continue
        same_points(c, series, data[series], [(e.time, kb(getattr(e, column)), word) for word, e in booked])
        if column in ('allocated', 'reserved'):
            ours = Counter((round(r['time'] / 1e3) if is_cut(c) else 0, kb(r[column])) for r in mine)
            c.equal(series + ' as the file says', Counter((round(e.time / 1e3) if is_cut(c) else 0, kb(getattr(e, column)))
                                                          for e in right_of(c, name)), ours)
            c.defect('memory_time', abs(len(mine) - len(data[series])))
        else:
            c.defect('echo_peak', len(data[series]))


def plain_series(c, series, points, mine, column):
    """Without the file as JSON: the same points, or the same number of them where only the file knows."""
    if not column.startswith('peak'):
        theirs = Counter((round(t * c.unit / 1e3), value) for t, value, _ in points)
        c.equal(series, theirs, Counter((round(r['time'] / 1e3), kb(r[column])) for r in mine))
    else:
        c.equal(series + ' points', len(points), len(mine))
        c.defect('echo_peak', len(points))


def memory_events(c, data):
    name, booked = device_of(c.q['device_type']), booked_of(c, c.q['device_type'])
    low, high = float(c.q.get('min_size') or 0), float(c.q.get('max_size') or 1e18)
    search = c.q.get('search_name') or ''
    fits = lambda size: low <= size <= high
    mine = [e for e in c.table('events', 'memory') if e['device'] == name and fits(kb(e['bytes']))]
    ours = Counter((e['address'], kb(e['bytes'])) for e in mine)
    theirs = Counter((str(int(e['MemoryAddr'], 16)), e['Size']) for e in data['data'])
    if booked is None:
        c.equal('blocks', theirs, ours if not search else ours & theirs)
        return
    wanted = [r for r in visualdl_memory.pairs(booked) if fits(r[6]) and (search in (r[2] or '') or search in (r[4] or ''))]
    got = [[r['MemoryAddr'], r['MemoryType'], r['AllocatedEvent'], r['AllocatedTimestamp'], r['FreeEvent'],
            r['FreeTimestamp'], r['Size'], r['Duration']] for r in data['data']]
    order = lambda r: (r[0], r[6], r[1], r[3] or 0, r[5] or 0)
    wanted, got = sorted(wanted, key=order), sorted(got, key=order)
    words = (lambda r: (r[0], r[1], r[2], r[4], r[6])) if is_cut(c) else (lambda r: (r[0], r[1], r[6]))
    c.equal('blocks as the original has them', sorted(map(words, got), key=str), sorted(map(words, wanted), key=str))
    for one, right in zip(got, wanted):
        one_block(c, one, right)
    fits_here = lambda pairs: Counter(p for p in pairs if fits(p[1]))
    in_order = sorted(right_of(c, name), key=lambda e: (e.time, e.at))
    if not search:
        c.equal('blocks as the file says', fits_here(visualdl_memory.blocks(in_order)), ours)
        c.defect('memory_time', sum((ours - theirs).values()) + sum((theirs - ours).values()))


def one_block(c, one, right):
    """Times in the unit of the question; one of exactly 0 is missing in the original."""
    slack = time_slack(c)
    for at in (3, 5):
        c.equal('block %s is open' % one[0], not right[at], one[at] is None)
        if one[at] is not None and right[at]:
            c.tally.check('%s: time of block %s' % (c.label, one[0]), one[at], right[at] / c.unit, slack)
    length = right[5] - right[3] if right[3] and right[5] else None
    c.tally.check('%s: length of block %s' % (c.label, one[0]), one[7], None if length is None else length / c.unit, slack)


def op_memory_events(c, data):
    name, booked = device_of(c.q['device_type']), booked_of(c, c.q['device_type'])
    events = [e for e in c.table('events', 'memory') if e['device'] == name]
    allocated = sum(e['bytes'] for e in events if e['kind'] == 'allocation')
    search = c.q.get('search_name') or ''
    got = sorted((r['EventName'], r['MemoryType'], r['AllocationCount'], r['FreeCount'], r['AllocationSize'], r['FreeSize'],
                  r['IncreasedSize']) for r in data['data'])
    if booked is None:
        if not search:
            c.tally.check('%s: allocated in all' % c.label, sum(r[4] for r in got if r[1] == 'Allocated'), allocated / 1024,
                          0.0051 * max(1, len(got)))
        return
    # Every row is what the original's arithmetic gives; ours differ where that is wrong, and all of what the file
    # allocates is in them.
    peers = [r for r in visualdl_memory.by_name(file_events(c), lambda e: e.place == c.q['device_type']) if search in r[0]]
    if is_cut(c):
        c.equal('rows as the original counts', sorted(peers), got)
    elif not search:        # by another placement, but of the same events
        for column in (2, 3):
            c.equal('events in all', sum(r[column] for r in peers), sum(r[column] for r in got))
        for column in (4, 5, 6):
            c.tally.check('%s: KB in all' % c.label, sum(r[column] for r in peers), sum(r[column] for r in got),
                          0.011 * len(got))
    c.equal('allocated in all', sum(e.bytes for e in right_of(c, name) if e.kind == 'Allocate'), allocated)
    c.tally.passed += len(got)
    c.defect('memory_time', figures(data['data']))


# ---- names ----

def workers(c, data):
    if data == ['All']:
        return c.defect('no_overview', 0)
    for worker in data:
        c.equal('worker', worker, c.a.ask('info', worker, None)['trace']['worker'])
    return None


def spans(c, data):
    if c.q['worker'] == 'All':
        return
    for at, span in enumerate(data):
        facts = {r['key']: r['value'] for r in rows(c.a.ask('info', c.q['worker'], at), 'trace')}
        c.equal('span', span, facts.get('span_indx') or facts.get('span_index'))


ROUTES = {'overview/environment': environment, 'overview/model_perspective': model_perspective,
          'overview/model_perspective_perstep': perstep, 'overview/event_type_perspective': event_type,
          'overview/event_type_model_perspective': event_type_model, 'overview/userdefined_perspective': userdefined,
          'operator/pie': operator_pie, 'operator/pie_expand': operator_expand, 'operator/table': operator_table,
          'kernel/pie': kernel_pie, 'kernel/tensorcore_pie': tensorcore_pie, 'kernel/table': kernel_table,
          'distributed/info': distributed_info, 'distributed/steps': distributed_steps,
          'distributed/histogram': distributed_histogram, 'memory/devices': memory_devices, 'memory/curve': memory_curve,
          'memory/memory_events': memory_events, 'memory/op_memory_events': op_memory_events, 'workers': workers,
          'spans': spans}
MAY_BE_NULL = {kernel_pie, tensorcore_pie, kernel_table, distributed_info, distributed_steps}


def loaded(everything):
    """Did the original load the run at all?"""
    return any(request.startswith('views') and response.get('data') for request, response in everything)


def compare_one(c, route, response):
    data, run = response.get('data'), ROUTES[route]
    if response['status'] != 0:
        if route == 'kernel/table':
            return c.defect('search')
        return c.tally.skip('%s: the original crashed: %s' % (c.label, response['msg'][:80]))
    if data is None and run not in MAY_BE_NULL:
        return c.defect('no_overview' if route.startswith('overview') else 'not_loaded')
    return run(c, data)


class File:
    """The answers of one file, request by request."""

    ignored = {'status', 'msg', 'outline'}

    def __init__(self, tally, path, source):
        self.tally, self.path, self.source = tally, path, source
        self.parts = [(r['request'], r.get('response') or {'status': 0, 'data': None, 'outline': True})
                      for r in read_answers(path)]
        self.used, self.skipped, self.runs = Counter(), Counter(), {}
        first = [request for request, _ in self.parts[:1]]
        self.alive = loaded(self.parts) or 'views' not in first[0] and len(self.parts) > 20

    def state(self, index):
        route = self.parts[index][0].partition('?')[0]
        return 'echo' if route in ECHO else None

    def one(self, index):
        request, response = self.parts[index]
        route, _, query = request.partition('?')
        q = dict(parse_qsl(query, keep_blank_values=True))
        label = '%s: %s' % (short(self.path), request)
        if route in ECHO:
            self.skipped[ECHO[route]] += figures(response)
        elif route.startswith(UNWRITTEN):
            unwritten(self.tally, label, os.path.join(self.source, q['base_run']), response)
        elif route not in ROUTES:
            self.tally.fail('%s: no such route is known' % label)
        else:
            folder = os.path.join(self.source, q['run'])
            c = Comparison(self.tally, label, self.runs.setdefault(folder, Answers(folder)), q, self.used)
            c.request, c.everything = request, self.parts
            try:
                compare_one(c, route, response) if self.alive else not_loaded(c, response)
            except PROBLEMS as problem:
                self.tally.fail('%s: %s %r' % (label, type(problem).__name__, problem))

    def end(self):
        for key, count in sorted(self.used.items()):
            if count:
                self.tally.skip('%s: %s: %d: %s' % (short(self.path), key, count, DEFECTS[key][1]),
                                0 if key in ('truncation', 'gap', 'returned_rows') else count)
        for reason, count in sorted(self.skipped.items()):
            self.tally.skip('%s: %d: %s' % (short(self.path), count, reason), count)


PROBLEMS = (Refused, KeyError, ValueError, IndexError, StopIteration, TypeError, AttributeError, OSError)


def not_loaded(c, response):
    """The original answers as if the run were empty: so it must."""
    c.equal('an empty answer', 0, figures(response.get('data')))
    c.defect('not_loaded')


def recorded():
    found = samples('paddle/oracle/visualdl_api_responses.json*', 'paddle/real/oracle/*/visualdl.json*')
    return [(path, DATA) for path in found]


def compare(tally, answers_path, input_path):
    file = File(tally, answers_path, input_path)
    for index in range(len(file.parts)):
        file.one(index)
    file.end()
