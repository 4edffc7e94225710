"""A GPU run of MindSpore generated from a list of launches: the files of spec 1.10, and every number of them.

No real files of this kind exist.  The list below is all there is to know; the files are written from it as MindSpore
writes them, the expected numbers are added up from it, and tacho reads the files.
"""

import csv
import io
import os

from common import ask, call, rows, scratch

# (operator, kernel, stream, block, grid): one launch of each in every step, in this order.
GRAPH = [
    ('Default/InitNet/GetNext-op1', 'CopyK<float>(float*, int)', 7, '32,1,1', '1,1,1'),
    ('Default/net-Net/conv1-Conv2d/Conv2D-op2', 'void gemm<float, 128, 64>(float const*, float*)', 7, '256,1,1', '80,2,1'),
    ('Default/net-Net/relu-ReLU/ReLU-op3', 'ReluK<float>(int, float*)', 7, '128,1,1', '64,1,1'),
    ('Gradients/Default/net-Net/relu-ReLU/ReluGrad-op4', 'ReluK<float>(int, float*)', 7, '128,1,1', '64,1,1'),
    ('Gradients/Default/net-Net/conv1-Conv2d/Conv2DBackpropFilter-op5', 'wgrad;odd name', 8, '256,1,1', '16,1,1'),
    ('Default/AllReduce-op6', 'ncclKernel_AllReduce_RING', 17, '512,1,1', '4,1,1'),
    ('Default/optimizer-Momentum/ApplyMomentum-op7', 'MomentumK<float>(int)', 7, '1024,1,1', '8,1,1'),
]
STEPS = 4
FIRST_NS = 5_000_000_000
STEP_NS = 1_000_000


MANY = GRAPH + [('Default/net-Net/wide/Extra%c-op%d' % (65 + i, 20 + i), 'K%d<float>' % (i % 14), 7, '64,1,1', '1,%d,1' % (i + 1))
                for i in range(21)]


def launches(graph=None):
    """[(step, operator, op start, op ns, kernel, kernel start, kernel ns, stream, block, grid)]"""
    out = []
    for step in range(STEPS):
        at = FIRST_NS + step * STEP_NS
        for i, (op, kernel, stream, block, grid) in enumerate(graph or GRAPH):
            op_ns = 40_000 + 1_000 * i + 100 * step
            kernel_ns = 3_000 + 500 * i + 7 * step
            out.append((step, op, at, op_ns, kernel, at + 5_000, kernel_ns, stream, block, grid))
            at += op_ns + 2_000
    return out


def us(ns):
    return ('%.3f' % (ns / 1000)).rstrip('0').rstrip('.')


def type_of(op):
    return op.rsplit('/', 1)[1].rsplit('-', 1)[0]


def sums(items):
    """{key: [calls, total, max, min]}"""
    out = {}
    for key, ns in items:
        row = out.setdefault(key, [0, 0, 0, 1 << 62])
        row[0] += 1
        row[1] += ns
        row[2] = max(row[2], ns)
        row[3] = min(row[3], ns)
    return out


def write_csv(path, head, lines):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator='\n')
    writer.writerow(head)
    writer.writerows(lines)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text.getvalue())


def write(folder, without=(), graph=None, asynchronous=False):
    """All files of the run, but those named in `without`."""
    os.makedirs(folder, exist_ok=True)
    all_of_it = launches(graph)
    ops = sums((l[1], l[3]) for l in all_of_it)
    kernels_of = sums((l[1], l[6]) for l in all_of_it)
    types = sums((type_of(l[1]), l[3]) for l in all_of_it)
    kernels = sums((l[4], l[6]) for l in all_of_it)
    first = {}
    for launch in all_of_it:
        first.setdefault(launch[4], launch)
    whole = sum(r[1] for r in ops.values())

    def file(name):
        return os.path.join(folder, name)

    write_csv(file('gpu_op_detail_info_0.csv'),
              ['op_side', 'op_type', 'op_name', 'op_full_name', 'op_occurrences', 'op_total_time(us)', 'op_avg_time(us)',
               'total_proportion', 'cuda_activity_cost_time(us)', 'cuda_activity_call_count'],
              [['Device', type_of(op), op.rsplit('/', 1)[1], op, r[0], us(r[1]), us(r[1] / r[0]), r[1] / whole,
                us(kernels_of[op][1]), kernels_of[op][0]] for op, r in ops.items()])
    write_csv(file('gpu_op_type_info_0.csv'),
              ['op_type', 'type_occurrences', 'total_time(us)', 'total_proportion', 'avg_time(us)'],
              [[t, r[0], us(r[1]), r[1] / whole, us(r[1] / r[0])] for t, r in types.items()])
    write_csv(file('gpu_activity_data_0.csv'),
              ['name', 'type', 'op_full_name', 'stream_id', 'block_dim', 'grid_dim', 'occurrences', 'total_duration(us)',
               'avg_duration(us)', 'max_duration(us)', 'min_duration(us)'],
              [[k, 'cuLaunchKernel', first[k][1], first[k][7], first[k][8], first[k][9], r[0], us(r[1]), us(r[1] / r[0]),
                us(r[2]), us(r[3])] for k, r in kernels.items()])
    with open(file('gpu_op_execute_timestamp_0.txt'), 'w', encoding='utf-8') as out:
        for op in ops:
            out.write('%s;GpuOps;%s\n' % (op, ' '.join('%d,%s' % (l[2], us(l[3])) for l in all_of_it if l[1] == op)))
    with open(file('activity_execute_timestamp_0.txt'), 'w', encoding='utf-8') as out:
        for launch in all_of_it:
            out.write('%s;%d;%d;%s\n' % (launch[4], launch[7], launch[5], us(launch[6])))
    with open(file('step_trace_profiling_0.txt'), 'w', encoding='utf-8') as out:
        for step in range(STEPS if asynchronous else 0):
            of_step = {l[1]: l for l in all_of_it if l[0] == step}
            fp, bp, last, comm = (of_step[GRAPH[i][0]] for i in (1, 4, 6, 5))
            start = [l for l in all_of_it if l[0] == step - 1 and l[1] == last[1]]
            begin = start[0][2] + start[0][3] if start else fp[2]
            out.write('%s,%d %s,%d %s,%d %s,%d %s,%d,%d\n' % (
                GRAPH[0][0], begin, fp[1], fp[2], bp[1], bp[2] + bp[3], last[1], last[2] + last[3],
                comm[1], comm[2], comm[2] + comm[3]))
        for op in () if asynchronous else (GRAPH[1][0], GRAPH[4][0], GRAPH[6][0], GRAPH[5][0]):  # forward, backward, end, all-reduce
            pairs = ['%d,%d' % (l[2] // 10, (l[2] + l[3]) // 10) for l in all_of_it if l[1] == op]
            out.write('%s %s\n' % (op, ' '.join(pairs)))
    for name in without:
        os.remove(file(name))
    return all_of_it


def compare_operators(tally, folder, all_of_it):
    ops, types = sums((l[1], l[3]) for l in all_of_it), sums((type_of(l[1]), l[3]) for l in all_of_it)
    work = sums((l[1], l[6]) for l in all_of_it)
    whole = sum(r[1] for r in ops.values())
    table = {r['full_name']: r for r in rows(ask('operators', folder), 'operators')}
    tally.check('made GPU run: operators', set(ops), set(table))
    for op, right in ops.items():
        got, label = table[op], 'made GPU run: %s ' % op
        for figure, want in (('calls', right[0]), ('device_total', right[1]), ('mean', round(right[1] / right[0])),
                             ('device_self', work[op][1]), ('name', op.rsplit('/', 1)[1]), ('type', type_of(op)),
                             ('subgraph', op.split('/')[0]), ('side', 'device')):
            tally.check(label + figure, want, got[figure])
        tally.check(label + 'share', right[1] / whole, got['share'], 1e-12)
    answer = ask('operators', folder, '--group-by', 'type')
    got = {r['name']: r for r in rows(answer, 'operators')}
    tally.check('made GPU run: types', {k: (r[0], r[1]) for k, r in types.items()},
                {k: (r['calls'], r['device_total']) for k, r in got.items()})
    top = [r['name'] for r in rows(answer, 'top')]
    tally.check('made GPU run: chart', sorted(types, key=lambda t: (-round(types[t][1] / types[t][0]), -types[t][1], t)), top)


def compare_kernels(tally, folder, all_of_it, label):
    right = sums((l[4], l[6]) for l in all_of_it)
    owners = {}
    for launch in all_of_it:
        owners.setdefault(launch[4], []).append(launch[1])
    got = {r['name']: r for r in rows(ask('kernels', folder), 'kernels')}
    tally.check(label + ': kernels', set(right), set(got))
    for name, want in right.items():
        for figure, value in zip(('calls', 'total', 'max', 'min'), want):
            tally.check('%s: %s %s' % (label, name, figure), value, got[name][figure])
        tally.check('%s: %s mean' % (label, name), True, abs(got[name]['mean'] - want[1] / want[0]) <= 0.5)
        # The table knows the operator of a kernel's first launch alone.
        tally.check('%s: %s op' % (label, name), owners[name][0], got[name]['op'])


def compare_steps(tally, folder, all_of_it):
    answer = ask('steps', folder)
    table = rows(answer, 'steps')
    tally.check('made GPU run: steps', STEPS, len(table))
    before = None
    for step, got in enumerate(table):
        of_step = {l[1]: l for l in all_of_it if l[0] == step}
        fp, bp, last, comm = (of_step[GRAPH[i][0]] for i in (1, 4, 6, 5))
        end = last[2] + last[3]
        start = before if before is not None else fp[2]
        label = 'made GPU run: step %d ' % (step + 1)
        for figure, want in (('step', step + 1), ('duration', end - start), ('gap', fp[2] - start),
                             ('forward_backward', bp[2] + bp[3] - fp[2]), ('tail', end - bp[2] - bp[3])):
            tally.check(label + figure, want, got[figure])
        shown = [r for r in rows(answer, 'segments') if r['step'] == step + 1 and r['name'] == GRAPH[5][0]]
        tally.check(label + 'all-reduce', [comm[3]], [r['duration'] for r in shown])
        before = last[2]


def compare_asynchronous(tally, folder, all_of_it):
    """One line a step, nanoseconds whose last digit is cut off."""
    table = rows(ask('steps', folder), 'steps')
    tally.check('made GPU run, asynchronous: steps', STEPS, len(table))
    before = None
    for step, got in enumerate(table):
        of_step = {l[1]: l for l in all_of_it if l[0] == step}
        fp, bp, last = (of_step[GRAPH[i][0]] for i in (1, 4, 6))
        end = last[2] + last[3]
        start = before if before is not None else fp[2]
        for figure, want in (('duration', end - start), ('gap', fp[2] - start),
                             ('forward_backward', bp[2] + bp[3] - fp[2]), ('tail', end - bp[2] - bp[3])):
            tally.check('made GPU run, asynchronous: step %d %s' % (step + 1, figure), want, got[figure])
        before = end


def compare_defaults(tally, folder, all_of_it):
    """Charts show the 20 types and the 15 kernels of longest mean, the rest as Others; the overview five types."""
    for analysis, options, key, most in (('operators', ['--group-by', 'type'], lambda l: (type_of(l[1]), l[3]), 20),
                                         ('kernels', [], lambda l: (l[4], l[6]), 15)):
        right = sums(key(l) for l in all_of_it)
        order = sorted(right, key=lambda k: (-round(right[k][1] / right[k][0]), -right[k][1], k))
        top = rows(ask(analysis, folder, *options), 'top')
        label = 'made GPU run, many: %s ' % analysis
        tally.check(label + 'shown', order[:most] + ['Others'], [r['name'] for r in top])
        rest = [right[k] for k in order[most:]]
        tally.check(label + 'Others', [sum(r[0] for r in rest), sum(r[1] for r in rest)],
                    [top[-1]['calls'], top[-1]['total']])
    types = sums((type_of(l[1]), l[3]) for l in all_of_it)
    order = sorted(types, key=lambda k: (-round(types[k][1] / types[k][0]), k))
    card = rows(ask('overview', folder), 'operator_types')
    tally.check('made GPU run, many: card', order[:5] + ['Others'], [r['type'] for r in card])
    tally.check('made GPU run, many: card total', sum(r[1] for r in types.values()), sum(r['total'] for r in card))


def compare_cards(tally, folder, all_of_it):
    work = {r['key']: int(r['value']) for r in rows(ask('overview', folder), 'work')}
    tally.check('made GPU run: operators counted', len(GRAPH), work['operators'])
    tally.check('made GPU run: executions', len(all_of_it), work['executions'])
    tally.check('made GPU run: total time', sum(l[3] for l in all_of_it), work['total_time_ns'])


def compare_launches(tally, folder, all_of_it):
    """Dimensions of a kernel are those of its launch."""
    found = {(r['name'], r['grid'], r['block']): r['calls'] for r in rows(ask('kernels', folder, '--group-by', 'launch'),
                                                                         'kernels')}
    right = {}
    first = {}
    for launch in all_of_it:
        first.setdefault(launch[4], launch)
    for launch in all_of_it:
        key = (launch[4], first[launch[4]][9], first[launch[4]][8])
        right[key] = right.get(key, 0) + 1
    plain = lambda text: '×'.join(text.strip('[]()').replace(' ', '').replace('×', ',').replace('x', ',').split(','))
    tally.check('made GPU run: launches', sorted((n, plain(g), plain(b), c) for (n, g, b), c in right.items()),
                sorted((n, plain(g or ''), plain(b or ''), c) for (n, g, b), c in found.items()))


def compare_timeline(tally, folder, all_of_it):
    status, out, err = call(['export', folder, '--no-cache', '--to', 'csv', '-o', '-'])
    tally.check('made GPU run: export', 0, status)
    found = list(csv.DictReader(out.decode('utf-8').splitlines()))
    right = sorted([('op', l[1], l[2], l[3]) for l in all_of_it] + [('kernel', l[4], l[5], l[6]) for l in all_of_it])
    base = min(int(r['start_ns']) for r in found if r['kind'] == 'op') - FIRST_NS
    mine = sorted((r['kind'], r['name'], int(r['start_ns']) - base, int(r['duration_ns'])) for r in found
                  if r['kind'] in ('op', 'kernel') and r['process'] in ('GPU operators', 'GPU 0')
                  and not r['thread'].startswith('Communication'))
    tally.check('made GPU run: slices', len(right), len(mine))
    for want, got in zip(right, mine):
        tally.check('made GPU run: slice', want, got)


def compare(tally):
    folder = scratch('mindspore_gpu')
    all_of_it = write(folder)
    compare_operators(tally, folder, all_of_it)
    compare_kernels(tally, folder, all_of_it, 'made GPU run')
    compare_steps(tally, folder, all_of_it)
    compare_timeline(tally, folder, all_of_it)
    compare_cards(tally, folder, all_of_it)
    compare_launches(tally, folder, all_of_it)
    other = scratch('mindspore_gpu_asynchronous')
    compare_asynchronous(tally, other, write(other, asynchronous=True))
    many = scratch('mindspore_gpu_many')
    compare_defaults(tally, many, write(many, graph=MANY))
    alone = scratch('mindspore_gpu_tables')
    write(alone, ('activity_execute_timestamp_0.txt', 'gpu_op_execute_timestamp_0.txt', 'step_trace_profiling_0.txt'))
    compare_kernels(tally, alone, all_of_it, 'made GPU tables')
