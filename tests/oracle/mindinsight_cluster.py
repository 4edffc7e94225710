"""MindInsight's cluster pages against the tables of `tacho distributed` and the rules of `tacho advise` (spec 2.10 to
2.13, 2.16).

A page asks for one step (0: the average) of all ranks, filters, sorts and pages; the same is done here with tacho's
rows. The bandwidth of a link is not compared: MindInsight adds up those of its collectives, so bytes over time, from
the file itself, replaces it.
"""

import ast
import csv
import glob
import json
import os
import re

from common import ask as ask_tacho, rows
from mindinsight_table import order, page

MS = 1e6
STEP_COLUMNS = {
    'data-parallel': ['interval', 'forward_backward', 'tail', 'total'],
    'model-parallel': ['interval', 'computation', 'communication_alone'],
    'pipeline-parallel': ['interval', 'computation', 'communication_alone', 'stage_time', 'receive_alone',
                          'collective_alone'],
}
SORT_NAMES = {'iteration_interval': 'interval', 'fp_and_bp': 'forward_backward', 'stage': 'stage_time',
              'collective_communication_alone': 'collective_alone', 'link_cost': 'time', 'link_size': 'bytes',
              'band_width': 'bandwidth', 'communication_cost': 'time'}


def table(worker, name, step=None):
    chosen = ['--step', str(step)] if step else []
    found = rows(ask_tacho('distributed', worker.path, '--all-workers', '--limit', '0', *chosen), name)
    return [r for r in found if step or r.get('step') is None]


def sorted_page(found, request):
    condition = dict(request.get('sort_condition') or {})
    if condition.get('name'):
        condition['name'] = SORT_NAMES.get(condition['name'], condition['name'])
    return page(order(found, condition), request.get('group_condition'))


def steps(check, worker, request, response):
    wanted = request.get('filter_condition') or {}
    found = table(worker, 'cluster_steps', wanted.get('step_id'))
    if wanted.get('stage_id'):
        found = [r for r in found if r['stage'] == wanted['stage_id']]
    check.equal('size', response['size'], len(found))
    columns = STEP_COLUMNS[response['parallel-mode']]
    shown = sorted_page(found, request)
    check.equal('rows', len(response['info']), len(shown))
    for want, row in zip(response['info'], shown):
        check.equal('rank', want['rank_id'], row['rank'])
        values = want.get('step_trace_info') or want.get('step_bottleneck_info')
        for name, value in zip(columns, values):
            check.equal('rank %d %s' % (row['rank'], name), value, round(row[name] / MS, 4))
    numbered = [r['step'] for r in rows(ask_tacho('distributed', worker.path, '--all-workers', '--limit', '0'),
                                        'cluster_steps') if r['step'] is not None]
    check.equal('steps', int(response['total_step_num']), max(numbered))
    stages = [r['stage'] for r in rows(ask_tacho('distributed', worker.path, '--all-workers', '--limit', '0'),
                                       'cluster_steps')]
    check.equal('stages', response['stage_num'], len(set(stages)))


def file_links(worker, step):
    """{(rank, link, kind): bandwidth as the file has it}: a sum over its collectives, which is not a bandwidth."""
    found = {}
    for path in glob.glob(os.path.join(worker.path, 'hccl_raw_*.csv')):
        rank = int(re.search(r'_(\d+)\.csv$', path).group(1))
        with open(path, encoding='utf-8') as file:
            for row in csv.DictReader(file):
                if row['step_num'] == (str(step) if step else '-'):
                    for link, kinds in json.loads(row['link_info']).items():
                        found.update({(rank, link, kind): values[2] for kind, values in kinds.items()})
    return found


def file_steps(worker):
    """How many steps the file of the last rank has, besides the average."""
    with open(sorted(glob.glob(os.path.join(worker.path, 'hccl_raw_*.csv')))[-1], encoding='utf-8') as file:
        return sum(row['step_num'] != '-' for row in csv.DictReader(file))


def link_key(row):
    return row['rank'], '%d-%d' % (row['source'], row['target']), row['kind']


def compare_links(check, want, found, by_file):
    check.equal('links', len(want), len(found))
    for (name, kind, cost, size, speed), row in zip(want, found):
        check.equal('link', name, '%d-%d' % (row['source'], row['target']))
        check.equal('kind', kind, row['kind'])
        check.equal('%s time' % name, cost * MS, row['time'], slack=0.51)
        check.equal('%s bytes' % name, size * 1000, row['bytes'], slack=0.51)
        check.near('%s bandwidth' % name, size * 1000 / (cost / 1000), row['bandwidth'], 1e-5)
        check.near('%s bandwidth as MindInsight has it' % name, speed, by_file.get(link_key(row)), 1e-12)
    check.leave('bandwidth', len(want))


def links(check, worker, request, response):
    wanted = request.get('filter_condition') or {}
    found = table(worker, 'links', wanted.get('step_id'))
    for key, column in (('src_rank', 'source'), ('dst_rank', 'target')):
        if key in wanted:
            found = [r for r in found if re.search('^%s$' % wanted[key], str(r[column]))]
    if 'link_type' in wanted:
        found = [r for r in found if re.match(wanted['link_type'], r['kind'])]
    check.equal('size', response['size'], len(found))
    by_file = file_links(worker, wanted.get('step_id'))
    if (request.get('sort_condition') or {}).get('name') == 'band_width':
        # Sorted by something that is not a bandwidth: so is ours, for once.
        found = [{**r, 'bandwidth as it has it': by_file.get(link_key(r))} for r in found]
        condition = {**request['sort_condition'], 'name': 'bandwidth as it has it'}
        shown = page(order(found, condition), request.get('group_condition'))
    else:
        shown = sorted_page(found, request)
    compare_links(check, response['cluster_link_info'], shown, by_file)


def communication(check, worker, request, response):
    step = (request.get('filter_condition') or {}).get('step_id')
    found = {r['rank']: r for r in table(worker, 'communication', step)}
    all_links, by_file = table(worker, 'links', step), file_links(worker, step)
    check.equal('ranks', response['size'], len(found))
    check.equal('rows', sorted(want['rank_id'] for want in response['communication']), sorted(found))
    check.equal('steps as the files have them', response['total_step_num'], file_steps(worker))
    for want in response['communication']:
        row = found[want['rank_id']]
        check.equal('communication', want['communication_cost'] * MS, row['communication'], slack=0.51)
        check.equal('waiting', want['wait_cost'] * MS, row['waiting'], slack=0.51)
        check.equal('operators', want['n_operators'], row['operators'])
        flat = [[name, kind, *values[:3]] for name, kinds in want['link_info'].items()
                for kind, values in kinds.items()]
        compare_links(check, flat, [r for r in all_links if r['rank'] == want['rank_id']], by_file)


def resources(check, worker, request, response):
    found = {r['rank']: r for r in rows(ask_tacho('distributed', worker.path, '--all-workers'), 'resources')}
    check.equal('ranks', sorted(want['rank_id'] for want in response), sorted(found))
    for want in response:
        row = found[want['rank_id']]
        for name, column, unit in (('FLOPs', 'flops', 1e6), ('FLOPS', 'flops_per_s', 1e9),
                                   ('FLOPS_Utilization', 'flops_utilization', 0.01), ('FLOPs_norm', 'flops_share', 1)):
            if name in want:
                check.near('rank %d %s' % (want['rank_id'], name), want[name] * unit, row[column], 1e-12)


def intervals(check, worker, request, response):
    found = {r['rank']: r for r in table(worker, 'cluster_steps')}
    check.equal('ranks', sorted(want['rank_id'] for want in response), sorted(found))
    for want in response:
        check.equal('interval', want['step_interval'], round(found[want['rank_id']]['interval'] / MS, 4))


def rank_links(check, worker, request, response):
    compare_links(check, response, table(worker, 'links'), file_links(worker, None))


def text_value(text):
    return ast.literal_eval(text) if isinstance(text, str) and text[:1] in '[(' else text


def strategy(check, worker, request, response):
    answer = ask_tacho('distributed', worker.path, '--all-workers', '--limit', '0')
    stage = request['stage_id'] + 1
    found = {r['id']: r for r in rows(answer, 'parallel_operators') if r['stage'] == stage}
    ranks = [r['ranks'] for r in rows(answer, 'parallel_stages') if r['stage'] == stage]
    check.equal('ranks', ', '.join(map(str, response['rank_ids'])), ranks[0])
    check.equal('operators', len(response['op_nodes']), len(found))
    with open(os.path.join(worker.path, 'parallel_strategy_%d.json' % response['rank_ids'][0]), encoding='utf-8') as file:
        graph = json.load(file)['graph']
    taken = [c['key'] for c in graph.get('constVals', [])] + [p['name'] for p in graph.get('parameters', [])]
    constants = response.get('const_nodes', [])
    check.equal('constants', sorted(taken), sorted(n['node_id'] for n in constants))
    check.equal('names of constants', [n['node_id'] for n in constants], [n['name'] for n in constants])
    for want in response['op_nodes']:
        row = found[want['node_id']]
        for name in ('name', 'scope', 'type'):
            check.equal(name, want[name], row[name])
        check.equal('inputs', ', '.join(want['input']) or None, row['inputs'])
        check.equal('shape', text_value(want['output_shape']) or None, row['shape'] and json.loads(row['shape']))
        kinds = {'GradientAggregation': 'gradient_aggregation', 'Redistribution': 'redistribution', '': None}
        check.equal('kind', kinds[want['instance_type']], row['kind'])
        check.equal('data type', want['output_data_type'].replace("'", '') or None, row['data_type'])
        if want['parallel_group'] and 'Conv' in want['type']:
            check.leave('group')
            check.equal('group', None, row['group'])
        else:
            check.equal('group', ', '.join(want['parallel_group']) or None, row['group'])


# ---- proposals ----------------------------------------------------------------------------------------------------

def advice(worker):
    found = rows(ask_tacho('advise', worker.path, '--all-workers', '--limit', '0'), 'advice')
    return {r['id']: json.loads(r['values']) if isinstance(r['values'], str) else r['values'] for r in found}


def rates(check, worker, question, response):
    """For all ranks, or for those of each stage."""
    found = table(worker, 'cluster_steps')
    name = 'receive_alone' if 'between_stage' in question else 'collective_alone' if 'within_stage' in question \
        else 'communication_alone'
    stages = sorted({r['stage'] for r in found})
    if isinstance(response, (int, float)):
        check.equal(name, response, rate(found, name))
        return
    by_stage = response if isinstance(response, dict) else dict(zip(map(str, stages), response))
    check.equal('stages', sorted(map(str, by_stage)), sorted(map(str, stages)))
    for stage in stages:
        some = [r for r in found if r['stage'] == stage]
        check.equal('%s of stage %s' % (name, stage), by_stage.get(str(stage), by_stage.get(stage)), rate(some, name))


def rate(some, name):
    whole = sum(r['computation'] + r['communication_alone'] for r in some)
    return round(sum(r[name] for r in some) / whole, 4)


def proposals(check, worker, request, response):
    found = advice(worker)
    slow = found['interval_imbalance']
    check.equal('slowest rank', response['step_interval']['rank_id'], slow['rank'])
    check.equal('its interval', response['step_interval']['val'], round(slow['interval'] / MS, 4))
    check.equal('over the mean', response['step_interval']['percent'], round(slow['over'] * 100, 2))
    link = response['cluster_link'][0]
    check.equal('slow link', '%d-%d %s' % (link['src_rank'], link['des_rank'], link['link_type']),
                '%d-%d %s' % (found['slow_link']['source'], found['slow_link']['target'], found['slow_link']['kind']))
    rates_of = {}
    for row in table(worker, 'links'):
        if row['source'] != row['target'] and row['kind'] == link['link_type']:
            rates_of.setdefault((row['source'], row['target'], row['worker']), row['bytes'] / row['time'])
    mean = sum(rates_of.values()) / len(rates_of)
    check.near('below the mean', 1 - min(rates_of.values()) / mean, found['slow_link']['below'], 1e-9)
    by_file = {k: v for k, v in file_links(worker, None).items()
               if k[1].split('-')[0] != k[1].split('-')[1] and k[2] == link['link_type']}
    slowest, middle = min(by_file.values()), sum(by_file.values()) / len(by_file)
    check.equal('slow link as MindInsight counts', [link['val'], link['percent']],
                [round(slowest, 4), round((middle - slowest) / middle * 100, 2)])
    check.equal('slow links', 1, len(response['cluster_link']))
    check.leave('bandwidth', 2)
    plan = response['parallel_strategy']
    between, within = plan['pipeline_parallel_between_stage'], plan['pipeline_parallel_within_stage']
    check.equal('between stages', between['val'], round(found['stage_receive']['receive_share'] * 100, 2))
    check.equal('within', within['val'], round(found['stage_collective']['collective_share'] * 100, 2))
    check.equal('stage', within['stage'], found['stage_collective']['stage'])
    check.equal('its fixed thresholds', [10.0, 10.0], [between['threshold'], within['threshold']])
    flops = plan['pipeline_parallel_flops']
    check.equal('stage of most operations', flops['stage'], found['stage_flops']['stage'])
    check.near('its operations', flops['val'] * 1e6, found['stage_flops']['flops'], 1e-9)
    check.equal('over the mean of stages', flops['percent'], round(found['stage_flops']['over'] * 100, 2))


QUERIES = [
    (r'^cluster step trace', steps),
    (r'^cluster link table', links),
    (r'^communication cost', communication),
    (r'^cluster FLOPs|get_rank_flops', resources),
    (r'get_step_interval', intervals),
    (r'get_rank_link_summary', rank_links),
    (r'merged stage graph', strategy),
    (r'cluster proposals', proposals),
    (r'communication_rate', lambda c, w, q, r: rates(c, w, q['_question'], r)),
]


def handler(question):
    return next((h for pattern, h in QUERIES if re.search(pattern, question)), None)
