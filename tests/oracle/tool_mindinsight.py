"""The recorded answers of MindInsight against tacho's `operators`, `steps`, `pipeline` and `info`.

A file of answers holds one question: `input` and `device` name the worker, `query` or the path of the HTTP
request the page, `request` its conditions, `response` what MindInsight said.  Every page has one function here;
it asks tacho for the tables of that worker, applies the conditions (filter, sort, page: mindinsight_table.py)
and compares every number.  Where MindInsight is wrong, a row of DEFECTS says how, and the right value is
compared with a reference that reads the files itself.
"""

import csv
import functools
import glob
import json
import os
import re
from collections import Counter
from decimal import Decimal

from common import DATA, Refused, ask, call, figures, read_answers, remembers, rows, short
import mindinsight_cluster
import mindinsight_cpu
from mindinsight_table import keep, order, page

DEFECTS = {
    # id: (section of the spec, what and why)
    'percent': ('1.3', 'the percentage of an AI Core type is multiplied by 100 once too often; compared with the share of '
                'the totals'),
    'flops': ('1.7', 'columns of a FLOPs file are taken by their number; compared with what its header says'),
    'subgraph': ('R.2', 'the sub-graph is Default for every operator; compared with the first part of its path'),
    'per_step': ('1.11', 'executions a step are not a column; compared where they are whole'),
    'early': ('2.6', 'lists of processor samples are one sample early, doubled ones show the first half with zeros between; '
              'means compared with the file'),
    'no_info': ('R.2', 'without profiler_info no device is listed although every other file is there'),
    'short_sort': ('0.4', 'the short pipeline table is sorted by the column at the place of the one asked for'),
    'cut': ('2.7.5', 'the timeline was cut at its size limit; counted from the executions'),
    'hidden': ('2.16', 'the helper hides nearly everything unless both a long interval and a slow operator were found'),
    'before': ('1.1', 'the average of steps with and without an event lies before the step; an empty object stands for it'),
    'two_files': ('1.12', 'the folder\'s two pipeline files are of different pipelines; workers are compared with the table'),
    'bandwidth': ('2.11.1', 'the bandwidth of a link is the sum of those of its collectives; compared with bytes over time'),
    'group': ('2.13', 'the attribute group of a convolution is taken for a communication group'),
    'unit': ('1.9', 'the summary of a timeline adds microseconds and milliseconds'),
}
ECHO = {
    'error': 'the original only gives an error text',
    'file': 'the original only echoes a file',
    'nothing': 'the original has nothing to say',
}
_memo = {}


class Check:
    """A tally with a label, and what was left out, by row of DEFECTS or ECHO."""

    def __init__(self, tally, label):
        self.tally, self.label, self.left = tally, label, {}

    def equal(self, what, expected, got, slack=0):
        return self.tally.check('%s %s' % (self.label, what), expected, got, slack=slack)

    def near(self, what, expected, got, relative=2e-5, slack=0):
        """Six digits are all a file has."""
        if expected is None or got is None:
            return self.equal(what, expected, got)
        return self.equal(what, expected, got, slack=max(slack, abs(expected) * relative))

    def fail(self, sentence):
        self.tally.fail('%s %s' % (self.label, sentence))

    def leave(self, row, count=1):
        self.left[row] = self.left.get(row, 0) + count

    def end(self):
        for row, count in self.left.items():
            why = '%s: %s' % DEFECTS[row] if row in DEFECTS else ECHO[row]
            self.tally.skip('%s: %s (%d figures)' % (self.label, why, count), count)


class Worker:
    """One device of one folder: tacho's tables, and the folder's own files for the references."""

    def __init__(self, path, device):
        self.path, self.device = path, device

    def table(self, analysis, name, *options):
        key = (self.path, self.device, analysis, options)
        if remembers() or key not in _memo:
            # Without a device MindInsight answers for the first one.
            chosen = ['--worker', 'rank%s' % (0 if self.device is None else self.device)]
            try:
                _memo[key] = ask(analysis, self.path, *chosen, '--limit', '0', *options)
            except Refused as problem:
                if 'no worker' not in str(problem) and 'worker' not in str(problem):
                    raise
                _memo[key] = ask(analysis, self.path, '--limit', '0', *options)
        return rows(_memo[key], name)

    def file(self, pattern):
        number = '*' if self.device is None else str(self.device)
        found = sorted(glob.glob(os.path.join(self.path, pattern.replace('#', number))))
        return found[0] if found else None

    def text(self, pattern):
        path = self.file(pattern)
        if not path:
            return None
        with open(path, encoding='utf-8') as file:
            return file.read()


# ---- operators ----------------------------------------------------------------------------------------------------

SIDES = {'aicore': 'AI Core', 'aicpu': 'AI CPU', 'cpu': 'host', 'gpu': 'device'}
US = 1000


def operator_rows(worker, table):
    """tacho's rows in the shape of a MindInsight table: its columns by its names, times in us."""
    kind = table.split('_')[0]
    by_type = 'type' in table.split('_')
    group = ['--group-by', 'type'] if by_type else []
    out = []
    for row in worker.table('operators', 'operators', *group):
        if row['side'] != SIDES[kind]:
            continue
        total = row['host_total'] if row['device_total'] is None else row['device_total']
        mean = row['mean']
        item = {'_row': row, '_total': total, '_mean': mean}
        for name in ('kernel_type', 'op_type'):
            item[name] = row['name'] if by_type else row['type']
        for name in ('kernel_name', 'op_name'):
            item[name] = row['name']
        item['full_op_name'] = row['full_name']
        for name in ('total_time', 'total_compute_time', 'op_total_time'):
            item[name] = total / US
        for name in ('avg_time', 'avg_execution_time', 'op_avg_time'):
            item[name] = mean / US
        for name in ('execution_frequency', 'op_occurrences', 'type_occurrences'):
            item[name] = row['calls']
        out.append(item)
    return out


def right_flops(worker):
    """{full name: (cube M, cube G/s, vector M, vector G/s)} by the header of the FLOPs file."""
    return flops_by_header(worker.text('flops_#.txt'))


@functools.lru_cache(None)
def flops_by_header(text):
    out = {}
    if text:
        lines = list(csv.reader(text.splitlines(), skipinitialspace=True))
        names = ['MFLOPs(10^6 cube)', 'GFLOPS(10^9 cube)', 'MFLOPs(10^6 vector)', 'GFLOPS(10^9 vector)']
        at = [lines[0].index(n) if n in lines[0] else None for n in names]
        if at[0] is None and 'FLOPs' in lines[0]:
            at[0], at[1] = lines[0].index('FLOPs'), lines[0].index('FLOPS')
        for line in lines[1:]:
            out[line[0]] = [float(line[i]) if i is not None else None for i in at]
    return out


FLOP_COLUMNS = ['MFLOPs(10^6 cube)', 'GFLOPS(10^9 cube)', 'MFLOPs(10^6 vector)', 'GFLOPS(10^9 vector)']


def flops_by_number(worker):
    """{full name: the first four figures of its line}, whatever the header says."""
    return flops_of(worker.text('flops_#.txt') or '')


@functools.lru_cache(None)
def flops_of(text):
    lines = csv.reader(text.splitlines()[1:], skipinitialspace=True)
    return {line[0]: ([float(v) for v in line[1:5]] + ['-'] * 4)[:4] for line in lines}


def half_digit(values):
    """Half of the last digit of a column, as far as any of its values shows it."""
    digits = [len(repr(float(v)).partition('.')[2]) for v in values if isinstance(v, (int, float)) and 'e' not in repr(v)]
    return 0.51 * 10.0 ** -max(digits, default=0)


def compare_operator(check, worker, table, columns, expected, got, half):
    row = got['_row']
    for name, value in zip(columns, expected):
        what = '%s %s' % (row['full_name'][-40:], name)
        if name in ('kernel_type', 'op_type', 'kernel_name', 'full_op_name') and name in got:
            check.equal(what, value, got[name])
        elif name == 'op_name':
            check.equal(what, value, got['full_op_name' if table == 'aicore_detail' else 'op_name'])
        elif name in ('execution_frequency', 'op_occurrences', 'type_occurrences') \
                and not (table == 'cpu_op_type' and name == 'execution_frequency'):
            check.equal(what, value, 1 if row['calls'] is None else row['calls'])
        elif name in ('total_time', 'total_compute_time', 'op_total_time'):
            check.near(what, value * US, got['_total'], slack=1)
        elif name in ('avg_time', 'avg_execution_time', 'op_avg_time'):
            check.near(what, value * US, got['_mean'], slack=1)
        elif name == 'dispatch_time':
            check.near(what, value * US, row['dispatch_mean'], slack=1)
        elif name in ('percent', 'total_time_proportion', 'total_percent'):
            compare_share(check, worker, table, value, row, what, half)
        elif name == 'subgraph':
            right = row['full_name'].split('/')[0] if '/' in row['full_name'] else None
            check.equal(what, right, row['subgraph'])
            check.equal(what + ' as MindInsight has it', value, 'Default')
            check.leave('subgraph') if value != right else None
        elif name == 'op_side':
            check.equal(what, value.lower(), row['side'])
        elif name == 'op_info':
            check.equal(what, value, json.loads(row['info']) if row['info'] else value and None)
        elif name == 'execution_frequency':
            compare_per_step(check, worker, value, row, what)
        elif 'FLOP' in name:
            by_number = flops_by_number(worker).get(row['full_name'], ['-'] * 4)
            check.equal(what + ' as MindInsight takes it', value, by_number[FLOP_COLUMNS.index(name)])
            check.leave('flops')
        else:
            check.tally.fail('%s: a column nobody knows' % what)
    if table == 'aicore_detail':
        right = right_flops(worker).get(row['full_name'])
        for value, name, unit in zip(right or (), ('flops', 'flops_per_s', 'vector_flops', 'vector_flops_per_s'),
                                     (1e6, 1e9, 1e6, 1e9)):
            check.near('%s %s' % (row['full_name'][-40:], name), value and value * unit, row[name], 1e-12)


def compare_share(check, worker, table, value, row, what, half):
    if table == 'aicore_type':
        text = worker.text('aicore_intermediate_#_type.csv').splitlines()
        percent_of = {line[0]: float(line[3]) for line in csv.reader(text[1:], skipinitialspace=True)}
        check.equal(what + ' as MindInsight counts', value, round(percent_of[row['name']] * 100, 6))
        every = [r['_total'] for r in operator_rows(worker, table)]
        check.equal(what + ', share of the totals', row['device_total'] / sum(every), row['share'], slack=1e-9)
        check.leave('percent')
    elif table == 'aicpu_type':
        check.equal(what, value, row['share'] * 100, slack=0.0051)
    else:
        check.equal(what, value, row['share'] * (100 if table == 'cpu_op_type' else 1), slack=half + 3e-6 * abs(value))


def compare_per_step(check, worker, value, row, what):
    names = [r['full_name'] for r in worker.table('operators', 'operators')]
    steps = len(worker.table('steps', 'steps')) if any(n.startswith('Default/') for n in names) else 0
    # In PyNative mode operators have no path, or lines without a name, and nothing says where a step ends.
    if ';;' in (worker.text('cpu_framework_#.txt') or ''):
        steps = 0
    if steps > 1 and row['calls'] % steps == 0:
        check.equal(what, value, row['calls'] // steps)
    else:
        check.leave('per_step')


def ask_operators(check, worker, table, request, response):
    mine = keep(operator_rows(worker, table), request.get('filter_condition'))
    check.equal('rows', response['size'], len(mine))
    key = 'kernel_type' if table in ('aicore_type', 'aicpu_type') else 'op_type' if table.endswith('type') else None
    columns = response['col_name']
    by_name = {}
    for row in mine:
        by_name.setdefault(row[key] if key else row['full_op_name'], row)
        if not key:
            by_name.setdefault(row['op_name'], row)
    shown = page(mine, request.get('group_condition'))
    check.equal('rows shown', len(response['object']), len(shown))
    if request.get('sort_condition', {}).get('name'):
        ordered = page(order(mine, request['sort_condition']), request.get('group_condition'))
        name = request['sort_condition']['name']
        at = columns.index(name) if name in columns else None
        for want, row in zip(response['object'], ordered):
            if at is not None:
                check.near('sorted by %s' % name, want[at], row[name], slack=0.0011)
    at = columns.index(key or next(c for c in ('full_op_name', 'op_name', 'kernel_name') if c in columns))
    check.equal('different rows', len(response['object']), len({row[at] for row in response['object']}))
    share = next((c for c in ('percent', 'total_time_proportion', 'total_percent') if c in columns), None)
    shares = [row[columns.index(share)] for row in response['object']] if share else []
    for want in response['object']:
        # Small percentages are written with more digits than large ones.
        large = bool(share) and want[columns.index(share)] >= 1
        half = half_digit([v for v in shares if (v >= 1) == large])
        value = want[columns.index(key)] if key else want[columns.index(
            'full_op_name' if 'full_op_name' in columns else 'op_name' if 'op_name' in columns else 'kernel_name')]
        row = by_name.get(value)
        if row is None:
            check.tally.fail('%s: %s is missing' % (check.label, value))
            continue
        compare_operator(check, worker, table, columns, want, row, half)


# ---- step trace ---------------------------------------------------------------------------------------------------

def ms(ns):
    return round(ns / 10 / 100000, 4)


def percent(part, total):
    return '0%' if not total else '%s%%' % round(part / total * 100, 2)


def average_parts(worker):
    return {r['stage']: r for r in worker.table('steps', 'average') if r['stage'] != 'communication'}


def ask_summary(check, worker, request, response):
    parts = average_parts(worker)
    total = parts['total']['duration']
    for name, stage in (('iteration_interval', 'interval'), ('fp_and_bp', 'forward_backward'), ('tail', 'tail')):
        if name in response:
            check.equal(name, response[name], ms(parts[stage]['duration']))
            check.equal(name + '_percent', response[name + '_percent'], percent(parts[stage]['duration'], total))
    check.equal('total_time', response['total_time'], ms(total))
    check.equal('total_steps', response['total_steps'], len(worker.table('steps', 'steps')))


def ask_series(check, worker, request, response):
    column = {'iteration_interval': 'gap', 'fp_and_bp': 'forward_backward', 'tail': 'tail'}[request['proc_name']]
    mine = [ms(r[column] or 0) for r in worker.table('steps', 'steps')]
    check.equal('size', response['size'], len(mine))
    check.equal(request['proc_name'], response['info'][request['proc_name']], mine)


def step_picture(worker, step):
    """(total, [(name, start, duration)] of the parts, [(track, name, start, duration)]), ns from the step's start."""
    if not step:
        parts = worker.table('steps', 'average')
        main = {r['stage']: r for r in parts if r['stage'] != 'communication'}
        comms = [(r['track'], r['name'], r['start'], r['duration']) for r in parts if r['stage'] == 'communication']
        return main['total']['duration'], [(main[s]['start'], main[s]['duration']) if s in main else None
                                           for s in ('interval', 'forward_backward', 'tail')], comms
    row = [r for r in worker.table('steps', 'steps') if r['step'] == step][0]
    start, gap, passes, tail = row['start'], row['gap'] or 0, row['forward_backward'], row['tail']
    comms = [(r['track'], r['name'], r['start'] - start, r['duration'])
             for r in worker.table('steps', 'segments') if r['step'] == step and r['stage'] == 'communication']
    return row['duration'], [(0, gap), (gap, passes), (gap + passes, tail) if tail is not None else None], comms


def gapless(check, line, at, total, slack):
    """The lane of a stream, from the start of the forward pass to the end of the step: what has no name is the time
    between its collectives."""
    for item in line if all(line) else ():
        check.equal('%s begins where the one before ends' % (item['name'] or 'pause'), item['start'], at, 2 * slack)
        at = item['start'] + item['duration']
    if line and all(line):
        check.equal('the end of a stream', at, total, 2 * slack)


def ask_graph(check, worker, request, response):
    step = int(request.get('step_id') or 0)
    raw = request.get('time_type') == 'systime'
    unit, slack = (10, 2) if raw else (1e6, 0.0002001)
    total, parts, comms = step_picture(worker, step)
    graph = response['training_trace_graph']
    check.equal('size', response['size'], len(worker.table('steps', 'steps')))
    check.equal('total', graph[0][0]['duration'], total / unit, slack)
    check.equal('parts', len(graph[1]), len([p for p in parts if p]))
    for want, got in zip(graph[1], [p for p in parts if p]):
        if want:
            check.equal(want['name'] + ' start', want['start'], got[0] / unit, slack)
            check.equal(want['name'] + ' duration', want['duration'], got[1] / unit, slack)
    mine = {name: (start, duration) for _, name, start, duration in comms}
    named = [item for line in graph[2:] for item in line if item and item['name']]
    before = sum(not item for line in graph[2:] for item in line)
    if before:
        check.leave('before', before)
    else:
        check.equal('collectives', len(named), len(mine))
    check.equal('streams', len(graph) - 2, len({c[0] for c in comms}))
    for line in graph[2:]:
        gapless(check, line, graph[1][1]['start'] if len(graph[1]) > 1 else 0, total / unit, slack)
    for item in named:
        got = mine.get(item['name'])
        if got is None:
            check.tally.fail('%s: collective %s is missing' % (check.label, item['name']))
            continue
        check.equal(item['name'] + ' start', item['start'], got[0] / unit, slack)
        check.equal(item['name'] + ' duration', item['duration'], got[1] / unit, slack)
    points = {r['point']: r['name'] for r in worker.table('steps', 'points')}
    for key, point in (('fp_start', 'forward_start'), ('bp_end', 'backward_end')):
        if response.get('point_info', {}).get(key):
            check.equal(key, response['point_info'][key], points.get(point))


# ---- data preparation ---------------------------------------------------------------------------------------------

def pipeline_rows(worker, *options):
    table = worker.table('pipeline', 'operators', *options)
    ids = {r['operator']: r['id'] for r in table}
    sizes = {}
    for sample in worker.table('pipeline', 'queue_samples'):
        sizes.setdefault(sample['operator'], []).append(sample['size'])
    out = []
    for row in table:
        children = [r['id'] for r in table if r['parent'] == row['operator']]
        out.append({'_row': row, 'op_id': row['id'], 'op_type': row['type'], 'num_workers': row['workers'],
                    'output_queue_size': sizes.get(row['operator']), 'output_queue_average_size': row['queue_mean'],
                    'output_queue_length': row['queue_capacity'], 'output_queue_usage_rate': row['usage'] or 0,
                    'sample_interval': row['interval'] and row['interval'] // 1000000,
                    'parent_id': ids.get(row['parent']), 'children_id': children or None})
    return out


def compare_pipe(check, columns, want, got):
    for name, value in zip(columns, want):
        what = 'operator %s %s' % (got['op_id'], name)
        if name == 'output_queue_usage_rate':
            check.near(what, value or 0, got[name], 1e-12)
        elif name == 'children_id':
            check.equal(what, sorted(value or ()), sorted(got[name] or ()))
        elif name == 'output_queue_average_size':
            check.near(what, value, got[name], 1e-12)
        else:
            check.equal(what, value, got[name])


def ask_pipeline(check, worker, request, response):
    condition = dict(request.get('filter_condition') or {})
    limits = condition.pop('threshold', None)
    detail = condition.pop('is_display_op_detail', False)
    options = ['--high', str(limits[0]), '--low', str(limits[1])] if limits else []
    mine = pipeline_rows(worker, *options)
    if limits:
        mine = [r for r in mine if r['_row']['bottleneck']]
    mine = keep(mine, condition)
    check.equal('rows', response['size'], len(mine))
    by_id = {r['op_id']: r for r in mine}
    at = response['col_name'].index('op_id')
    shown = page(mine, request.get('group_condition'))
    check.equal('rows shown', len(response['object']), len(shown))
    check.equal('different rows', len(response['object']), len({row[at] for row in response['object']}))
    for want in response['object']:
        if want[at] not in by_id:
            check.tally.fail('%s: operator %s is missing' % (check.label, want[at]))
        else:
            compare_pipe(check, response['col_name'], want, by_id[want[at]])
    if (request.get('sort_condition') or {}).get('name'):
        if not detail:
            check.leave('short_sort')
        else:
            mine = order(mine, request['sort_condition'])
            check.equal('order', [w[at] for w in response['object']], [r['op_id'] for r in mine])


def ask_queue_of(check, worker, request, response):
    by_id = {r['op_id']: r for r in pipeline_rows(worker)}
    row = by_id.get(int(request['op_id']))
    if row is None:
        check.tally.fail('%s: operator %s is missing' % (check.label, request['op_id']))
        return
    for key, got in (('current_op', row), ('parent_op', by_id.get(row['parent_id']))):
        want = response[key]
        check.equal(key, want, got and {n: got[n] for n in ('op_id', 'op_type', 'num_workers')})
    info = response['queue_info']
    for name, value in (info or {}).items():
        check.near(name, value, row[name], 1e-12) if isinstance(value, float) else check.equal(name, value, row[name])


def queue_rows(worker, name):
    return [r for r in worker.table('pipeline', 'queues') if r['queue'] == name]


def ask_queue(check, worker, request, response):
    name = 'data queue' if request['type'] == 'get_next' else 'host queue'
    if not response:
        check.equal('batches', 0, len(queue_rows(worker, name)))
        return
    mine = [r for r in queue_rows(worker, name) if r['size'] is not None]
    check.equal('size', response['size'], len(mine))
    check.equal('queue', response['info']['queue'], [r['size'] for r in mine])
    summary = response['summary']['queue_summary']
    check.equal('empty', summary['empty_queue'], sum(r['size'] == 0 for r in mine))
    if 'full_queue' in summary:
        check.equal('full', summary['full_queue'], sum(r['size'] == r['capacity'] for r in mine))


def ask_queue_times(check, worker, request, response):
    name = 'data queue' if request['type'] == 'get_next' else 'host queue'
    if not response:
        check.equal('batches', 0, len(queue_rows(worker, name)))
        return
    mine = [r for r in queue_rows(worker, name) if r['total'] is not None]
    check.equal('size', response['size'], len(mine))
    for key, column in (('get_next', 'total'), ('total_cost', 'total'), ('push_cost', 'push'), ('get_cost', 'get')):
        if key in response['info']:
            for i, (want, row) in enumerate(zip(response['info'][key], mine)):
                check.equal('%s %d' % (key, i), want, row[column] / 1e6, 1e-9)
    for key, value in (response.get('summary') or {}).get('time_summary', {}).items():
        column = {'avg_cost': 'total', 'get_cost': 'get', 'push_cost': 'push'}[key]
        check.near(key, float(value), sum(r[column] for r in mine) / len(mine) / 1e6, 1e-9)


def ask_process(check, worker, request, response):
    flow = {r['stage']: r for r in worker.table('pipeline', 'flow')}
    names = {'data_process': 'data_processing', 'data_transmission': 'data_transfer',
             'device_queue_warning': 'forward_backward'}
    for key, value in response.items():
        if 'status' in value and key in names:
            check.equal(key, value['status'], flow[names[key]]['status'])
        elif 'status' in value:  # get_next and fpbp never have a separate warning
            check.equal(key, 'normal', value['status'])
        else:
            row = flow['data_queue' if key == 'get_next_queue_info' else 'host_queue']
            for figure, column in (('empty_batch_count', 'empty'), ('full_batch_count', 'full'),
                                   ('total_batch', 'batches')):
                if figure in value['summary']:
                    check.equal('%s %s' % (key, figure), value['summary'][figure], row[column])


def right_samples(values, stamps, doubled):
    """What a list says of the time stamps after the first."""
    if doubled:
        values = values[2::2]
    elif len(values) + 1 != stamps:
        values = values[1:]
    return values[:stamps - 1]


def ask_cpu(check, worker, request, response):
    data = json.loads(worker.text('minddata_cpu_utilization_#.json'))
    stamps = len(data['time_stamp'])
    condition = request.get('filter_condition') or {}
    doubled = any(len(v) == 2 * stamps for v in data['device_info'].values())
    mine = {}
    for row in worker.table('pipeline', 'cpu_samples'):
        mine.setdefault((row['scope'], row['operator'], row['kind']), []).append(row['value'])
    words = {'user_utilization': 'user', 'sys_utilization': 'sys', 'io_utilization': 'io', 'idle_utilization': 'idle',
             'runnable_process': 'runnable', 'runable_processes': 'runnable', 'context_switch_count': 'context_switches'}
    for name, values in data['device_info'].items():
        check.equal('machine ' + name, right_samples(values, stamps, doubled), mine.get(('machine', None, words[name])))
    for name, values in data['process_info'].items():
        check.equal('process ' + name, right_samples(values, stamps, False), mine.get(('process', None, words[name])))
    operators = {r['id']: r for r in worker.table('pipeline', 'operators')}
    for item in data['op_info']:
        if item['op_id'] in operators:
            label = operators[item['op_id']]['operator']
            for name, values in item['metrics'].items():
                check.equal('%s %s' % (label, name), right_samples(values, stamps, False),
                            mine.get(('operator', label, words[name])))
    info = json.loads(worker.text('pipeline_profiling_#.json') or '{"op_info": []}')['op_info']
    workers = {o['op_id']: o['num_workers'] for o in info}
    for number, row in operators.items():
        if number in workers and {o['op_id']: o['op_type'] for o in info}[number] == row['type']:
            check.equal('workers of %s' % number, workers[number], row['workers'])
    queue = worker.text('device_queue_profiling_#.txt') or worker.text('dataset_iterator_profiling_#.txt')
    right = mindinsight_cpu.page(data, queue, len(worker.table('steps', 'steps')), workers, condition)
    same_tree(check, '', response, right)
    check.leave('early', figures(response))


def same_tree(check, what, theirs, right):
    """Every value of an answer, both ways."""
    if isinstance(theirs, dict) and isinstance(right, dict):
        check.equal(what + ' keys', sorted(theirs), sorted(right))
        for key in theirs:
            same_tree(check, '%s.%s' % (what, key), theirs[key], right.get(key))
    elif isinstance(theirs, list) and isinstance(right, list) and theirs and isinstance(theirs[0], dict):
        check.equal(what + ' rows', len(theirs), len(right))
        for number, (one, other) in enumerate(zip(theirs, right)):
            same_tree(check, '%s[%d]' % (what, number), one, other)
    else:
        check.equal(what + ' as MindInsight counts', theirs, right)


def ask_idle(check, worker, request, response):
    data = json.loads(worker.text('minddata_cpu_utilization_#.json'))
    values = right_samples(data['device_info']['idle_utilization'], len(data['time_stamp']), False)
    mine = [r['mean'] for r in worker.table('pipeline', 'cpu') if r['scope'] == 'machine' and r['kind'] == 'idle']
    check.near('idle', sum(values) / len(values), mine[0])
    check.equal('idle as recorded', response, round(mine[0]))


# ---- helper, devices, timelines -----------------------------------------------------------------------------------

def ask_helper(check, worker, request, response):
    """What MindInsight would have found, from tacho's figures; then its own hiding."""
    found = {}
    parts = average_parts(worker)
    if 'interval' in parts and worker.file('step_trace_raw_#_detail_time.csv') \
            and parts['interval']['duration'] > 500000:
        found['step_trace-iter_interval'] = ['0.5']
    flow = {r['stage']: r for r in worker.table('pipeline', 'flow')}
    host, data = flow.get('host_queue'), flow.get('data_queue')
    if data:
        found['minddata_get_next_queue'] = [data['empty'], data['batches']]
    if host:
        found['minddata_device_queue'] = [host['empty'], host['batches'], host['full'], host['batches']]
        if flow['data_processing']['status'] == 'warning':
            rate = -(-100 * host['empty'] // host['batches'])
            found['minddata_device_queue_rate'] = {'empty_rate': rate, 'empty_warning_threshold': 30}
    idle = [r['mean'] for r in worker.table('pipeline', 'cpu') if r['scope'] == 'machine' and r['kind'] == 'idle']
    if idle and 100 - round(idle[0]) > 80:
        found['minddata_cpu_utilization'] = [100 - round(idle[0])]
    table = worker.table('pipeline', 'operators')
    slow = [r for r in table if r['bottleneck'] in ('behind_child', 'source')]
    if slow:
        found['minddata_pipeline-general'] = ['/'.join(r['operator'] for r in reversed(slow))]
        parents = {r['parent'] for r in table}
        leaves = [r['operator'] for r in reversed(slow) if r['operator'] not in parents]
        if leaves:
            found['minddata_pipeline-dataset_op'] = ['/'.join(leaves)]
    check_advice(check, worker, found, host)
    hidden = 'step_trace-iter_interval' not in response or 'minddata_pipeline-general' not in response
    if hidden:
        check.leave('hidden', max(1, len(found)))
        # The question may be about one kind of proposal alone.
        asked = re.search(r'only (\S+)', request['_question'])
        signs = {k for k in found if not asked or any(k.startswith(word) for word in asked.group(1).split('+'))}
        check.equal('both signs', False, {'step_trace-iter_interval', 'minddata_pipeline-general'} <= signs)
        return
    for key, value in response.items():
        if value is not None:
            check.equal(key, value, found.get(key))


def check_advice(check, worker, found, host):
    """The same findings as rules of `advise`, which hides none of them but operators of a pipeline that keeps up."""
    chosen = [] if worker.device is None else ['--worker', 'rank%s' % worker.device]
    rules = {r['id']: r['values'] for r in rows(ask('advise', worker.path, *chosen, '--limit', '0'), 'advice')}
    rules = {k: json.loads(v) if isinstance(v, str) else v for k, v in rules.items()}
    check.equal('rule about the interval', 'step_trace-iter_interval' in found, 'step_interval' in rules)
    late = 'minddata_device_queue_rate' in found
    check.equal('rule about the host queue', late, 'host_queue_empty' in rules)
    if late:
        check.equal('empty batches', found['minddata_device_queue'][:2],
                    [rules['host_queue_empty']['empty'], rules['host_queue_empty']['batches']])
    # The helper rounds before it compares.
    idle = [r['mean'] for r in worker.table('pipeline', 'cpu') if r['scope'] == 'machine' and r['kind'] == 'idle']
    busy = 100 - round(idle[0]) if idle and 100 - idle[0] > 80 else None
    check.equal('rule about processors', busy, 100 - round(100 - rules['host_cpu_busy']['busy'] * 100)
                if 'host_cpu_busy' in rules else None)
    named = '/'.join(sorted(rules[r]['operators'] for r in rules if r.startswith('pipeline_')))
    general = found.get('minddata_pipeline-general')
    if general and (late or not host) and 'interval' not in average_parts(worker) or 'step_interval' in rules and late:
        check.equal('slow operators', sorted(general[0].split('/')) if general else [''], sorted(named.split('/')))


def ask_devices(check, worker, request, response):
    status, out, err = call(['info', worker.path, '--json', '--no-cache'])
    check.equal('opens', 0, status)
    found = sorted({re.search(r'_(\d+)(_detail_time|_type|_detail)?\.(json|csv|txt|pb)$', f).group(1)
                    for f in os.listdir(worker.path) if re.search(r'_(\d+)(_detail_time|_type|_detail)?\.(json|csv|txt|pb)$', f)})
    if not response['device_list']:
        check.leave('no_info')
    else:
        check.equal('devices', response['device_list'], found)
    for device in found:
        info = {r['key']: r['value'] for r in rows(ask('info', worker.path, '--worker', 'rank' + device), 'trace')}
        check.equal('device %s' % device, device, info.get('rank'))
        if response['profiler_mode']:
            check.equal('mode', response['profiler_mode'], info.get('context_mode'))


def slices(worker):
    """The rows of the csv export, one a slice."""
    chosen = [] if worker.device is None else ['--worker', 'rank%s' % worker.device]
    status, out, err = call(['export', worker.path, *chosen, '--no-cache', '--to', 'csv', '-o', '-'])
    if status:
        raise Refused(status, err)
    return list(csv.DictReader(out.decode('utf-8').splitlines()))


SCOPES = '100001'   # the thread of the scopes in a file of MindSpore


def ask_scopes(check, worker, request, response):
    """Both what is left of the file when deeper scopes are taken out, and ours where the file is whole."""
    total = Counter(int(r['thread']) for r in slices(worker) if r['process'] == 'Scopes')
    with open(worker.file('*_timeline_display_#.json'), encoding='utf-8') as file:
        events = json.load(file)
    scopes = [e for e in events if e.get('ph') == 'X' and str(e.get('tid')) == SCOPES]
    depth = Counter(int(e['scope_level']) for e in scopes)
    operators = len([r for r in slices(worker) if r['kind'] == 'op'])
    shown = sum(e.get('ph') == 'X' and str(e.get('tid')).startswith('HostCpuOps') for e in events)
    for level, counts in response.items():
        kept = sum(n for at, n in depth.items() if at < int(level))
        check.equal('scopes of the file below level %s' % level, counts['scopes'], kept)
        check.equal('events of the file', counts['events'], len(events) - len(scopes) + kept)
        if shown == operators:
            check.equal('scopes below level %s' % level, counts['scopes'],
                        sum(n for at, n in total.items() if at < int(level)))
    if shown != operators:
        summary = json.loads(worker.text('*_timeline_summary_#.json'))
        check.leave('cut', len(response))
        check.equal('executions', summary['op_exe_times'], operators)


def ask_range(check, worker, request, response):
    """Ranges with their names, threads, starts and lengths; arrows go from one range to the start of another."""
    found, events = slices(worker), response['events']
    ranges = [e for e in events if e['ph'] == 'X']
    first = min(ns_of(e['ts']) for e in ranges), min(int(r['start_ns']) for r in found)
    mine = sorted((r['name'], int(r['thread']), int(r['start_ns']) - first[1], int(r['duration_ns'])) for r in found)
    want = sorted((e['name'] or '(no name)', e['tid'], ns_of(e['ts']) - first[0], ns_of(e['dur'])) for e in ranges)
    check.equal('events', len(want), len(mine))
    for a, b in zip(want, mine):
        check.equal('event', a, b)
    check.equal('records', response['records'], int(ask('info', worker.path)['quality']['events_read']))
    check.equal('kinds', response['event_counts'], dict(Counter('%s %s' % (e['ph'], e['pid']) for e in events)))
    starts, ends = Counter(e['id'] for e in events if e['ph'] == 's'), Counter(e['id'] for e in events if e['ph'] == 'f')
    check.equal('arrows', starts, ends)
    places = {(e['tid'], e['ts']) for e in ranges}
    spans = [(e['tid'], ns_of(e['ts']), ns_of(e['ts']) + ns_of(e['dur'])) for e in ranges]
    for e in events:
        if e['ph'] == 'f':
            check.equal('arrow %s ends where a range starts' % e['id'], True, (e['tid'], e['ts']) in places)
        elif e['ph'] == 's':
            at = ns_of(e['ts'])
            check.equal('arrow %s starts in a range' % e['id'], True,
                        any(thread == e['tid'] and start <= at <= end for thread, start, end in spans))
    threads = {e['tid'] for e in ranges}
    for e in events:
        if e['ph'] == 'M' and e['name'].startswith('thread_'):
            check.equal('thread %s has ranges' % e['tid'], True, e['tid'] in threads)
            check.equal('its place or name', str(e['tid']), re.sub('^Thread ', '', str(list(e['args'].values())[0])))
    lengths = {(e['tid'], ns_of(e['ts']), ns_of(e['dur'])) for e in ranges}
    check.equal('first records', min(40, response['records']), len(response['first_records']))
    for record in response['first_records']:
        thread, _, _, start, end = record['fixed'][:5]
        check.equal('record at %d' % start, True, (thread, start, end - start) in lengths)


def ns_of(text):
    return round(Decimal(str(text)) * 1000)


def ask_step_time(check, worker, request, response):
    """CANN's own overlap lanes, added up by MindSpore, against the unions of tacho; scopes and events of the file."""
    table = response.get('step_trace_time')
    if not isinstance(table, list):
        check.leave('nothing')
        return
    check.equal('steps', 1, len(table))
    row, total = {k: float(v) for k, v in table[0].items()}, rows(ask('overview', worker.path), 'steps')
    kernel = sum(r['kernel'] for r in total)
    # A collective's own copies are copies first.
    communication = sum(r['communication'] + r['memcpy'] for r in total)
    check.near('computing', row['Computing'] * 1000, kernel, 1e-6, slack=100)
    check.near('not overlapped', row['Communication(Not Overlapped)'] * 1000, communication, 1e-6, slack=100)
    check.equal('step', 0, row['Step'])
    apart = row['Communication(Not Overlapped)']
    for name, value in (('Overlapped', row['Communication'] - apart), ('Stage', apart), ('Bubble', 0), ('Preparing', 0),
                        ('Communication(Not Overlapped and Exclude Receive)', apart)):
        check.equal(name, row[name], value, 0.0006)
    lanes = lane_sums(read_events(worker.path))
    for name in ('Computing', 'Communication', 'Communication(Not Overlapped)', 'Free'):
        check.equal('%s of the lane of the file' % name, row[name], lanes.get(name, 0), 0.0006)
    scopes_of_file(check, worker, response)


def scopes_of_file(check, worker, response):
    """The layers of scopes are ours; every other event is one of the file."""
    mine = sorted((int(r['start_ns']), int(r['thread']), r['name'], int(r['duration_ns']))
                  for r in slices(Worker(worker.path, None))
                  if r['process'] == 'Scopes')
    want = sorted((ns_of(start), layer, name, ns_of(length)) for name, layer, start, length in response['scope_layer'])
    check.equal('scopes', len(want), len(mine))
    first = [side[0][0] if side else 0 for side in (want, mine)]
    for a, b in zip(sorted((layer, start - first[0], name, length) for start, layer, name, length in want),
                    sorted((layer, start - first[1], name, length) for start, layer, name, length in mine)):
        for what, x, y in zip(('layer', 'start', 'name', 'length'), a, b):
            check.equal('%s of the scope %s' % (what, a[2]), x, y, slack=10 if what in ('start', 'length') else 0)
    events = read_events(worker.path)
    layers = len({row[1] for row in response['scope_layer']})
    counts = Counter('%s %s' % (e['ph'], e['pid']) for e in events)
    counts['X 3'] += len(want)
    counts['M 3'] += 2 + 2 * layers
    check.equal('events as the file and the scopes have them', response['event_counts'], dict(counts))
    named = Counter(json.dumps(e, sort_keys=True) for e in events if e['name'] == 'process_name')
    for e in response['layers']:
        label = e['args'].get('name')
        check.equal('%s of process %s' % (e['name'], e['pid']), True,
                    label == 'Scope Layer' or json.dumps(e, sort_keys=True) in named)
    check.equal('processes', len(response['layers']), sum(named.values()) + 1)


@functools.lru_cache(8)
def read_events(path):
    with open(path, encoding='utf-8') as file:
        data = json.load(file)
    return data if isinstance(data, list) else data['traceEvents']


def lane_sums(events):
    """{name of a lane: us} of the overlap analysis in a file."""
    pids = {e['pid'] for e in events if e['name'] == 'process_name' and e['args']['name'] == 'Overlap Analysis'}
    names = {(e['pid'], e['tid']): e['args']['name'] for e in events if e['name'] == 'thread_name' and e['pid'] in pids}
    sums = {}
    for e in events:
        if e['ph'] == 'X' and e['pid'] in pids:
            name = names[e['pid'], e['tid']]
            sums[name] = sums.get(name, 0) + e['dur']
    return sums


def ask_flops(check, worker, request, response):
    """The summary on the overview's card; the links of the scopes as a table of `operators`."""
    if 'data' not in response:
        work = {r['key']: float(r['value']) for r in worker.table('overview', 'work')}
        for name, key, unit in (('FLOPs', 'flops', 1e6), ('FLOPS', 'flops_per_s', 1e9),
                                ('FLOPS_Utilization', 'flops_utilization', 0.01)):
            check.near(key, response[name] * unit, work[key], 1e-12)
        return
    mine = {(r['source'], r['target']): r['flops'] for r in worker.table('operators', 'flops_scopes')}
    check.equal('links', len(response['data']['links']), len(mine))
    check.equal('scopes', sorted(n['name'] for n in response['data']['nodes']), sorted({n for pair in mine for n in pair}))
    for link in response['data']['links']:
        check.near('%s to %s' % (link['source'], link['target']), link['value'] * 1e6,
                   mine.get((link['source'], link['target'])), 1e-12)


def ask_dynamic(check, worker, request, response):
    """Operators or kernels of one step, filtered, sorted and paged; and the mean of a type over all steps."""
    condition = dict(request.get('filter_condition') or {})
    step = int(condition.pop('step_filter', ['1'])[0])
    chosen = condition.pop('dispaly_op_type', None)
    kernels = 'op_full_name' in response['col_name']
    every = [r for r in worker.table('operators', 'by_step') if r['level'] == ('kernel' if kernels else 'operator')]
    names = {'op_name': 'name', 'op_type': 'type', 'op_side': 'side', 'op_full_name': 'op', 'block_dim': 'block',
             'grid_dim': 'grid', 'duration': 'duration', 'step': 'step', 'op_shape': 'shapes'}
    mine = [{k: r[v] for k, v in names.items()} for r in every if r['step'] == step]
    for row in mine:
        row['duration'] = row['duration'] / US
        row['op_shape'] = json.loads(row['op_shape']) if row['op_shape'] else []
    mine = keep(mine, condition)
    check.equal('rows', response['size'], len(mine))
    mine = page(order(mine, request.get('sort_condition')), request.get('group_condition'))
    check.equal('object', response['object'], [[r[c] for c in response['col_name']] for r in mine])
    key = 'name' if kernels else 'type'
    check.equal('types', response['all_type'], list(dict.fromkeys(r[key] for r in every if r['step'] == step)))
    numbers = list(dict.fromkeys(r['step'] for r in every))
    for name, want in response['filter_type'].items():
        means = []
        for n in numbers:
            times = [r['duration'] for r in every if r['step'] == n and r[key] == name]
            means.append(sum(times) / len(times) / US if times else 0)
        for a, b in zip(want, means):
            check.near('%s by step' % name, a, b, 1e-9)
        check.equal('%s steps' % name, len(want), len(means))
    check.equal('chosen types', chosen or list(response['filter_type']), list(response['filter_type']))


def merged_files(worker):
    """The first slice of each rank, as the answers were made."""
    return sorted(glob.glob(os.path.join(worker.path, 'device_*', 'timeline', 'msprof_*_1.json')))


def ask_merged(check, worker, request, response):
    """All events of hardware, collectives and CANN, by number and length; tacho shows the collective's own lane on the
    device, so they are added up.  The overlap lanes against tacho's unions; every event against the files."""
    if isinstance(response, list):
        merged_events(check, worker, request, response)
    for rank, path in enumerate(merged_files(worker)):
        if not isinstance(response, list):
            merged_counts(check, path, rank, response)
            continue
        sums = lane_sums([{**e, 'name': 'process_name', 'args': {'name': 'Overlap Analysis'}}
                          if e['name'] == 'process_name' and e['args']['name'] == 'Overlap Analysis Rank%d' % rank
                          else e for e in response])
        steps = rows(ask('overview', path), 'steps')
        check.near('computing of rank %d' % rank, sums['Computing'] * 1000, sum(r['kernel'] for r in steps), 1e-6,
                   slack=200)
        check.near('not overlapped', sums['Communication(Not Overlapped)'] * 1000,
                   sum(r['communication'] + r['memcpy'] for r in steps), 1e-6, slack=200)


def merged_counts(check, path, rank, response):
    found = [r for r in slices(Worker(path, None)) if r['process'] in ('HCCL', 'CANN')
             or r['process'].startswith('Ascend ')]
    lanes = ['%d%d|X' % (i, rank) for i in (2, 4, 5)]
    counts, sums = response['count_by_pid_ph'], response['sum_dur_by_pid']
    check.equal('events of rank %d' % rank, sum(counts.get(n, 0) for n in lanes), len(found))
    check.near('their length', sum(sums.get(n, 0) for n in lanes) * 1000,
               sum(int(r['duration_ns']) for r in found), 1e-9, slack=len(found))
    events = read_events(path)
    names = {e['pid']: e['args']['name'] for e in events if e['name'] == 'process_name'}
    for lane, name in ((2, 'CANN'), (5, 'HCCL'), (7, 'Overlap Analysis'), (4, 'Ascend Hardware')):
        some = [e for e in events if e['ph'] == 'X' and names[e['pid']] == name and not is_step_trace(e)]
        key = '%d%d|X' % (lane, rank)
        check.equal('%s of rank %d in the file' % (name, rank), counts.get(key, 0), len(some))
        check.equal('length of %s' % name, sums.get(key, 0), sum(e['dur'] for e in some), 0.0051)
    check.equal('kinds with a length', sorted(sums), sorted(k for k in counts if k.endswith('|X')))
    check.equal('all events', response['n'], sum(counts.values()))
    check.leave('file', sum(k.endswith('|M') for k in counts) // 2)


def is_step_trace(event):
    return event.get('cat') in ('FP_BP Time', 'Iteration Time', 'Iteration Refresh', 'Data_aug Bound', 'Reduce')


def event_key(e):
    """What an event says, without the number of its process and the rank in its name."""
    args = json.dumps(e.get('args'), sort_keys=True)
    return (e['ph'], re.sub(r' Rank\d+$', '', e['name']), ns_of(e['ts']) if 'ts' in e else None,
            ns_of(round(float(e.get('dur', 0)), 3)), e.get('id'), args)


def merged_events(check, worker, request, response):
    """Nothing is added to the events of the files but names and places of the lanes; every event of the overlap lanes
    and, where models are not merged, of the step traces is there."""
    have, wanted = Counter(), Counter()
    for path in sorted(glob.glob(os.path.join(worker.path, 'device_*', 'timeline', '*.json'))):
        events = read_events(path)
        have.update(map(event_key, events))
        lanes = {e['pid'] for e in events if e['name'] == 'process_name' and e['args']['name'] == 'Overlap Analysis'}
        if path in merged_files(worker):
            wanted.update(event_key(e) for e in events if e['ph'] == 'X' and e['pid'] in lanes)
        if not request.get('merge_model') and os.path.basename(path).startswith('step_trace_'):
            wanted.update(event_key(e) for e in events if e['ph'] in 'Xst')
    got = Counter(event_key(e) for e in response if e['ph'] != 'M')
    check.equal('events as the files have them', sorted((wanted - got).items(), key=str),
                sorted((got - wanted).items(), key=str))
    check.tally.passed += sum(got.values())
    ranks = len(merged_files(worker))
    labels = Counter('%s of %s' % (e['name'], 'steps' if e['pid'] < 70 else 'overlap') for e in response if e['ph'] == 'M')
    check.equal('places of lanes', [7] * ranks, [e['args']['sort_index'] for e in response if e['pid'] >= 70
                                                 and e['name'] == 'process_sort_index'])
    for name in ('process_labels', 'process_name', 'process_sort_index'):
        check.equal(name + ' of the overlap lanes', ranks, labels[name + ' of overlap'])
    check.equal('names of the overlap lanes', 4 * ranks, labels['thread_name of overlap'])
    for e in response:
        if e['ph'] == 'M' and e['name'] == 'thread_sort_index':
            check.equal('place of %s' % e['tid'], True, event_key(e) in have)
    check.leave('file', labels['process_name of steps'])


def ask_layers(check, worker, request, response):
    """The scopes of each rank asked for, layer by layer: every one with its name, start and length.  tacho counts from the
    first event, so both are counted from the first scope."""
    files = merged_files(worker)
    for rank in request['rank_list']:
        want = [(e['tid'], e['name'], round(float(e['ts']) * 1000), round(float(e['dur']) * 1000))
                for e in response if e['ph'] == 'X' and e['pid'] == int('3%d' % rank)]
        mine = [(int(r['thread']), r['name'], int(r['start_ns']), int(r['duration_ns']))
                for r in slices(Worker(files[rank], None)) if r['process'] == 'Scopes']
        check.equal('scopes of rank %d' % rank, len(want), len(mine))
        for e in response:
            if e['ph'] == 'M' and e['pid'] == int('3%d' % rank) and e['name'].startswith('thread_'):
                check.equal('lane %s' % e['tid'], str(e['tid']), re.sub('^layer', '', str(list(e['args'].values())[0])))
        first = [min(row[2] for row in side) for side in (want, mine)]
        want, mine = (sorted((layer, start - at, name, length) for layer, name, start, length in side)
                      for side, at in zip((want, mine), first))
        for a, b in zip(want, mine):
            for what, x, y in zip(('layer', 'start', 'name', 'length'), a, b):
                check.equal('%s of %s in layer %d' % (what, a[2], a[0]), x, y, slack=10 if what == 'start' else 0)


# ---- the questions ------------------------------------------------------------------------------------------------

def body_of(answer):
    request = answer['request']
    if isinstance(request, dict) and 'path' in request:
        return {**request.get('args', {}), **request.get('body', {})}
    return request if isinstance(request, dict) else {}


QUERIES = [
    (r'aicore_type query', lambda c, w, q, r: ask_operators(c, w, 'aicore_type', q, r)),
    (r'aicore_detail query', lambda c, w, q, r: ask_operators(c, w, 'aicore_detail', q, r)),
    (r'aicpu_type', lambda c, w, q, r: ask_operators(c, w, 'aicpu_type', q, r)),
    (r'aicpu_detail', lambda c, w, q, r: ask_operators(c, w, 'aicpu_detail', q, r)),
    (r'cpu_op_type, class', lambda c, w, q, r: ask_operators(c, w, 'cpu_op_type', q, r)),
    (r'cpu_op_info, class', lambda c, w, q, r: ask_operators(c, w, 'cpu_op_info', q, r)),
    (r'^ops/search', lambda c, w, q, r: ask_operators(c, w, q['op_type'], q, r)),
    (r'step trace summary', ask_summary),
    (r'step trace graph', ask_graph),
    (r'per-step series', ask_series),
    (r'data pipeline query|pipeline table|minddata-pipeline/op-queue', ask_pipeline),
    (r'op and parent queue|minddata-pipeline/queue', ask_queue_of),
    (r'\[queue,time\] of get-next', lambda c, w, q, r: ask_both(c, w, 'get_next', r)),
    (r'\[queue,time\] of host queue', lambda c, w, q, r: ask_both(c, w, 'device_queue', r)),
    (r'^queue_info', ask_queue),
    (r'^minddata_op', ask_queue_times),
    (r'process[ _]summary', ask_process),
    (r'cpu utilisation|minddata-cpu-utilization', ask_cpu),
    (r'idle average', ask_idle),
    (r'helper proposals|summary/propose', ask_helper),
    (r'^devices', ask_devices),
    (r'^flops$', ask_flops),
    (r'dynamic shape', ask_dynamic),
    (r'merged timeline', ask_merged),
    (r'events left by scope', ask_scopes),
    (r'scope layer events', ask_layers),
]
# Pages that read a file and hand it on: nothing of theirs is computed.
ECHOES = r'^timeline$|^timeline-summary|timeline summary|profile_info|^option$|training-trace'


def ask_both(check, worker, kind, response):
    ask_queue(check, worker, {'type': kind}, response[0])
    ask_queue_times(check, worker, {'type': kind}, response[1])


def is_error(answer):
    response = answer['response']
    return answer.get('status', 200) != 200 or (isinstance(response, dict) and (
        'error' in response or 'error_code' in response))


class File:
    """The answer of one file to its one question."""

    ignored = {'request', 'input', 'device', 'query', 'status', 'source', 'note'}

    def __init__(self, tally, path, source):
        self.check, self.answer = Check(tally, short(path)), read_answers(path)
        request, device = self.answer['request'], self.answer.get('device')
        self.question = request['path'] if isinstance(request, dict) and 'path' in request else self.answer['query']
        self.worker = Worker(os.path.join(source, self.answer['input']),
                             None if device in (None, 'None') else device)
        self.parts = [(self.question, self.answer)]

    def state(self, _):
        handled = any(re.search(pattern, self.question) for pattern, _ in QUERIES) \
            or mindinsight_cluster.handler(self.question)
        return 'echo' if is_error(self.answer) or re.search(ECHOES, self.question) and not handled else None

    def one(self, _):
        try:
            self.answered()
        except PROBLEMS as problem:
            self.check.fail('no answer: %s %s' % (type(problem).__name__, str(problem)[:200]))

    def answered(self):
        check, worker, question, response = self.check, self.worker, self.question, self.answer['response']
        handler = next((h for pattern, h in QUERIES if re.search(pattern, question)), None)
        if not glob.glob(worker.path):
            check.fail('its input %s is not there' % self.answer['input'])
        elif is_error(self.answer):
            check.leave('error', max(1, figures(response)))
        elif question == 'MindSpore 2.10 analysis classes':
            (ask_range if 'records' in response else ask_step_time)(check, worker, {}, response)
        elif handler and response == {} and question.startswith('training-trace'):
            check.leave('nothing')
        elif handler:
            handler(check, worker, {**body_of(self.answer), '_question': question}, response)
        elif mindinsight_cluster.handler(question):
            mindinsight_cluster.handler(question)(check, worker, {**body_of(self.answer), '_question': question},
                                                  response)
        elif re.search(ECHOES, question):
            check.leave('file', max(1, figures(response)))
        else:
            check.fail('a question nobody knows: %s' % question)

    def end(self):
        self.check.end()


PROBLEMS = (Refused, KeyError, ValueError, IndexError, TypeError, AttributeError, StopIteration, OSError)


def files_of(path):
    return sorted(glob.glob(os.path.join(path, '*.json')) + glob.glob(os.path.join(path, '*.json.gz'))) \
        if os.path.isdir(path) else [path]


def recorded():
    home = os.path.join(DATA, 'mindspore')
    return [(path, home) for part in ('expected', 'real/expected') for path in files_of(os.path.join(home, part))] \
        if os.path.isdir(home) else []


def compare(tally, answers_path, input_path):
    if not os.path.isdir(input_path):
        tally.fail('%s is not a folder: the inputs the answers name are to be in it' % input_path)
        return
    for path in files_of(answers_path):
        file = File(tally, path, input_path)
        file.one(0)
        file.end()
