"""The plugin's answers about time: overview, operators, kernels, counters."""

import functools
import re
from collections import Counter, defaultdict
from fractions import Fraction

import ref_device
import ref_steps
import ref_tensor
import tensorboard_peer
from common import dims, keyed, rows
from ref_ranges import inside, length, merge, of
from tensorboard_peer import shape_of

COLUMN = {'Kernel': 'kernel', 'Memcpy': 'memcpy', 'Memset': 'memset', 'Communication': 'communication',
          'Runtime': 'runtime', 'DataLoader': 'data_loader', 'CPU Exec': 'cpu_exec', 'Other': 'other'}
# Ranges of the user count as work of the host in the plugin: these two are not comparable.
HIDDEN_BY_ANNOTATIONS = {'CPU Exec', 'Other'}


def once(function):
    """Computes something of a span, or of one of its devices, once."""
    @functools.wraps(function)
    def cached(span, *of):
        key = (function, *of)
        if key not in span.answers:
            span.answers[key] = function(span, *of)
        return span.answers[key]
    return cached


@once
def kernels_of(span, device):
    return ref_device.kernels_by_device(span.trace)[device]


@once
def segments_of(span, device):
    return ref_device.segments(kernels_of(span, device))


@once
def steps_of(span):
    return ref_steps.steps(span.trace)[0]


@once
def parts_of(span):
    return {step.number: row for step, row in ref_steps.breakdown(span.trace, steps_of(span))}


@once
def peer_parts_of(span):
    """The same with ranges of the user as work of the host."""
    ranges = ref_steps.role_ranges(span.trace)
    ranges['cpu_exec'] = merge(ranges['cpu_exec'] + [(s.start, s.end) for s in span.trace.slices
                                                     if s.kind == 'annotation'])
    return {step.number: row for step, row in ref_steps.breakdown(span.trace, steps_of(span), ranges)}


def overview(check, span, params, answer):
    response = answer['response']
    got = {r['step']: r for r in rows(span.ask('overview'), 'steps')}
    names = [c['name'] for c in response['steps']['columns'] if 'name' in c][1:]
    check.equal('columns', [n for n in COLUMN if n in names], names)
    there = {n for n, column in COLUMN.items() if any(r[column] for r in parts_of(span).values())}
    check.equal('parts that are not there', [], sorted(there - set(names)))
    check.equal('steps', [int(r[0]) for r in response['steps']['rows']], list(got))
    for row in response['steps']['rows']:
        step = int(row[0])
        total = float(re.search(r'Total: ([\d.]+)us', row[2]).group(1))
        check.time('step %d total' % step, total, got[step]['total'], 4)
        for name, value, text in zip(names, row[1::2], row[2::2]):
            one_cost(check, span, 'step %d' % step, name, value, step, got[step][COLUMN[name]] or 0)
            tooltip(check, 'step %d %s' % (step, name), text, step, total, name, value)
        mine = got[step]
        check.equal('step %d adds up' % step, mine['total'],
                    sum(mine[c] or 0 for c in ref_steps.ROLES))
    averages(check, span, response['performance'][0])
    devices(check, span, response.get('gpu_metrics') or {})
    environment(check, span, response['environments'])
    advice(check, span, response['recommendations'])


def tooltip(check, what, text, step, total, name, value):
    """The text over a bar repeats its figures, and has its share."""
    found = re.search(r'Step (\d+)<br>Total: ([\d.e-]+)us<br><b>([\w ]+): ([\d.e-]+)us</b><br>Percentage: ([\d.]+)%', text)
    check.equal(what + ' text', (str(step), name), (found.group(1), found.group(3)))
    check.equal(what + ' figures of the text', (total, float(value)), (float(found.group(2)), float(found.group(4))))
    check.near(what + ' share in the text', 100 * value / total if total else 0, float(found.group(5)), .0050001)


# Words of a recommendation and the advice of ours that says it; `only`: it is given for nothing else.
ADVICE = (('input data loading', ('data_loader_no_workers', 'data_loader_slow'), True),
          ('recommended to use DistributedDataParallel', ('data_parallel',), True),
          ('Nccl backend', ('nccl_missing',), True),
          ('cost on communication', ('communication_exposed', 'nccl_missing'), False),
          ('low utilization', ('host_late', 'data_loader_no_workers', 'data_loader_slow', 'blocking_sync', 'item_sync',
                               'dependency_wait', 'small_kernels', 'nccl_missing', 'communication_exposed'), False),
          ('device memory', ('memory_near_capacity',), True))


def advice(check, span, text):
    """The conditions, not the words; that of Tensor Cores uses the list of 2021."""
    got = {r['id']: r for r in rows(span.ask('advise'), 'advice')}
    for words, ids, only in ADVICE:
        fired = [i for i in ids if i in got]
        if words in text or only:
            check.equal('advice on %s' % words, words in text, bool(fired))
    share = re.search(r'([\d.]+)% of the step time is in DataLoader', text)
    if share:
        # The saving is of the step without the profiler; the sentence has the share of the recorded one.
        mine = [re.search(r'\(([\d.]+) %\)', got[i]['evidence']) for i in ADVICE[0][1] if i in got]
        check.near('share of data loading in the advice', float(share.group(1)), float(mine[0].group(1)) if mine else None, .051)
    check.leave('tensor_core')


@once
def pieces_of(span):
    """{step: {part: the number of pieces its time is in}}"""
    ranges = ref_steps.role_ranges(span.trace)
    return {step.number: {role: len(inside(some, step.start, step.end)) for role, some in ranges.items()}
            for step in steps_of(span)}


def one_cost(check, span, what, name, value, step, got):
    column = COLUMN[name]
    pieces = pieces_of(span)[step]
    # A part is what the parts before it leave: their ends are its ends.
    n_ranges = 2 * sum(pieces[role] for role in ref_steps.ROLES[:ref_steps.ROLES.index(column) + 1] if role in pieces)
    check.equal('%s %s, reference' % (what, name), parts_of(span)[step][column], got)
    if name in HIDDEN_BY_ANNOTATIONS:
        check.time('%s %s as the plugin counts' % (what, name), value, peer_parts_of(span)[step][column], n_ranges)
        if parts_of(span)[step][column] != peer_parts_of(span)[step][column]:
            check.leave('annotation')
            return
    check.time('%s %s' % (what, name), value, got, n_ranges)


def averages(check, span, average):
    table = rows(span.ask('overview'), 'breakdown')
    got = {r['category']: r for r in table}
    n = len(parts_of(span))
    check.rounded('average step', average['value'], sum(r['time'] or 0 for r in table))
    check.equal('average of all', 100, average['extra'])
    there = {COLUMN[child['name']] for child in average['children']}
    check.equal('average parts that are not there', [], sorted(c for c, r in got.items() if r['time'] and c not in there))
    check.equal('average shares add up', 1.0, float(sum(Fraction(repr(r['share'] or 0)) for r in table)))
    for child in average['children']:
        name, column = child['name'], COLUMN[child['name']]
        right = Fraction(sum(row[column] for row in parts_of(span).values()), n)
        check.near('average %s, reference' % name, float(right), got[column]['time'] or 0, .5)
        peer = Fraction(sum(row[column] for row in peer_parts_of(span).values()), n)
        if name in HIDDEN_BY_ANNOTATIONS and peer != right:
            check.rounded('average %s as the plugin counts' % name, child['value'], float(peer))
            whole = Fraction(sum(row['total'] for row in parts_of(span).values()), n)
            check.near('average share of %s as the plugin counts' % name, child['extra'], float(100 * peer / whole), .0051)
            check.leave('annotation', 2)
            continue
        check.rounded('average %s' % name, child['value'], got[column]['time'] or 0)
        check.near('average share of %s' % name, child['extra'], 100 * (got[column]['share'] or 0), .0051)


def devices(check, span, metrics):
    found, device = {}, None
    for item in metrics.get('data', []):
        if item['title'].startswith('GPU ') and item['title'].endswith(':'):
            device = int(item['title'][4:-1])
        elif item['title']:
            found.setdefault(device, {})[item['title']] = item['value']
    got = {r['device']: r for r in rows(span.ask('overview'), 'devices')}
    known = {r['device']: r for r in rows(span.ask('info'), 'devices')}
    check.equal('devices', sorted(found), sorted(got))
    kept = steps_of(span)
    for number, facts in found.items():
        kernels, inside_steps = kernels_of(span, number), (kept[0].start, kept[-1].end)
        for title, column, right in (
                ('GPU Utilization', 'utilization', ref_device.utilization(kernels, *inside_steps)),
                ('Est. SM Efficiency', 'sm_efficiency', ref_device.mean_of_segments(segments_of(span, number), *inside_steps)),
                ('Est. Achieved Occupancy', 'occupancy', ref_device.occupancy(kernels, *inside_steps)),
                ('Kernel Time using Tensor Cores', 'tensor_core_share', tensor_share(kernels))):
            mine = got[number][column]
            check.near('GPU %d %s, reference' % (number, column), None if right is None else float(right), mine, 1e-6)
            if column == 'tensor_core_share':
                check.leave('tensor_core')
            elif title in facts:
                check.near('GPU %d %s' % (number, title), float(facts[title].split()[0]), 100 * mine, .0051)
        check.equal('GPU %d name' % number, facts.get('Name'), known[number]['name'])
        check.equal('GPU %d capability' % number, facts.get('Compute Capability'), known[number]['compute_capability'])
        if 'Memory' in facts:
            digits = len(facts['Memory'].split()[0].partition('.')[2])
            check.near('GPU %d memory' % number, float(facts['Memory'].split()[0]),
                       known[number]['memory_bytes'] / 2**30, .5001 * 10.0 ** -max(1, digits))
        check.equal('GPU %d figures' % number, sorted(METRICS - set(facts)), sorted(
            t for t, c in (('GPU Utilization', 'utilization'), ('Est. SM Efficiency', 'sm_efficiency'),
                           ('Est. Achieved Occupancy', 'occupancy')) if got[number][c] is None and t not in facts))


METRICS = {'GPU Utilization', 'Est. SM Efficiency', 'Est. Achieved Occupancy', 'Kernel Time using Tensor Cores', 'Name',
           'Memory', 'Compute Capability'}


def tensor_share(kernels):
    total = sum(s.dur for s in kernels)
    return Fraction(sum(s.dur for s in kernels if ref_tensor.uses(s.name)), total) if total else None


def environment(check, span, facts):
    got = {r['key']: r['value'] for r in rows(span.ask('overview'), 'configuration')}
    for fact in facts:
        if fact['title'] == 'Device Type':
            check.equal('device type', fact['value'], got.get('device_type'))
        elif fact['title'] == 'Number of Worker(s)':
            check.equal('workers', int(fact['value']), span.workers)
        else:
            check.fail('what is %s?' % fact['title'])
    check.equal('facts', ['Device Type', 'Number of Worker(s)'], sorted(fact['title'] for fact in facts))


# ---- operators ----

@once
def operator_ranges(span):
    """{(name, shapes): number of ranges its figures are sums of}"""
    count = Counter()
    for item in span.trace.slices:
        if item.kind == 'op' and not item.dead:
            n = 1 + len(item.children)
            count[item.name, shape_of(item)] += n
            count[item.name, None] += n
        elif item.kind in ('kernel', 'memcpy', 'memset'):
            above = item.op
            while above is not None:
                count[above.name, shape_of(above)] += 1
                count[above.name, None] += 1
                above = above.owner
    return count


GROUPS = {'Operation': 'name', 'OperationAndInputShape': 'name+shape'}
FIGURES = {'device_self_duration': 'device_self', 'device_total_duration': 'device_total',
           'host_self_duration': 'host_self', 'host_total_duration': 'host_total'}


def operators_of(span, group):
    by = GROUPS[group]
    table = rows(span.ask('operators', '--group-by', by), 'operators')
    return keyed(table, 'name', 'shapes') if by == 'name+shape' else keyed(table, 'name')


@once
def backward_of(span):
    return tensorboard_peer.Backward(span.trace, span.events)


@once
def odd_of(span):
    return tensorboard_peer.odd_names(span.trace, backward_of(span).parents)


def is_odd(check, span, key):
    """An operator that the plugin's tree treats differently: ours is the reference's."""
    full = key if isinstance(key, tuple) else (key, None)
    if full[0] not in odd_of(span):
        return False
    right = reference_row(span, full)
    mine = operators_of(span, 'Operation' if full[1] is None else 'OperationAndInputShape').get(key)
    for figure in tensorboard_peer.FIGURES:
        check.equal('%s %s, reference' % (full, figure), right[figure], (mine or {}).get(figure) or 0)
    check.leave(odd_of(span)[full[0]])
    return True


@once
def lost_of(span):
    return tensorboard_peer.lost_operators(span, backward_of(span))


def seen_operators(check, span, group):
    """Ours without the backward work that the plugin loses; what is lost is checked with the reference."""
    out = {}
    for key, row in operators_of(span, group).items():
        full = key if isinstance(key, tuple) else (key, None)
        lost = lost_of(span).get(full)
        if lost:
            right = reference_row(span, full)
            for figure in tensorboard_peer.FIGURES:
                check.equal('%s %s, reference' % (full, figure), right[figure], row[figure] or 0)
            check.leave('backward_lost')
            row = {**row, **{figure: (row[figure] or 0) - lost[figure] for figure in tensorboard_peer.FIGURES}}
        if row['calls']:
            out[key] = row
    return out


def reference_row(span, key):
    row = Counter()
    for item in span.trace.slices:
        if item.kind == 'op' and not item.dead and item.name == key[0] and key[1] in (None, shape_of(item)):
            row['calls'] += 1
            row['host_total'] += item.dur
            row['host_self'] += item.dur - sum(c.dur for c in item.children)
            row['device_total'] += item.device_total
            row['device_self'] += item.device_self
    return row


@once
def unseen_self(span):
    """{key: ns}: calls inside an operator that carry no id of it: the plugin does not take them off."""
    stands_for = {}
    for item in span.trace.slices:
        if item.kind not in ('runtime', 'driver') and 'External id' in item.args:
            outer = item
            while outer.dead:
                outer = outer.owner
            stands_for[item.track, item.args['External id']] = outer
    too_much = Counter()
    for item in span.trace.slices:
        if item.kind == 'op' and not item.dead and id(item) not in backward_of(span).lost:
            more = unseen_inside(item, item, stands_for)
            too_much[item.name, shape_of(item)] += more
            too_much[item.name, None] += more
    return too_much


def unseen_inside(item, op, stands_for):
    """A range of the user is not a node of the plugin: what is in it hangs on the operator around, so only the rest of
    the range is not taken off."""
    more = 0
    for child in item.children:
        named = stands_for.get((child.track, child.args.get('External id')))
        if child.kind == 'annotation':
            more += child.dur - sum(c.dur for c in child.children) + unseen_inside(child, op, stands_for)
        elif child.kind in ('runtime', 'driver') and named is not op:
            more += child.dur
    return more


def operator_table(check, span, params, answer):
    group = params['group_by']
    got = seen_operators(check, span, group)
    expected = {}
    for row in answer['response']['data']:
        key = (row['name'], dims(row['input_shape'])) if 'input_shape' in row else row['name']
        expected[key] = row
    if not odd_of(span):
        check.equal('%s rows' % group, len(expected), len(got))
    for key, row in expected.items():
        if is_odd(check, span, key):
            continue
        if key not in got:
            check.fail('%s: %s is missing' % (group, key))
            continue
        mine = got[key]
        ranges = operator_ranges(span)[key if isinstance(key, tuple) else (key, None)]
        what = '%s %s' % (group, key)
        check.equal(what + ' calls', row['calls'], mine['calls'])
        for theirs, ours in FIGURES.items():
            if theirs in row:
                check.rounded('%s %s' % (what, ours), row[theirs], (mine[ours] or 0) + unseen(
                    check, span, key, ours), ranges)
        tensor_2021(check, what, row, tensor_old(span)[key if isinstance(key, tuple) else (key, None)])
    for key in set(got) - set(expected):
        if not is_odd(check, span, key):
            check.fail('%s: %s should not be there' % (group, key))
    check.equal('%s different rows' % group, len(answer['response']['data']), len(expected))
    tensor_columns(check, span, group, operators_of(span, group))


def unseen(check, span, key, column):
    """What the plugin's self time has too much; ours without it is checked with the reference."""
    key = key if isinstance(key, tuple) else (key, None)
    too_much = unseen_self(span)[key] if column == 'host_self' else 0
    if too_much:
        right = reference_row(span, key)['host_self']
        table = operators_of(span, 'Operation' if key[1] is None else 'OperationAndInputShape')
        check.equal('host self of %s, reference' % (key,), right, table[key[0] if key[1] is None else key]['host_self'])
        check.leave('no_id')
    return too_much


@once
def tensor_reference(span):
    """{key: [eligible, tensor self, self, tensor total, total]} by name and by name and shape."""
    can = ref_tensor.eligible(span.trace)
    table = defaultdict(lambda: [False, 0, 0, 0, 0])
    for item in span.trace.slices:
        if item.kind == 'op' and not item.dead:
            for key in ((item.name, None), (item.name, shape_of(item))):
                table[key][0] |= id(item) in can
    for item in span.trace.slices:
        if item.kind in ('kernel', 'memcpy', 'memset') and item.op is not None:
            tensor = item.dur if item.kind == 'kernel' and ref_tensor.uses(item.name) else 0
            above, first = item.op, True
            while above is not None:
                if above.kind == 'op' and not above.dead:
                    for key in ((above.name, None), (above.name, shape_of(above))):
                        if first:
                            table[key][1] += tensor
                            table[key][2] += item.dur
                        table[key][3] += tensor
                        table[key][4] += item.dur
                    first = False
                above = above.owner
    return table


@once
def tensor_old(span):
    """{key: [tensor self, self, tensor total, total]} by the list of 2021, of what the plugin does not lose."""
    table = defaultdict(lambda: [0, 0, 0, 0])
    for item in span.trace.slices:
        if item.kind in ('kernel', 'memcpy', 'memset') and item.op is not None:
            tensor = item.dur if item.kind == 'kernel' and ref_tensor.uses_2021(item.name) else 0
            above, first = item.op, True
            while above is not None:
                if above.kind == 'op' and not above.dead:
                    if id(above) not in backward_of(span).lost:
                        for key in ((above.name, None), (above.name, shape_of(above))):
                            row = table[key]
                            row[0], row[1] = row[0] + tensor * first, row[1] + item.dur * first
                            row[2], row[3] = row[2] + tensor, row[3] + item.dur
                    first = False
                above = above.owner
    return table


def tensor_2021(check, what, row, sums):
    for column, part, whole in (('tc_self_ratio', sums[0], sums[1]), ('tc_total_ratio', sums[2], sums[3])):
        if column in row:
            check.near('%s %s as the plugin counts' % (what, column), row[column], 100 * part / whole if whole else 0, .0051)


def tensor_columns(check, span, group, got):
    """The plugin's three columns are left out; the reference has the right ones."""
    for key, mine in got.items():
        can, own, own_all, total, total_all = tensor_reference(span)[key if isinstance(key, tuple) else (key, None)]
        what = '%s %s tensor cores' % (group, key)
        check.equal(what + ' eligible, reference', can, mine['tensor_core_eligible'])
        check.near(what + ' self, reference', own / own_all if own_all else 0,
                   mine['tensor_core_self_share'] or 0, 1e-9)
        check.near(what + ' total, reference', total / total_all if total_all else 0,
                   mine['tensor_core_total_share'] or 0, 1e-9)
    check.leave('tensor_core', 3 * len(got))


def operator_pies(check, span, params, answer):
    """Four lists of [name, value]; rows of one name, by shape, are compared in order of their value."""
    group = params['group_by']
    table = seen_operators(check, span, group)
    for pie, column in (('device_total_time', 'device_total'), ('device_self_time', 'device_self'),
                        ('host_total_time', 'host_total'), ('host_self_time', 'host_self')):
        part = answer['response'].get(pie)
        expected, got = defaultdict(list), defaultdict(list)
        for name, value in (part or {}).get('rows') or []:
            expected[name].append(value)
        for key, row in table.items():
            value = (row[column] or 0) + unseen(check, span, key, column)
            if value > 0:
                got[row['name']].append(value)
        for name in sorted(set(expected) | set(got)):
            if is_odd(check, span, name):
                continue
            what = '%s %s of %s' % (group, pie, name)
            check.equal(what + ' rows', len(expected[name]), len(got[name]))
            for theirs, ours in zip(sorted(expected[name]), sorted(got[name])):
                check.time(what, theirs, ours, operator_ranges(span)[name, None])


def operator_stacks(check, span, params, answer):
    """Groups by stack.  Without recorded stacks the original crashes; ours are made from the frames."""
    by_shape = params['group_by'] == 'OperationAndInputShape'
    group = 'name+shape+stack' if by_shape else 'name+stack'
    found = [r for r in rows(span.ask('operators', '--group-by', group), 'operators')
             if r['name'] == params['op_name']
             and (not by_shape or dims(r['shapes']) == dims(params['input_shape']))]
    what = 'stacks of %s' % params['op_name']
    if answer['status'] != 200:
        whole = operators_of(span, params['group_by'])
        key = (params['op_name'], dims(params['input_shape'])) if by_shape else params['op_name']
        for column in ('calls', *FIGURES.values()):
            check.equal('%s add up to its %s' % (what, column), whole[key][column] or 0,
                        sum(r[column] or 0 for r in found))
        if not any(s.kind in ('python', 'module') for s in span.trace.slices):
            check.equal(what + ': none is made up', {''}, {r['stack'] or '' for r in found})
        check.leave('crash')
        return
    expected = {row['call_stack']: row for row in answer['response']['data']}
    got = {r['stack']: r for r in found if r['stack']}
    check.equal(what + ' rows', sorted(map(frames, expected)), sorted(map(frames, got)))
    got = {tuple(frames(stack)): row for stack, row in got.items()}
    for stack, row in expected.items():
        mine = got.get(tuple(frames(stack)))
        if mine is not None:
            check.equal(what + ' calls', row['calls'], mine['calls'])
            for theirs, ours in FIGURES.items():
                if theirs in row:
                    check.rounded('%s %s' % (what, ours), row[theirs], mine[ours] or 0, row['calls'])
            if not any(s.kind == 'kernel' for s in span.trace.slices):
                tensor_2021(check, what, row, (0, 0, 0, 0))


def frames(stack):
    """Frames of a stack, innermost first, however they are joined."""
    return [f.strip() for f in stack.replace('\n', ';').split(';') if f.strip()]


# ---- kernels ----

def kernel_pie(check, span, params, answer):
    got = keyed(rows(span.ask('kernels', '--group-by', 'name'), 'kernels'), 'name')
    if answer['response'] is None:
        check.equal('kernels', {}, got)
        return
    expected = dict(answer['response']['total']['rows'])
    check.equal('kernel pie rows', len(expected), len(got))
    check.equal('kernel pie different rows', len(answer['response']['total']['rows']), len(expected))
    for name, value in expected.items():
        check.time('kernel pie %s' % name[:60], value, got[name]['total'] if name in got else None,
                   got.get(name, {}).get('calls', 1))


def kernel_table(check, span, params, answer):
    if answer['response'] is None:
        check.equal('kernels', 0, len(rows(span.ask('kernels'), 'kernels')))
        return
    data = answer['response']['data']
    names = [c['name'] for c in data['columns']]
    expected = [dict(zip(names, row)) for row in data['rows']]
    if params['group_by'] == 'Kernel':
        got = keyed(rows(span.ask('kernels', '--group-by', 'name'), 'kernels'), 'name')
        check.equal('kernel rows', len(expected), len(got))
        for row in expected:
            one_kernel(check, span, 'kernel %s' % row['Name'][:60], row, got.get(row['Name']))
        return
    kernels_by_launch(check, span, expected)


def one_kernel(check, span, what, row, mine, by_name=True):
    if mine is None:
        check.fail(what + ' is missing')
        return
    calls = row['Calls']
    check.equal(what + ' calls', calls, mine['calls'])
    for theirs, ours in (('Total', 'total'), ('Mean', 'mean'), ('Max', 'max'), ('Min', 'min')):
        # By kernel and launch only means are rounded.
        compare = check.rounded if by_name or ours == 'mean' else check.time
        compare('%s %s' % (what, ours), row[theirs + ' Duration (us)'], mine[ours], calls if ours == 'total' else 1)
    for theirs, ours, factor in (('Mean Blocks Per SM', 'blocks_per_sm', 1),
                                 ('Mean Est. Achieved Occupancy (%)', 'occupancy', 100)):
        if theirs in row:
            check.near('%s %s' % (what, ours), row[theirs], (mine[ours] or 0) * factor, .0051)
    check.equal(what + ' tensor core, reference', ref_tensor.uses(mine['name']), mine['tensor_core'])
    used = row['Tensor Cores Used' if by_name else 'Kernel Uses Tensor Cores']
    check.equal(what + ' tensor core as the plugin has it', used, 'Yes' if ref_tensor.uses_2021(mine['name']) else 'No')
    check.leave('tensor_core')


def kernels_by_launch(check, span, expected):
    def text(value):
        return str(value).replace(' ', '') if value is not None else 'None'
    got = {}
    for row in rows(span.ask('kernels', '--group-by', 'launch'), 'kernels'):
        key = (row['name'], row['op'], text(row['grid']), text(row['block']), int(row['registers'] or 0),
               int(row['shared_memory'] or 0))
        got[key] = row
    # Kernels of calls whose id is that of no operator are not in the plugin's table.
    lost = Counter()
    ids = {(s.track[0], s.args.get('External id')) for s in span.trace.slices if s.kind not in ('runtime', 'driver')}
    for item in span.trace.slices:
        if item.kind == 'kernel' and item.op is None and item.launch is not None \
                and (item.launch.track[0], item.launch.args.get('External id')) not in ids:
            lost[item.name] += 1
    # Without steps, those of calls outside every operator are not in it either.
    stray = not any(s.kind == 'step' for s in span.trace.slices)
    right = Counter(s.name for s in span.trace.slices if s.kind == 'kernel' and s.op is None)
    seen = set()
    for row in expected:
        op = None if row['Operator'] == 'CallTreeRoot' else row['Operator']
        key = (row['Name'], op, text(row['Grid']), text(row['Block']), int(row['Register Per Thread']),
               int(row['Shared Memory']))
        what = 'launch of %s by %s' % (row['Name'][:50], row['Operator'])
        seen.add(key)
        if op in odd_of(span) or op is None and lost[row['Name']]:
            check.leave(odd_of(span).get(op, 'no_id'))
            continue
        one_kernel(check, span, what, row, got.get(key), False)
    for key in set(got) - seen:
        if key[1] in odd_of(span) or key[1] is None and (lost[key[0]] or stray):
            check.leave(odd_of(span).get(key[1], 'no_id'))
            if key[1] is None:
                mine = sum(r['calls'] for k, r in got.items() if k[:2] == key[:2])
                check.equal('launches of %s outside operators, reference' % key[0][:60], right[key[0]], mine)
        else:
            check.fail('launch of %s by %s should not be there' % (key[0][:60], key[1:]))


def tensor_core_pie(check, span, params, answer):
    table = rows(span.ask('kernels', '--group-by', 'name'), 'kernels')
    if answer['response'] is None:
        check.equal('kernels', [], table)
        return
    kernels = [s for s in span.trace.slices if s.kind == 'kernel']
    total = sum(s.dur for s in kernels)
    old = sum(s.dur for s in kernels if ref_tensor.uses_2021(s.name)) / total
    values = dict(answer['response']['total']['rows'])
    check.near('tensor core pie as the plugin counts', values['Using Tensor Cores'], old, 1e-6)
    check.near('the rest of the pie', values['Not Using Tensor Cores'], 1 - old, 1e-6)
    mine = sum(r['total'] for r in table if r['tensor_core']) / sum(r['total'] for r in table)
    check.near('tensor core pie, reference', float(tensor_share(kernels)), mine, 1e-9)
    check.leave('tensor_core', 2)


# ---- the counters the plugin adds to the trace it serves ----

def counters(check, span, params, answer):
    """The served trace is the file; the counters in it are compared with the reference and, in windows
    inside the steps, with the program's figures."""
    added = answer['response']['injected_counters']
    file_events = len(span.root['traceEvents'] if isinstance(span.root, dict) else span.root)
    check.equal('events of the served trace', answer['response']['events'], file_events + sum(added.values()))
    for name, count in added.items():
        number = int(re.match(r'GPU (\d+) ', name).group(1))
        values = answer['response']['injected_value_sums'][name]
        first_points(check, span, name, number, answer['response']['first_injected'][name], count)
        if name.endswith('Utilization'):
            buckets = utilization_buckets(span, number)
            check.equal(name + ' points', count, len(buckets) + 3)
            check.near(name + ' sum', values, 1 + float(sum(value for _, _, value in buckets)), 1e-3)
            windows(check, span, number, buckets)
        else:
            parts = segments_of(span, number)
            check.equal(name + ' has no fewer points', True, 2 + 2 * len(parts) <= count <= 2 + 4 * len(parts))
            check.near(name + ' sum', values, 1 + float(sum(value for _, _, value in parts)), 1e-4)
            check.leave('residue')
    check.leave('file')


def first_points(check, span, name, number, points, count):
    """The first sixty points of a counter: each has the value that begins there."""
    check.equal(name + ' points that are kept', min(60, count), len(points))
    key = name[len('GPU %d ' % number):]
    key = 'GPU ' + key if key == 'Utilization' else key
    kinds = {(p['ph'], p['name'], p['pid'], tuple(p['args'])) for p in points}
    check.equal(name + ' kinds of points', 1, len({k for k in kinds if k[0] == 'C' and k[1] == name and k[3] == (key,)}))
    check.equal(name + ' kinds of points in all', 1, len(kinds))
    got = [(p['ts'] * 1000, p['args'][key]) for p in points]
    if key == 'GPU Utilization':
        buckets = utilization_buckets(span, number)
        start = buckets[0][0] if buckets else got[0][0]
        right = [(start, 1), (start, 0)] + [(a, float(v)) for a, _, v in buckets] + [(b, 0) for _, b, _ in buckets[-1:]]
        for place, ((time, value), (at, wanted)) in enumerate(zip(got, right)):
            check.near('%s point %d time' % (name, place), time, at, 1)
            check.near('%s point %d' % (name, place), value, wanted, 1e-3)
        return
    parts = [(a, b, float(v)) for a, b, v in segments_of(span, number)]
    edges = sorted({a: v for a, _, v in parts}.items())
    ends = {b for _, b, _ in parts}
    for place, (time, value) in enumerate(got[2:]):
        near = [v for a, v in edges if abs(a - time) <= 1] + [0.0 for b in ends if abs(b - time) <= 1]
        check.equal('%s point %d at %.0f is an edge with its value' % (name, place, time), True,
                    any(abs(v - value) <= 1e-5 for v in near))
    check.equal(name + ' order', sorted(t for t, _ in got), [t for t, _ in got])
    check.equal(name + ' begins with its scale', [1, 0], [v for _, v in got[:2]])
    check.equal(name + ' scale is at one place', 1, len({t for t, _ in got[:2]}))


@once
def utilization_buckets(span, device):
    """(start, end, busy share): at most a hundred, of a power of ten of microseconds."""
    whole = [s for s in span.trace.slices if s.kind == 'span' and s.name == 'PyTorch Profiler (0)']
    start, end = whole[-1].start, whole[-1].end
    size = 1000
    while (end - start) / size > 100:
        size *= 10
    count, busy, out = (end - start) // size, of(kernels_of(span, device)), []
    for i in range(count):
        a, b = start + i * size, end if i == count - 1 else start + (i + 1) * size
        out.append((a, b, Fraction(length(inside(busy, a, b)), b - a)))
    return out


def windows(check, span, number, buckets):
    """Three of the buckets that lie inside the steps, asked as windows."""
    kept = steps_of(span)
    fit = [b for b in buckets if kept[0].start <= b[0] and b[1] <= kept[-1].end]
    for start, end, value in fit[::max(1, len(fit) // 3)][:3]:
        answer = span.ask('overview', '--from', '%dns' % (start - span.start), '--to', '%dns' % (end - span.start))
        got = {r['device']: r for r in rows(answer, 'devices')}.get(number, {})
        check.near('GPU %d utilization in a window' % number, float(value), got.get('utilization', 0), 1e-9)
        right = ref_device.mean_of_segments(segments_of(span, number), start, end)
        check.near('GPU %d SM efficiency in a window' % number, None if right is None else float(right),
                   got.get('sm_efficiency'), 1e-6)
