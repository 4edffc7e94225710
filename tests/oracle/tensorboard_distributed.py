"""The plugin's answers about all workers of a run: devices, overlap, waiting, collectives."""

import os

import ref_comm
from common import ask, mean, rows, scratch

COLUMNS = {'overlap': ('computation', 'overlapping', 'communication', 'other'),
           'synchronization': ('transfer', 'waiting')}


class All:
    """All workers of one span, as the plugin saw them; read once for each run."""

    current = (None, None)

    def __init__(self, run, number):
        self.folder = scratch('all_%s_%s' % (run.name.replace('/', '_'), number))
        os.mkdir(self.folder)
        self.answers, self.traces = {}, {}
        for worker in sorted(run.workers):
            span = run.span(worker, number)
            os.link(span.path, os.path.join(self.folder, worker + '.pt.trace.json'))
            self.traces[worker] = span.trace
        self.work = {w: list(t.device_work()) for w, t in self.traces.items()}
        self.collectives = {w: ref_comm.collectives(t) for w, t in self.traces.items()}
        ref_comm.match(list(self.collectives.values()))

    def ask(self, *options):
        if options not in self.answers:
            self.answers[options] = ask('distributed', self.folder, '--all-workers', *options)
        return self.answers[options]


def everything(run, number):
    key = (run.folder, number)
    if All.current[0] != key:
        All.current = (None, None)
        All.current = (key, All(run, number))
    return All.current[1]


def absent(check, run, answer):
    """Without communication, or where workers differ in it, the original has no such view."""
    if answer['status'] == 200 and answer['response'] is not None:
        return False
    found = rows(ask('distributed', run.folder, '--all-workers'), 'collectives')
    calls = sum(len(ref_comm.collectives(run.span(worker, '1').trace)) for worker in run.workers)
    check.equal('calls of collectives, reference', calls, sum(r['calls'] for r in found))
    check.leave('matched_by_order' if calls else 'error')
    return True


def devices(check, run, params, answer):
    if absent(check, run, answer):
        return
    check.equal('workers', sorted(run.workers), sorted(answer['response']['data']))
    for worker, processes in answer['response']['data'].items():
        for gpus in processes.values():
            known = {'GPU%d' % r['device']: r for r in rows(
                ask('info', run.folder, '--worker', worker), 'devices')}
            for name, facts in gpus.items():
                mine, what = known[name], '%s of %s' % (name, worker)
                check.equal(what + ' name', facts['Name'], mine['name'])
                check.equal(what + ' memory', facts['Memory Raw'], mine['memory_bytes'])
                check.near(what + ' memory as text', float(facts['Memory'].split()[0]), mine['memory_bytes'] / 2**30, .0501)
                check.equal(what + ' capability', facts['Compute Capability'], mine['compute_capability'])


def table_of(check, run, params, answer, table, reference):
    """A table by worker: the average of the steps, and each step asked alone."""
    whole = everything(run, params['span'])
    numbers = {str(n) for worker in whole.traces for n in reference(whole, worker)}
    check.equal('steps of %s' % table, sorted(numbers | {'all'}), sorted(answer['response']['data']))
    for step, by_worker in answer['response']['data'].items():
        options = () if step == 'all' else ('--step', step)
        got = {r['worker']: r for r in rows(whole.ask(*options), table)}
        check.equal('workers of %s' % table, sorted(by_worker), sorted(got))
        for worker, values in by_worker.items():
            right = reference(whole, worker)
            steps = [right[int(step)]] if step != 'all' else list(right.values())
            for i, column in enumerate(COLUMNS[table]):
                what = '%s %s of %s in step %s' % (table, column, worker, step)
                mine = got[worker][column]
                check.near(what + ', reference', True, mine in mean(sum(s[i] for s in steps), len(steps)), 0)
                if step == 'all':
                    check.near(what + ', cut to microseconds', values[i] + .5, mine / 1000, .501)
                else:
                    check.time(what, values[i], mine, len(whole.work[worker]) / len(right))


def overlap(check, run, params, answer):
    if not absent(check, run, answer):
        table_of(check, run, params, answer, 'overlap', lambda whole, w: ref_comm.overlap(whole.traces[w]))


def waiting(check, run, params, answer):
    if absent(check, run, answer):
        return
    table_of(check, run, params, answer, 'synchronization', waits)


def waits(whole, worker):
    """{step: (transfer, waiting)}"""
    out = {}
    for step in sorted({c.step for c in whole.collectives[worker]} - {None}):
        total, transfer = ref_comm.sums([c for c in whole.collectives[worker] if c.step == step])
        out[step] = (transfer, total - transfer)
    return out


def collectives(check, run, params, answer):
    if absent(check, run, answer):
        return
    whole = everything(run, params['span'])
    got = {(r['worker'], r['name']): r for r in rows(whole.ask(), 'collectives')}
    for worker, table in answer['response']['data'].items():
        for name, calls, size, mean_size, total, mean_time, transfer, mean_transfer in table['rows']:
            what, mine = '%s of %s' % (name, worker), got.get((worker, name))
            if mine is None:
                check.fail(what + ' is missing')
                continue
            some = [c for c in whole.collectives[worker] if c.name == name]
            right = ref_comm.sums(some)
            check.equal(what + ', reference', right, (mine['total'], mine['transfer']))
            check.equal(what + ' bytes, reference', sum(c.bytes() for c in some), mine['bytes'])
            check.equal(what + ' calls', calls, mine['calls'])
            check.equal(what + ' bytes', size, mine['bytes'])
            check.near(what + ' mean bytes', mean_size, mine['mean_bytes'], .501)
            check.near(what + ' mean time', mean_time, mine['total'] / calls / 1000, .501)
            check.near(what + ' mean transfer', mean_transfer, mine['transfer'] / calls / 1000, .501)
            check.time(what + ' total', total, mine['total'], calls)
            check.time(what + ' transfer', transfer, mine['transfer'], 2 * calls)
            check.equal(what + ' adds up', mine['total'], mine['transfer'] + mine['waiting'])
    names = {(w, row[0]) for w, table in answer['response']['data'].items() for row in table['rows']}
    check.equal('collectives', sorted(names), sorted(got))
