"""MindInsight's page of processor samples a second time (spec 2.6), from the files it reads.

Every sample after the first belongs to a step: that of the last batch of the host queue before it.  Samples from the first
of the steps asked for to the last are kept, and every list is cut at the same places, whatever its length: so lists of
n values are one sample early, and doubled lists show the first half of the run with zeros between.
"""

from bisect import bisect_right


def batches(text):
    """Time stamps of the records of the queue, in order; None in files without them."""
    lines = [line.split() for line in (text or '').splitlines()]
    return [int(f[4]) for f in lines if len(f) == 5 and f[0] == '1']


def steps_of(stamps, times):
    return [bisect_right(times, stamp) for stamp in stamps[1:]]


def kept(steps, first, last):
    """(start, stop) of the samples between these steps, or None."""
    inside = [i for i, step in enumerate(steps) if step >= first]
    before = [i for i, step in enumerate(steps) if step <= last]
    return (inside[0], before[-1] + 1) if inside and before and before[-1] >= inside[0] else None


def cut(values, span):
    part = values[span[0]:span[1]] if span else []
    return {'metrics': part, 'avg_value': round(sum(part) / len(part)) if part else 0}


def page(data, queue_text, steps_in_all, workers, condition):
    """The whole answer.  workers: {operator: number}; an operator that no file knows has none."""
    times = batches(queue_text)
    total = len(times) or steps_in_all
    steps = steps_of(data['time_stamp'], times)
    span = kept(steps, condition.get('start_step', 1), condition.get('end_step', total))
    cuts = lambda lists: {name: cut(values, span) for name, values in lists.items()}
    operators = [{'metrics': cuts(o['metrics']), 'op_id': o['op_id'], 'num_workers': workers.get(o['op_id'])}
                 for o in data['op_info'] if o['op_id'] != -1]
    sums = {name: sum(o['metrics'][name]['avg_value'] for o in operators)
            for name in ('user_utilization', 'sys_utilization')}
    return {'sampling_interval': data['sampling_interval'],
            'step_info': [str(s) for s in steps[span[0]:span[1]]] if span else [], 'step_total_num': total,
            'cpu_processor_num': data['cpu_processor_num'], 'device_info': cuts(data['device_info']),
            'process_info': cuts(data['process_info']), 'op_info': {'op_list': operators, 'total_op_avg_value': sums}}
