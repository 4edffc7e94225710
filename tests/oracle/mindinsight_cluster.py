"""Rates and proposals of MindInsight's cluster pages, from what tacho read of every worker (spec 2.16).

The steps come from `tacho steps` of each rank; computation and communication of a step stand in the ranks' own cluster
tables, which are handed on unchanged.  Averages of all ranks are put against each rank here.
"""

import csv
import glob
import os
import re

from common import ask as ask_tacho, rows


def ranks_of(folder):
    found = [re.search(r'step_trace_raw_(\d+)_', p) for p in glob.glob(os.path.join(folder, 'step_trace_raw_*'))]
    return sorted(int(m.group(1)) for m in found if m)


def average_row(folder, rank):
    path = glob.glob(os.path.join(folder, '*_cluster_analyse_*_%d.csv' % rank))[0]
    with open(path, encoding='utf-8') as file:
        return {k: float(v) for k, v in list(csv.DictReader(file, skipinitialspace=True))[-1].items()}


def interval_ms(folder, rank):
    parts = rows(ask_tacho('steps', folder, '--worker', 'rank%d' % rank), 'average')
    return round(next(r['duration'] for r in parts if r['stage'] == 'interval') / 1e6, 4)


def compare(check, worker, question, response):
    folder = worker.path
    ranks = ranks_of(folder)
    parts = {r: average_row(folder, r) for r in ranks}
    computing = sum(p['computation_time'] for p in parts.values())
    alone = sum(p['communication_alone_time'] for p in parts.values())
    receiving = sum(p['receive_alone_time'] for p in parts.values())
    if 'between_stage' in question:
        check.equal('between stages', response, round(receiving / (computing + alone), 4))
    elif 'communication_rate' in question:
        check.equal('communication', response, round(alone / (computing + alone), 4))
    else:
        times = {r: interval_ms(folder, r) for r in ranks}
        mean = sum(times.values()) / len(times)
        worst = max(ranks, key=lambda r: times[r])
        check.equal('slowest rank', response['step_interval']['rank_id'], worst)
        check.equal('its interval', response['step_interval']['val'], times[worst])
        check.equal('over the mean', response['step_interval']['percent'], round((times[worst] / mean - 1) * 100, 2))
        check.leave('file', 8)
