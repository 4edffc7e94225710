"""The two samples of 2021: what the TensorBoard plugin answered on their first spans.

These files are free of what the plugin gets wrong.  Counts of operators and kernels are in the
case 30_tensorboard_2021; here are the averages of the steps, the device, memory and the advice.
"""

from common import ask, rows, samples, short

#                                 num_workers_0, num_workers_4; microseconds
AVERAGE = {'kernel': (98588.667, 99144.667), 'memcpy': (1915.333, 3159.833), 'memset': (89.0, 97.667),
           'communication': (0, 0), 'runtime': (2907.5, 10564.0), 'data_loader': (59261.833, 1186.167),
           'cpu_exec': (13674.167, 22664.833), 'other': (1155.667, 4250.833)}
STEP = (177592.167, 141068.0)
DEVICE = {'utilization': (.555141, .702703), 'sm_efficiency': (.54679, .69225),
          'occupancy': (.49128005, .48909891), 'tensor_core_share': (0, 0)}
# Share of the operators' kernel time in operators that could use Tensor Cores.
ELIGIBLE = (.676195, .67808)
MEMORY_ROWS = {'CPU': (12, 4), 'GPU0': (44, 44)}
# op, device: calls, own increase in bytes, own allocations
MEMORY = {('aten::empty', 'GPU0'): ((4404, 33203886.0, 2694), (4212, 32189154.0, 2724)),
          ('aten::threshold_backward', 'GPU0'): ((294, 7217280.0, 294), (294, 7217280.0, 294)),
          ('aten::empty_strided', 'CPU'): ((402, 112896.75, 384), None),
          ('aten::empty', 'CPU'): (None, (4212, 0.47, 48))}
RECORDS = (12838, 10980)
# Which advice the plugin gave: words in the id of ours, and whether it must be there.
ADVICE = {'data': (True, False), 'tensor': (True, True)}


def averages(tally, label, path, i):
    answer = ask('overview', path)
    got = {r['category']: r['time'] for r in rows(answer, 'breakdown')}
    for role, values in AVERAGE.items():
        tally.check('%s average %s' % (label, role), values[i], got[role] / 1000, slack=.0011)
    tally.check(label + ' average step', STEP[i], sum(got.values()) / 1000, slack=.0011)
    tally.check(label + ' shares add up', 1, sum(r['share'] for r in rows(answer, 'breakdown')), slack=1e-12)
    tally.check(label + ' steps', list(range(5, 11)), [r['step'] for r in rows(answer, 'steps')])
    found = rows(answer, 'devices')
    tally.check(label + ' devices', 1, len(found))
    for column, values in DEVICE.items():
        tally.check('%s %s' % (label, column), values[i], found[0][column], slack=6e-7)


def eligible(tally, label, path, i):
    can = {r['name'] for r in rows(ask('operators', path), 'operators') if r['tensor_core_eligible']}
    found = [r for r in rows(ask('kernels', path, '--group-by', 'name+op'), 'kernels') if r['op'] is not None]
    share = sum(r['total'] for r in found if r['op'] in can) / sum(r['total'] for r in found)
    tally.check(label + ' eligible', ELIGIBLE[i], share, slack=6e-7)


def memory(tally, label, path, i):
    answer = ask('memory', path)
    found = rows(answer, 'statistics')
    for device, counts in MEMORY_ROWS.items():
        tally.check('%s memory rows of %s' % (label, device), counts[i], sum(r['device'] == device for r in found))
    table = {(r['op'], r['device']): r for r in found}
    for key, values in MEMORY.items():
        if values[i] is not None:
            row = table[key]
            got = (row['calls'], round(row['self_size_increase'] / 1024, 2), row['self_allocations'])
            tally.check('%s memory of %s' % (label, key), values[i], got)
    # No addresses in these files: neither blocks nor a curve.
    tally.check(label + ' memory curve', 0, len(rows(answer, 'curve')))
    events = {r['kind']: r['count'] for r in rows(ask('info', path), 'events')}
    tally.check(label + ' memory records', RECORDS[i], events['memory'])


def advice(tally, label, path, i):
    ids = [r['id'] for r in rows(ask('advise', path), 'advice')]
    for word, expected in ADVICE.items():
        tally.check('%s advice about %s' % (label, word), expected[i], any(word in a for a in ids))


def first_spans(tally, label):
    paths = samples('tensorboard/*/*.json.gz')
    if len(paths) != 2:
        tally.skip(label + ': the data directory is not there')
        return
    for i, path in enumerate(paths):
        for check in (averages, eligible, memory, advice):
            check(tally, '%s %s' % (label, short(path)), path, i)


CASES = [('first spans', first_spans)]
