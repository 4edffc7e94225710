"""Recorded answers of Holistic Trace Analysis against tacho.

HTA works on the rows of the device between the first and the last of them.  So the program is asked about a
copy of the trace that holds just these rows, of which it then says how each moment was spent; unions of
any two classes come from copies without the third.  Every figure is looked at three times: as HTA recorded it,
as HTA's own arithmetic gives it (hta_rows.py), and exactly, in nanoseconds.  The first two must agree, and the
program must agree with the third to the nanosecond.  Where the exact figure is another than HTA's, the row of
DEFECTS that says why is named.
"""

import csv
import functools
import hashlib
import io
import json
import os
import re
from collections import defaultdict

import hta_rows
import hta_streams
import ref_steps
import reference
from common import DATA, Refused, ask, call, figures, mean, read_answers, remembers, rows, samples, scratch, title_of
from ref_ranges import length, merge, minus

DEFECTS = {
    # id: (section of the spec, kind, what and why)
    'last_step': ('1.5', 'input', 'the last step is dropped: from the copy as well'),
    'found_steps': ('1.5', 'figure', 'without ProfilerStep there is no step: here other marks count, and what repeats'),
    'host_rows': ('2.1', 'input', 'only the time from the first to the last device row is looked at: the copy holds '
                  'nothing else'),
    'copies': ('2.2', 'input', 'copies and sets are kernels like others: so they are in a copy for the table by name'),
    'rounding': ('1.4', 'figure', 'times are rounded inwards to microseconds'),
    'sync_rows': ('2.1', 'figure', 'waits and host operators with a stream are taken for device work'),
    'others': ('2.2', 'figure', 'beyond ten names, figures of the totals are given for those of the calls'),
    'spread': ('2.2', 'figure', 'the standard deviation is not a column'),
    'device_twin': ('2.3', 'figure', 'device-side ranges last from the first to the last kernel; ours give the time of '
                    'the work that was launched inside'),
    'class': ('1.6', 'figure', 'classes go by the beginning of the name: hip… is communication, …Sync… is none'),
    'short_name': ('1.6', 'figure', 'short names are not a column'),
    'overlap': ('2.4', 'figure', 'works of one stream that overlap leave a negative gap, which counts'),
    'ties': ('2.9, 2.10', 'figure', 'points of one time are in no fixed order, and residues of doubles are bandwidth: only '
             'bounds are compared'),
    'launch_names': ('2.6, 2.9', 'figure', 'launches go by a list of names: calls of the driver, of HIP and of graphs are '
                     'missing'),
    'last_stream': ('2.9', 'figure', 'of the streams of a rank only the last one is told, and its share is of the whole '
                    'trace'),
    'queue_limit': ('2.9', 'figure', 'the length that counts as full is a parameter; here it is the 1,024 works at which '
                    'a launch waits for room'),
    'bandwidth': ('2.10', 'figure', 'the bandwidth that the profiler wrote; ours is bytes by time'),
    'critical_path': ('4', 'figure', 'Python and waiting weigh nothing on the path, so it is not the step: only device '
                      'work, gaps and launches on it are compared'),
    'other_path': ('4', 'figure', 'device work that decided nothing is on the path, so times by what bounds it are of another '
                   'path'),
    'nobody_waits': ('4', 'figure', 'device work is on the path although it was done before anybody waited for it'),
    'late_launch': ('4', 'figure', 'work is on the path although the next one was launched only after its end'),
    'first_starts': ('2.14', 'figure', 'one kernel name decides who is late, on clocks that are not aligned: only the '
                     'first candidate is compared'),
    'waiting_moves': ('2.14', 'figure', 'HTA always suspects a rank; here each of the two waits for the other as long, and '
                      'neither works longer than the other'),
}
ECHO = {'crash': 'the original crashed', 'file': 'the original only echoes the file',
        'not_kept': 'the trace is not kept'}
NOT_YET = ('critical_path', 'call_graph', 'frequent_cuda_kernel_sequences', 'cupti')
HEAD = {'trace', 'hta', 'env', 'settings', 'ranks', 'what', 'note'}
# {path: what the program answered and what was counted}: small, while the traces themselves are large.
_memo = {}


class Check:
    """A tally with a label, and what was left out, by row of DEFECTS."""

    def __init__(self, tally, label):
        self.tally, self.label, self.left = tally, label, {}

    def equal(self, what, expected, got, slack=0):
        return self.tally.check('%s %s' % (self.label, what), expected, got, slack=slack)

    def fail(self, sentence):
        self.tally.fail('%s %s' % (self.label, sentence))

    def leave(self, row, count=1):
        self.left[row] = self.left.get(row, 0) + count

    def end(self):
        for row, count in self.left.items():
            why = '%s: %s' % (DEFECTS[row][0], DEFECTS[row][2]) if row in DEFECTS else \
                ECHO.get(row) or '%s is not asked yet' % row
            self.tally.skip('%s: %s (%d figures)' % (self.label, why, count), count)


class Rank:
    """One trace: its rows, and the program's answers about copies of parts of them."""

    def __init__(self, path):
        self.path, self.by_mode = path, {}
        self.memo = _memo.setdefault(path, {})

    @functools.cached_property
    def events(self):
        return reference.read(self.path)

    @functools.cached_property
    def rows(self):
        return hta_rows.rows_of(self.events)

    @functools.cached_property
    def fractional(self):
        """Are there parts of microseconds?"""
        return any(not isinstance(r.event['ts'], int) for r in self.rows)

    @functools.cached_property
    def trace(self):
        return reference.Trace(self.events)

    def kept(self, mode):
        """HTA's rows of the device, with what it takes for it; those that are."""
        if mode not in self.by_mode:
            kept = hta_rows.step_filter(self.rows, mode != 'default')
            seen = [r for r in kept if r.stream != -1]
            self.by_mode[mode] = kept, seen, [r for r in seen if r.cat in hta_rows.DEVICE]
        return self.by_mode[mode]

    def parts(self, mode, classes):
        """How the program deals out the time of a copy with the device rows of these classes, in ns."""
        key = (self.path, mode, classes)
        if key not in _written:
            device = [r for r in self.kept(mode)[2] if hta_rows.kernel_class(r.name) in classes]
            write(key, device, step=True) if device else _written.update({key: None})
        return self.asked(key, self.part, _written[key])

    def asked(self, key, function, *arguments):
        """What the program said, once; again where faults are put into its answers."""
        if remembers() or key not in self.memo:
            self.memo[key] = function(*arguments)
        return self.memo[key]

    @staticmethod
    def part(path):
        table = rows(ask('overview', path, '--threads', '1'), 'steps') if path else []
        return {c: (table[0][c] or 0) if table else 0 for c in ('total', *ref_steps.ROLES)}

    def unions(self, mode):
        """{'C': ns, 'CK': ns, …}: unions of the three classes, all from the program."""
        c, k, m = hta_rows.CLASSES
        whole, no_c, no_m, only_k = (self.parts(mode, p) for p in ((c, k, m), (k, m), (c, k), (k,)))
        out = {'C': whole['kernel'], 'M': memory_of(no_c), 'K': only_k['communication']}
        out['CM'] = out['C'] + memory_of(whole)
        out['CKM'] = out['CM'] + whole['communication']
        out['KM'] = out['M'] + no_c['communication']
        out['CK'] = out['C'] + no_m['communication']
        return out

    def names(self, mode):
        """{name: row} of the program's table of kernels, copies and memsets being kernels too."""
        key = ('names', self.path, mode)
        if key not in _written:
            device = self.kept(mode)[2]
            write(key, device, cat='kernel') if device else _written.update({key: None})
        return self.asked(key, self.by_name, _written[key])

    @staticmethod
    def by_name(path):
        return {r['name']: r for r in rows(ask('kernels', path), 'kernels')} if path else {}


    def streams(self, mode):
        """The program's tables of streams, launches and copies, of a copy with the device rows and their calls."""
        key = ('streams', self.path, mode)
        if key not in _written:
            kept, _, device = self.kept(mode)
            launched = {r.correlation for r in device if r.correlation >= 0}
            calls = [r for r in kept if r.cat in hta_streams.CALLS and r.correlation in launched]
            write(key, device + calls, step=True) if device else _written.update({key: None})
        return self.asked(key, self.stream_tables, _written[key])

    @staticmethod
    def stream_tables(path):
        answer = ask('idle', path) if path else None
        return {t: rows(answer, t) if answer else [] for t in ('streams', 'queue', 'launches', 'copies')}


def memory_of(parts):
    return parts['memcpy'] + parts['memset']


ARGUMENTS = ('device', 'stream', 'correlation', 'Collective name', 'bytes')
_written = {}


def text_of(row, cat):
    event, args = row.event, row.event.get('args') or {}
    few = {'cat': cat or row.cat, 'name': row.name, 'pid': event['pid'], 'tid': event['tid'],
           'args': {k: args[k] for k in ARGUMENTS if k in args}}
    row.text[cat] = '{"ph": "X", "ts": %s, "dur": %s, %s' % (event['ts'], event['dur'], json.dumps(few)[1:])
    return row.text[cat]


def write(key, some, cat=None, step=False):
    """A trace of these rows' events and nothing else; the times as they were written. With one step over
    all of them where a question is about the whole: otherwise the program finds steps in work that repeats.
    The key says which rows of which trace they are: what has been written once is not written again."""
    if key in _written:
        return _written[key]
    path = _written[key] = scratch('part%d.json' % len(_written))
    events = []
    if step:
        first, end = min(r.event['ts'] for r in some), max(r.event['ts'] + r.event['dur'] for r in some)
        events.append('{"ph": "X", "ts": %s, "dur": %s, "cat": "user_annotation", "name": "ProfilerStep#0", '
                      '"pid": -1, "tid": -1}' % (first, end - first))
    events.extend(row.text.get(cat) or text_of(row, cat) for row in some)
    with open(path, 'w', encoding='utf-8') as file:
        file.write('{"schemaVersion": 1, "traceEvents": [\n%s]}' % ',\n'.join(events))
    return path


# ---- the questions; each takes (check, ranks, mode, answer) ----

def parse(check, ranks, mode, answer):
    """HTA's own count of the rows: shows that ours are the same rows."""
    check.equal('ranks', sorted(answer), sorted(ranks))
    zero = min(r.begin for rank in ranks.values() for r in rank.rows)
    for number, rank in ranks.items():
        mine = facts_of(rank, mode, zero, words_of(tuple(ranks.values())))
        for key, value in answer[number].items():
            if key == 'iterations':     # next to rows without a step, a step is written as a fraction
                value = {int(float(k)): v for k, v in value.items()}
            if key in mine:
                check.equal('%s as HTA counts' % key, value, mine[key])
            elif isinstance(value, (int, float)):
                check.fail('what is %s?' % key)
        check.leave('file', figures(answer[number]))


@functools.lru_cache(4)
def words_of(ranks):
    return len({word for rank in ranks for row in rank.rows for word in (row.name, row.cat)})


@functools.lru_cache(8)
def facts_of(rank, mode, zero, words):
    return hta_rows.facts(rank.rows, rank.kept(mode)[0], zero, words)


def profiler_steps(check, ranks, mode, answer):
    for rank in ranks.values():
        check.equal('steps as HTA counts', sorted(answer), sorted(hta_rows.step_rows(rank.kept(mode)[0])))
        every = sorted(hta_rows.step_rows(rank.rows))
        mine = [r['step'] for r in rows(ask('steps', rank.path), 'steps')]
        if mine and not every:
            check.leave('found_steps')
        else:
            check.equal('steps', every, mine)
        if every != sorted(answer):
            check.leave('last_step')


def temporal_breakdown(check, ranks, mode, answer):
    recorded = {str(row['rank']): row for row in answer} if isinstance(answer, list) else {}
    crashed = not isinstance(answer, list)
    if not crashed:
        check.equal('ranks', sorted(str(row['rank']) for row in answer), sorted(ranks))
    for number, rank in ranks.items():
        exact_breakdown(check, rank, mode)
        _, seen, device = rank.kept(mode)
        if crashed:
            check.equal('HTA crashes without rows of the device', True, 'hta_error' in answer)
            check.leave('crash')
        if number not in recorded:
            continue
        old = hta_rows.temporal(seen, ranks.old)
        whole = rank.parts(mode, hta_rows.CLASSES)
        mine = (whole['other'], whole['kernel'], memory_of(whole) + whole['communication'], whole['total'])
        for i, column in enumerate(('idle_time', 'compute_time', 'non_compute_time', 'kernel_time')):
            value = recorded[number][column + '(us)']
            check.equal('%s as HTA counts' % column, value, old[i])
            if column != 'kernel_time':
                check.equal('%s share as HTA counts' % column, recorded[number][column + '_pctg'],
                            100 * old[i] / old[3] if old[3] else 0, slack=.0051)
            compare_or_leave(check, rank, seen, device, column, value, mine[i])


def compare_or_leave(check, rank, seen, device, what, value_us, mine_ns):
    """The program's figure is HTA's, or a row of DEFECTS says why not."""
    if len(seen) != len(device):
        check.leave('sync_rows')
    elif rank.fractional:       # inwards, up to a microsecond at each end; merged ranges share their ends
        check.leave('rounding')
        check.equal(what + ' within the rounding', value_us, mine_ns / 1000, slack=2 * len(device) + 2)
    else:
        check.equal(what, value_us, mine_ns / 1000)


def exact_breakdown(check, rank, mode):
    """The program on the device rows alone, to the nanosecond."""
    device = rank.kept(mode)[2]
    if not device:
        return
    ranges = {c: hta_rows.merged(device, c, False, True) for c in hta_rows.CLASSES}
    every = merge((r.start, r.end) for r in device)
    c, k, m = (ranges[x] for x in hta_rows.CLASSES)
    total = max(r.end for r in device) - min(r.start for r in device)
    other = total - length(every)
    got = rank.parts(mode, hta_rows.CLASSES)
    comm = minus(minus(k, c), m)
    for what, right, mine in (('whole', total, got['total']), ('compute', length(c), got['kernel']),
                              ('memory', length(minus(m, c)), memory_of(got)),
                              ('communication', length(comm), got['communication']), ('idle', other, got['other'])):
        check.equal('%s %s, exactly' % (mode, what), right, mine)
    unions = rank.unions(mode)
    for key, some in (('C', [c]), ('K', [k]), ('M', [m]), ('CK', [c, k]), ('CM', [c, m]), ('KM', [k, m]),
                      ('CKM', [c, k, m])):
        check.equal('%s union %s, exactly' % (mode, key), length(merge(r for part in some for r in part)), unions[key])


def kernel_breakdown(check, ranks, mode, answer):
    if 'hta_error' in answer:
        check.leave('crash')
        return
    types(check, ranks, mode, answer['kernel_type'])
    for key in ('default_num_kernels_10', 'top20_by_sum_without_grouping'):
        if key in answer:
            kernel_table(check, ranks, mode, key, answer[key])
    if 'distinct_rows_without_grouping' in answer:
        count = 0
        for rank in ranks.values():
            seen, device = rank.kept(mode)[1:]
            count += len({r.name for r in seen if hta_rows.kernel_class(r.name, ranks.old) != 'OTHER'})
            check.equal('distinct names, exactly', len({r.name for r in device}), len(rank.names(mode)))
        check.equal('distinct names as HTA counts', answer['distinct_rows_without_grouping'], count)


def types(check, ranks, mode, table):
    """Time of each set of classes, over all ranks, from unions of the program."""
    old, mine, plain, slack = defaultdict(int), defaultdict(int), True, 0
    for rank in ranks.values():
        _, seen, device = rank.kept(mode)
        plain = plain and len(seen) == len(device) and not rank.fractional
        slack += 2 * len(device) + 2
        ranges = {c: hta_rows.merged(seen, c, ranks.old, False) for c in hta_rows.CLASSES}
        for name, value in hta_rows.overlap_sets(ranges).items():
            old[name] += value
        if device:
            for name, value in sets_of(rank.unions(mode)).items():
                mine[name] += value
    least = 0 if plain else 1
    check.equal('sets of classes', sorted(row['kernel_type'] for row in table if row['sum'] > least),
                sorted(n for n, v in old.items() if v > least))
    for row in table:
        name = row['kernel_type']
        # In doubles a rounded sweep can be off by a microsecond.
        check.equal('time of %s as HTA counts' % name, row['sum'], old.get(name, 0), slack=0 if plain else 1)
        check.equal('share of %s as HTA counts' % name, row['percentage'], 100 * old.get(name, 0) / sum(old.values()),
                    slack=.0501)
        if plain:
            check.equal('time of %s' % name, row['sum'], mine.get(name, 0) / 1000)
            check.equal('share of %s' % name, row['percentage'], 100 * mine.get(name, 0) / sum(mine.values()),
                        slack=.0501)
        elif all(len(r.kept(mode)[1]) == len(r.kept(mode)[2]) for r in ranks.values()):
            check.leave('rounding')
            check.equal('time of %s within the rounding' % name, row['sum'], mine.get(name, 0) / 1000, slack=slack)
        else:
            check.leave('sync_rows')


def sets_of(u):
    """{set of classes: time} by inclusion and exclusion."""
    both_ = {'CK': u['C'] + u['K'] - u['CK'], 'CM': u['C'] + u['M'] - u['CM'], 'KM': u['K'] + u['M'] - u['KM']}
    three = u['CKM'] - u['C'] - u['K'] - u['M'] + both_['CK'] + both_['CM'] + both_['KM']
    c, k, m = hta_rows.CLASSES
    return {c: u['C'] - both_['CK'] - both_['CM'] + three, k: u['K'] - both_['CK'] - both_['KM'] + three,
            m: u['M'] - both_['CM'] - both_['KM'] + three, ' overlapping '.join((c, k)): both_['CK'] - three,
            ' overlapping '.join((c, m)): both_['CM'] - three, ' overlapping '.join((k, m)): both_['KM'] - three,
            ' overlapping '.join((c, k, m)): three}


COLUMNS = ('sum (us)', 'max (us)', 'min (us)', 'mean (us)', 'stddev')


def kernel_table(check, ranks, mode, key, table):
    """Every row as HTA counts; sum, largest and smallest by name to those of the program."""
    grouped = key == 'default_num_kernels_10'
    wanted = hta_tables(ranks, mode, grouped)
    if grouped and ranks.old:       # 0.5.0 folds others than it says: what it has not folded is taken from its answer
        wanted = listed_tables(ranks, mode, table)
    check.equal(key + ' rows', sorted((str(r['rank']), r['kernel_type'], r['name']) for r in table)
                if grouped else len(table), sorted(wanted) if grouped else min(20, len(wanted)))
    check.equal(key + ' different rows', len(table), len({(r['rank'], r['name']) for r in table}))
    if not grouped and table:
        least = sorted((v[0] for v in wanted.values()), reverse=True)[:20][-1]
        check.equal(key + ' the largest', True, all(r['sum (us)'] >= least for r in table))
    for number, rank in ranks.items():
        _, seen, device = rank.kept(mode)
        exact_names(check, rank, mode)
        for row in table:
            if str(row['rank']) == number:
                one_name(check, rank, mode, '%s %s' % (key[:7], row['name'][:60]), row,
                         wanted.get((number, row['kernel_type'], row['name'])), grouped and
                         folds(seen, row['kernel_type'], ranks.old))


def exact_names(check, rank, mode):
    for name, (calls, total, longest, shortest) in exact_by_name(rank, mode).items():
        mine = rank.names(mode)[name]
        check.equal('%s, exactly' % name[:60], (calls, total, longest, shortest),
                    (mine['calls'], mine['total'], mine['max'], mine['min']))
        check.equal('%s mean, exactly' % name[:60], True, mine['mean'] in mean(total, calls))


@functools.lru_cache(None)
def exact_by_name(rank, mode):
    return hta_rows.by_name(rank.kept(mode)[2], exact=True)


def hta_tables(ranks, mode, grouped):
    """{(rank, class, name): sum, max, min, mean, stddev} as HTA has them."""
    out = {}
    for number, rank in ranks.items():
        out.update({(number, *key): value for key, value in hta_table(rank, mode, ranks.old, grouped).items()})
    return out


@functools.lru_cache(None)
def hta_table(rank, mode, old, grouped):
    classes = defaultdict(lambda: defaultdict(list))
    for row in rank.kept(mode)[1]:
        kind = hta_rows.kernel_class(row.name, old)
        if kind != 'OTHER':
            classes[kind][row.name].append(row.dur)
    out = {}
    for kind, names in classes.items():
        if not grouped or len(names) <= 10:
            out.update({(kind, name): hta_rows.figures(values) for name, values in names.items()})
            continue
        totals = folded({name: sum(values) for name, values in names.items()})
        out.update({(kind, name): hta_rows.figures(values) for name, values in totals.items()})
    return out


def listed_tables(ranks, mode, table):
    """As hta_tables, where `others` are the names that are not in the answer."""
    listed, out = {(str(r['rank']), r['name']) for r in table}, {}
    for number, rank in ranks.items():
        rest, plain = defaultdict(list), hta_table(rank, mode, True, False)
        kinds = defaultdict(int)
        for kind, _ in plain:
            kinds[kind] += 1
        for (kind, name), value in plain.items():
            if kinds[kind] <= 10:
                out[number, kind, name] = value
            elif (number, name) in listed:
                out[number, kind, name] = hta_rows.figures([value[0]])
            else:
                rest[kind].append(value[0])
        out.update({(number, kind, 'others'): hta_rows.figures(values) for kind, values in rest.items()})
    return out


def folded(totals):
    """{name: [totals]}: beyond ten names, and beyond 0.8 of the way through the running sums, all are `others`; the
    second grouping is over totals."""
    order = sorted(totals.items(), key=lambda p: -p[1])
    running, sums = 0, []
    for _, value in order:
        running += value
        sums.append(running)
    at = 0.8 * (len(sums) - 1)
    low = int(at)
    limit = sums[low] + (sums[min(low + 1, len(sums) - 1)] - sums[low]) * (at - low)
    out = defaultdict(list)
    for place, (name, value) in enumerate(order):
        out['others' if place >= 10 or sums[place] > limit else name].append(value)
    return out


def one_name(check, rank, mode, what, row, old, is_folded):
    for column, value in zip(COLUMNS, old or ()):
        check.equal('%s %s as HTA counts' % (what, column), row[column], value, slack=0 if column in COLUMNS[:3] else 1e-6)
    if old is None:
        check.fail(what + ' is no row of HTA')
        return
    check.leave('spread')
    if is_folded:
        check.leave('others', 3)
    name, exact = row['name'], exact_by_name(rank, mode)
    _, seen, device = rank.kept(mode)
    if name not in exact:
        check.leave('others' if name == 'others' else 'sync_rows', 3)
        return
    for word, column in (('sum', 'total'),) if is_folded else (('sum', 'total'), ('max', 'max'), ('min', 'min')):
        compare_or_leave(check, rank, [r for r in seen if r.name == name], [r for r in device if r.name == name],
                         '%s %s' % (what, word), row[word + ' (us)'], rank.names(mode)[name][column])


def folds(seen, kernel_type, old):
    return len({r.name for r in seen if hta_rows.kernel_class(r.name, old) == kernel_type}) > 10


def comm_comp_overlap(check, ranks, mode, answer):
    recorded = {str(row['rank']): row['comp_comm_overlap_pctg'] for row in answer}
    check.equal('ranks', sorted(str(row['rank']) for row in answer), sorted(ranks))
    for number, rank in ranks.items():
        _, seen, device = rank.kept(mode)
        old = hta_rows.share_overlapped(seen, ranks.old)
        value = recorded[number]
        check.equal('overlap as HTA counts', value, None if old is None else 100 * old, slack=.0051)
        if not device:
            continue
        unions = rank.unions(mode)
        shared = unions['C'] + unions['K'] - unions['CK']
        table = rows(ask('distributed', write((rank.path, mode, hta_rows.CLASSES), device, step=True)), 'overlap')
        if unions['K']:
            check.equal('%s distributed' % mode, (unions['C'] - shared, shared, unions['K'] - shared),
                        tuple(table[0][c] for c in ('computation', 'overlapping', 'communication')))
            check.equal('overlap', value, 100 * shared / unions['K'], slack=.0051 if not rank.fractional else 1)
            if rank.fractional:
                check.leave('rounding')
        else:
            check.equal('%s no communication' % mode, 0, sum(r['communication'] + r['overlapping'] for r in table))
            check.equal('overlap', None, value)


def user_annotations(cat):
    def question(check, ranks, mode, answer):
        recorded = defaultdict(dict)
        for row in answer or []:
            recorded[str(row['rank'])][row['name']] = row
        for number, rank in ranks.items():
            some = [r for r in rank.kept(mode)[0] if r.cat == cat]
            old, exact = hta_rows.by_name(some), hta_rows.by_name(some, exact=True)
            names = set(recorded[number])
            # The answers of 0.5.0 were cut after thirty rows, so the last of several ranks may lack some.
            cut = ranks.old and number == list(ranks)[-1] and len(ranks) > 1 and len(answer or []) == 30
            check.equal('%s names' % cat, [], sorted(names - set(old)))
            check.equal('%s rows' % cat, sum(str(r['rank']) == number for r in answer or []), len(names))
            if not cut:
                check.equal('%s all names' % cat, sorted(names), sorted(old))
            got = slices_by_name((rank.path, mode, cat), some) if some else {}
            for name, row in recorded[number].items():
                calls, total, longest, shortest = old[name]
                what = '%s %s' % (cat, name[:60])
                check.equal(what + ' as HTA counts', (row['sum (us)'], row['max (us)'], row['min (us)']),
                            (total, longest, shortest))
                check.equal(what + ' mean as HTA counts', row['mean (us)'], total / calls, slack=1e-6)
                lengths = [r.dur for r in some if r.name == name]
                check.equal(what + ' stddev as HTA counts', row['stddev'], hta_rows.spread(lengths), slack=1e-6)
                check.equal(what + ', exactly', exact[name], got.get(name))
                check.leave('spread')
                if not rank.fractional:
                    check.equal(what, (row['sum (us)'], row['max (us)'], row['min (us)']),
                                tuple(v / 1000 for v in got[name][1:]))
                else:
                    check.leave('rounding', 3)
            if cat == 'gpu_user_annotation' and answer:
                check.leave('device_twin')
            launched_inside(check, rank)
    return question


def exported(path):
    """A reader of the program's CSV export."""
    status, out, err = call(['export', path, '--to', 'csv', '-o', '-', '--no-cache'])
    if status != 0:
        raise Refused(status, err)
    csv.field_size_limit(1 << 30)
    return csv.reader(io.StringIO(out.decode('utf-8'), newline=''))


def slices_by_name(key, some):
    """{name: (calls, sum, max, min)} of the slices the program has of these rows, by its CSV export."""
    found, reader = defaultdict(list), exported(write(key, some))
    head = next(reader)
    name, duration = head.index('name'), head.index('duration_ns')
    for row in reader:
        found[row[name]].append(int(row[duration]))
    return {name: (len(d), sum(d), max(d), min(d)) for name, d in found.items()}


def launched_inside(check, rank):
    """Ranges of the user with the device work launched inside them by their own thread."""
    if 'ranges' in rank.memo:
        return
    right = rank.memo['ranges'] = defaultdict(lambda: [0, 0, 0])
    for item in rank.trace.slices:
        if item.kind == 'annotation' and not ref_steps.is_host_collective(item):
            right[item.name][0] += 1
            right[item.name][1] += item.dur
    for work in rank.trace.device_work():
        above = work.launch
        while above is not None:
            if above.kind == 'annotation' and above.name in right:
                right[above.name][2] += work.dur
            above = above.parent
    got = {r['name']: [r['calls'], r['host_total'], r['device_total'] or 0]
           for r in rows(ask('overview', rank.path), 'user_events')}
    check.equal('ranges of the user, reference', dict(right), got)


def kernels_with_annotations(check, ranks, mode, answer):
    if answer and 'hta_error' in answer:
        check.leave('crash')
        return
    for number, rank in ranks.items():
        launched_inside(check, rank)
        recorded, (count, by_name) = (answer or {}).get(number), annotations_of(rank, mode)
        if recorded is None:
            check.equal('no ranges of the device', [], [name for name in by_name if name != '<none>'])
            continue
        check.equal('kernels as HTA counts', recorded['rows'], count)
        check.equal('annotated kernels as HTA counts', by_name,
                    {k: (v['kernels'], v['sum_dur']) for k, v in recorded['by_annotation'].items()})
        check.leave('device_twin', figures(recorded))


@functools.lru_cache(None)
def annotations_of(rank, mode):
    return hta_rows.annotated(rank.kept(mode)[0])


def stragglers(check, ranks, mode, answer):
    """The rank HTA suspects first is the one the program names, if it names any: it does where a rank works longer."""
    if 'hta_error' in answer:
        check.leave('crash')
        return
    folder = scratch('stragglers_' + check.label)
    os.makedirs(folder, exist_ok=True)
    for number, rank in ranks.items():
        path = os.path.join(folder, 'rank%s.pt.trace.json.gz' % number)
        if not os.path.exists(path):
            os.symlink(os.path.abspath(rank.path), path)
    verdict = ask('distributed', folder, '--all-workers').get('verdict') or {}
    if verdict.get('id') == 'straggler':
        check.equal('straggler', answer['num_candidates_1'][0], verdict.get('values', {}).get('rank'))
    else:
        check.leave('waiting_moves')
    check.equal('two candidates', True, answer['num_candidates_1'][0] in answer['num_candidates_2'])
    check.equal('two ranks', min(2, len(ranks)), len(set(map(str, answer['num_candidates_2'])) & set(ranks)))
    check.leave('first_starts', len(answer['num_candidates_2']) - 1)


SEVEN = ('mean', 'std', 'min', '25%', '50%', '75%', 'max')
OURS = ('mean', 'std', 'min', 'p25', 'p50', 'p75', 'max')


def described(check, what, row, columns, values, slack):
    """A row of figures is what these numbers give; count first."""
    for column, value in zip(columns, hta_streams.describe(values)):
        if row[column] is None or value is None:
            check.equal('%s %s' % (what, column), row[column], value)
        else:
            check.equal('%s %s' % (what, column), row[column], value, slack=slack + 1e-6 * abs(value))


def ours_described(check, what, row, values, slack):
    """The same of a row of the program, which has a deviation of 0 where there is one number."""
    right = hta_streams.describe(values)
    for column, value in zip(('count',) + OURS, right):
        check.equal('%s %s, exactly' % (what, column), 0 if value is None else value, row[column],
                    slack=slack + 1e-9 * abs(value or 0))


def idle_time_breakdown(check, ranks, mode, answer):
    if 'hta_error' in answer:
        check.leave('crash')
        return
    for number, rank in ranks.items():
        old, exact = (hta_streams.idle(rank.kept(mode)[0], e) for e in (False, True))
        mine = {(r['stream'], r['cause']): r for r in rank.streams(mode)['streams']}
        check.equal('%s streams and classes, exactly' % mode, sorted(exact), sorted(mine))
        for key, gaps in exact.items():
            if key in mine:
                check.equal('%s gaps of %s %s, exactly' % (mode, *key), sum(gaps), mine[key]['time'])
                ours_described(check, '%s gaps of %s %s' % (mode, *key), mine[key], gaps, .51)
        recorded = [r for r in answer['breakdown'] if str(r['rank']) == number]
        if recorded:            # HTA looks at the first rank unless it is asked for others
            check.equal('streams and classes', sorted((r['stream'], r['idle_category']) for r in recorded), sorted(old))
        for row in recorded:
            key = row['stream'], row['idle_category']
            gaps = old.get(key, [])
            whole = sum(sum(v) for k, v in old.items() if k[0] == key[0])
            check.equal('gaps of %s %s as HTA counts' % key, row['idle_time'], sum(gaps))
            if row['idle_time_ratio'] is not None:
                check.equal('share of %s %s as HTA counts' % key, row['idle_time_ratio'], sum(gaps) / whole if whole else 0,
                            slack=.0051)
            if sum(exact.get(key, [])) != 1000 * sum(gaps):
                check.leave('rounding' if rank.fractional else 'overlap')
        if 'interval_stats' in answer:
            check.equal('rows of the gaps', sorted((r['rank'], r['stream'], r['idle_category']) for r in answer['breakdown']),
                        sorted((r['rank'], r['stream'], r['idle_category']) for r in answer['interval_stats']))
        for row in answer.get('interval_stats') or []:
            if str(row['rank']) == number:
                key = row['stream'], row['idle_category']
                described(check, 'gaps of %s %s' % key, row, ('count',) + SEVEN, old.get(key, []), .0051)


def queue_length(check, ranks, mode, answer):
    for number, rank in ranks.items():
        kept = rank.kept(mode)[0]
        exact, high, low = (hta_streams.queues(kept, *how) for how in (
            (True,), (False, ranks.old), (False, ranks.old, False)))
        mine = {r['stream']: r for r in rank.streams(mode)['queue']}
        check.equal('%s queues, exactly' % mode, sorted(exact), sorted(mine))
        for stream, lengths in exact.items():
            if stream in mine:
                ours_described(check, '%s queue of %s' % (mode, stream), mine[stream], lengths, 1e-9)
        recorded = {r['stream']: r for r in answer['summary'] or [] if str(r['rank']) == number}
        check.equal('queues', sorted(r['stream'] for r in answer['summary'] or [] if str(r['rank']) == number),
                    sorted(high))
        for stream, row in recorded.items():
            one_queue(check, stream, row, high[stream], low[stream])
            if len(exact.get(stream, [])) != row['queue_length_count']:
                check.leave('launch_names', 8)
        series = (answer.get('series') or {}).get(number)
        if series:
            check.equal('changes of all queues as HTA counts', series['points'], sum(map(len, high.values())))
            between(check, 'sum of all queues', series['sum'], sum(map(sum, low.values())), sum(map(sum, high.values())))
            check.equal('longest queue as HTA counts', True, max(map(max, low.values())) <= series['max'] <=
                        max(map(max, high.values())))
            check.equal('shortest queue as HTA counts', True, min(map(min, low.values())) <= series['min'] <=
                        min(map(min, high.values())))


FULL = 1024     # tasks: what tacho calls a full queue, and the original by default


def full_queue(limit):
    def compare_full(check, ranks, mode, answer):
        for number, rank in ranks.items():
            kept = rank.kept(mode)[0]
            if limit == FULL:
                exact, mine = hta_streams.queue_points(kept, True), rank.streams(mode)['queue']
                check.equal('%s time at a full queue, exactly' % mode,
                            {stream: hta_streams.full_time(points, limit) for stream, points in exact.items()},
                            {r['stream']: r['full'] for r in mine})
            high, low = (hta_streams.queue_points(kept, False, ranks.old, first) for first in (True, False))
            recorded = [r for r in answer if str(r['rank']) == number]
            if not recorded:
                check.equal('no queue of %d works' % limit, 0,
                            max((hta_streams.full_time(points, limit) for points in low.values()), default=0))
            for row in recorded:
                bounds = [hta_streams.full_time(one[row['stream']], limit) for one in (low, high)]
                between(check, '%s at %d works' % (row['stream'], limit), row['duration_at_max_queue_length'], *bounds)
                check.leave('last_stream')
                if limit != FULL:
                    check.leave('queue_limit')
    return compare_full


def between(check, what, value, low, high):
    check.equal('%s between %s and %s as HTA counts' % (what, low, high), True, low - 1e-6 <= value <= high + 1e-6)


def one_queue(check, stream, row, high, low):
    what, columns = 'queue of %s' % stream, ['queue_length_' + c for c in ('count',) + SEVEN]
    if high == low:
        described(check, what + ' as HTA counts:', row, columns, high, 1e-6)
        return
    check.leave('ties', 7)
    for column, least, most in zip(columns, hta_streams.describe(low), hta_streams.describe(high)):
        if not column.endswith('std'):
            between(check, '%s %s' % (what, column), row[column], least, most)


def launch_stats(check, ranks, mode, answer):
    for number, rank in ranks.items():
        kept = rank.kept(mode)[0]
        old, exact = (hta_streams.launches(kept, e) for e in (False, True))
        mine = rank.streams(mode)['launches']
        for what, column, right in (
                ('launches', 'count', len(exact)), ('calls', 'call_total', sum(x[1] for x in exact)),
                ('works', 'device_total', sum(x[2] for x in exact)), ('delays', 'delay_total', sum(x[3] for x in exact)),
                ('short works', 'short', sum(x[1] <= 50000 and x[2] < x[1] for x in exact)),
                ('long calls', 'long_calls', sum(x[1] > 50000 for x in exact)),
                ('long delays', 'long_delays', sum(x[3] > 100000 for x in exact))):
            check.equal('%s %s, exactly' % (mode, what), right, sum(r[column] for r in mine))
        for column, index in (('call', 1), ('delay', 3)):
            for word, choose in (('min', min), ('max', max)):
                right = choose(x[index] for x in exact) if exact else None
                check.equal('%s %s of the %ss, exactly' % (mode, word, column), right,
                            choose((r['%s_%s' % (column, word)] for r in mine), default=None))
        if number in answer:
            one_launch_stats(check, rank, answer[number], old, exact)


def one_launch_stats(check, rank, row, old, exact):
    for index, word in ((1, 'cpu_duration'), (2, 'gpu_duration'), (3, 'launch_delay')):
        values = [x[index] for x in old]
        check.equal('%s sum as HTA counts' % word, row[word]['sum'], sum(values))
        if values:
            described(check, word + ' as HTA counts:', row[word], ('count',) + SEVEN, values, 1e-6)
        else:
            check.equal('%s count as HTA counts' % word, row[word]['count'], 0)
    for word, right in (('short_kernels(cpu<=50 and gpu<cpu)', sum(x[1] <= 50 and x[2] < x[1] for x in old)),
                        ('runtime_outliers(cpu>50)', sum(x[1] > 50 for x in old)),
                        ('launch_delay_outliers(>100)', sum(x[3] > 100 for x in old)),
                        ('rows_without_memory_events', sum(x[4] for x in old))):
        check.equal('%s as HTA counts' % word, row[word], right)
    first = sorted(old)[:10]
    check.equal('first launches as HTA counts', [(x['correlation'], x['cpu_duration'], x['gpu_duration'],
                                                  x['launch_delay']) for x in row['first10_by_correlation']],
                [x[:4] for x in first])
    if len(old) != len(exact):
        check.leave('launch_names', 31)
    elif rank.fractional:
        check.leave('rounding', 31)


def op_launches(check, ranks, mode, answer):
    """HTA's rows from its own rows, as it counts; ours from all of the trace, exactly."""
    if 'hta_error' in answer:
        check.leave('crash')
        return
    rank = ranks[sorted(ranks)[0]]
    old, exact = hta_streams.op_launches(rank.kept(mode)[0], False), hta_streams.op_launches(rank.rows, True)
    check.equal('operators and works as HTA counts', answer['rows'], len(old))
    check.equal('calls as HTA counts', answer['sum_occurrence'], sum(map(len, old.values())))
    listed = [(row['aten_op_name'], row['kernel_sequence']) for row in answer['top10']]
    check.equal('how many of them HTA lists', len(listed), min(10, len(old)))
    check.equal('each of them once', len(set(listed)), len(listed))
    for row in answer['top10']:
        values = old.get((row['aten_op_name'], row['kernel_sequence']), [])
        check.equal('%s: calls as HTA counts' % row['aten_op_name'], row['occurrence_count'], len(values))
        for column, index in (('avg_aten_op_launch_delay', 0), ('avg_runtime_delay', 1)):
            mean = sum(v[index] for v in values) / max(1, len(values))
            check.equal('%s: %s as HTA counts' % (row['aten_op_name'], column), True, abs(row[column] - mean) <= 5.01e-4)
    mine = {(r['op'], r['kernels']): r for r in rank.asked(('op_launches', rank.path), op_rows, rank)}
    check.equal('operators and works, exactly', len(exact), len(mine))
    for key, values in exact.items():
        if key not in mine:
            check.fail('%s is not among ours' % (key[0],))
            continue
        check.equal('%s: calls, exactly' % key[0], len(values), mine[key]['count'])
        for column, index in (('op_delay', 0), ('launch_delay', 1)):
            mean = sum(v[index] for v in values) / len(values)
            check.equal('%s: %s, exactly' % (key[0], column), True, abs(mine[key][column] - mean) <= 1)


def op_rows(rank):
    return rows(ask('idle', rank.path), 'op_launches')


def memory_bw(check, ranks, mode, answer):
    for number, rank in ranks.items():
        kept = rank.kept(mode)[0]
        (old, count), (exact, _) = (hta_streams.bandwidths(kept, e) for e in (False, True))
        mine = {r['name']: r for r in rank.streams(mode)['copies']}
        check.equal('%s kinds of copies, exactly' % mode, sorted(exact), sorted(mine))
        for kind, values in exact.items():
            if kind in mine:
                ours_described(check, '%s bandwidth of %s' % (mode, kind), mine[kind], values, 1e-3)
        check.equal('changes of the bandwidth as HTA counts', (answer['series_points'] or {}).get(number, 0), count)
        check.equal('kinds of copies', sorted(r['name'] for r in answer['summary'] or [] if str(r['rank']) == number),
                    sorted(old))
        for row in answer['summary'] or []:
            if str(row['rank']) != number:
                continue
            values, columns = old.get(row['name'], []), ['memory_bw_gbps_' + c for c in ('count',) + SEVEN]
            check.leave('bandwidth', 8)
            if not hta_streams.touch(kept, row['name']) or row[columns[0]] == len(values):
                described(check, 'bandwidth of %s as HTA counts:' % row['name'], row, columns, values, 5.01e-7)
            else:
                check.leave('ties', 8)
                between(check, 'moments of %s' % row['name'], row[columns[0]], len(values), 2 * row[columns[0]])


ON_DEVICE = ('device', 'copy', 'communication')
WAITS = re.compile(r'(cuda|hip)(Device|Stream|Event)Synchronize|(cuda|hip)Memcpy$')


def path_work(check, ranks, _, answer):
    """Device work on HTA's path is on ours, or a look at the rows says why it did not decide."""
    rank = ranks[sorted(ranks)[0]]
    for case in answer:
        if not case.get('critical_event_indices') or case.get('rank') not in (None, int(sorted(ranks)[0])):
            continue
        some = [rank.events[i] for i in case['critical_event_indices'] if rank.events[i].get('cat') in hta_rows.DEVICE]
        some = sorted((hta_rows.Row(e, rank.fractional) for e in some), key=lambda r: r.start)
        pieces = rank.asked(('path', rank.path), path_rows, rank)
        ours = {(p['name'], p['start']) for p in pieces if p['kind'] in ON_DEVICE}
        bounds(check, case, some, pieces)
        for row, after in zip(some, some[1:] + [None]):
            if (row.name, row.start) in ours:
                check.equal('%s on the path' % row.name[:60], True, True)
            elif not waited_for(rank, some[-1]):
                check.leave('nobody_waits')
            elif after is not None and launched_after(rank, after, row.end):
                check.leave('late_launch')
            else:
                check.fail('%s at %d is on the path of HTA, not on ours' % (row.name[:60], row.start))


def path_rows(rank):
    """Pieces of the program's path, in time of the file."""
    zero = min(reference.nanoseconds(e['ts']) for e in rank.events if 'ts' in e and e.get('ph') != 'M')
    return [dict(r, start=r['start'] + zero) for r in rows(ask('critical', rank.path), 'path')]


def bounds(check, case, some, pieces):
    """HTA's time by what bounds the path, of device work, of gaps between tasks and of launches, where the same tasks
    are on ours; what it says of the host leaves Python and waiting out."""
    theirs = case['time_by_bound']
    check.leave('critical_path', 'cpu_bound' in theirs)
    if not some or not all(any(p['start'] == r.start and p['kind'] in ON_DEVICE for p in pieces) for r in some):
        check.leave('other_path', sum(1 for k in theirs if k.startswith('gpu_')))
        return
    starts, ends, slack = {r.start for r in some}, {r.end for r in some}, 2000 * len(some) * rank_is_fractional(some)
    work = [p['duration'] for p in pieces if p['kind'] in ON_DEVICE and p['start'] in starts]
    gaps = [p['duration'] for p in pieces if p['kind'] == 'queue' and p['start'] in ends
            and p['start'] + p['duration'] in starts]
    launches = [p['duration'] for p in pieces if p['kind'] == 'launch_latency' and p['start'] + p['duration'] in starts]
    named = {name: 1000 * theirs.get('gpu_' + name, 0) for name in
             ('compute_bound', 'communication_bound', 'kernel_kernel_overhead', 'kernel_launch_overhead')}
    check.equal('device work on the path', named['compute_bound'] + named['communication_bound'], sum(work), slack)
    check.equal('launches on the path', named['kernel_launch_overhead'], sum(launches), slack)
    # An edge for a wait of a stream weighs nothing, where ours has the gap that it stands for.
    waits = sorted(gaps)[len(gaps) - case['critical_edges_by_type'].get('SYNC_DEPENDENCY', 0):]
    more = sum(gaps) - named['kernel_kernel_overhead']
    check.equal('gaps between works on the path (%d more, waits %s)' % (more, waits), True,
                -slack <= more <= sum(waits) + slack)


def rank_is_fractional(some):
    """Does HTA round the times of these works?"""
    return any(r.start % 1000 or r.end % 1000 for r in some)


def waited_for(rank, work):
    """Was a waiting call active when the work ended, or nothing at all after it?"""
    calls = [r for r in rank.rows if r.cat in hta_streams.CALLS]
    return any(WAITS.match(r.name) and r.start < work.end <= r.end for r in calls) or all(r.end <= work.end for r in calls)


def launched_after(rank, work, time):
    call = hta_streams.calls_of(rank.rows).get(work.correlation)
    return call is not None and call.start >= time


PARTLY = {'critical_path': path_work}

QUESTIONS = {
    'idle_time_breakdown': idle_time_breakdown, 'queue_length': queue_length, 'launch_stats': launch_stats,
    'blocked_on_full_queue_1024': full_queue(1024), 'blocked_on_full_queue_8': full_queue(8),
    'memory_bw': memory_bw, 'aten_op_kernels_and_delay': op_launches,
    'parse': parse, 'profiler_steps': profiler_steps, 'temporal_breakdown': temporal_breakdown,
    'kernel_breakdown': kernel_breakdown, 'comm_comp_overlap': comm_comp_overlap,
    'user_annotation_breakdown_cpu': user_annotations('user_annotation'),
    'user_annotation_breakdown_gpu': user_annotations('gpu_user_annotation'),
    'kernels_with_user_annotations': kernels_with_annotations, 'potential_stragglers': stragglers,
}


class Ranks(dict):
    """{rank: Rank}; `old` when the answers are of release 0.5.0, which knew fewer names."""

    old = False


def find(input_path, name):
    """A trace of the answers, relative to INPUT; None when it is not kept."""
    for base in (input_path, DATA):
        for path in (os.path.join(base, name), os.path.join(base, name + '.gz')):
            if os.path.exists(path):
                return path
    return None


class File:
    """The answers of one file, question by question: titles are mode/question, or what a special file has."""

    ignored = ()

    def __init__(self, tally, path, source):
        self.tally, self.path, self.source = tally, path, source
        self.check, self.answers = Check(tally, title_of(path)), read_answers(path)
        self.ranks = None
        self.kind = self.kind_of()
        self.parts = [(title, {'answer': answer}) for title, answer in getattr(self, 'parts_of_' + self.kind)()]

    def kind_of(self):
        if 'traces' in self.answers and 'what' in self.answers:
            return 'exact'
        if 'names' in self.answers:
            return 'names'
        if 'trace' in self.answers:
            return 'trace'
        if any(key.startswith('trace_') for key in self.answers):
            return 'diff'
        return 'other'

    def parts_of_exact(self):
        return [('%s/%s/%s' % (name, mode, number), sets) for name, modes in self.answers['traces'].items()
                for mode, by_rank in modes.items() for number, sets in by_rank.items()]

    def parts_of_names(self):
        # Each name is a separate question.
        return [('names', {one['name']: one for one in self.answers['names']})]

    def parts_of_diff(self):
        return [(key, answer) for key, answer in self.answers.items() if key.startswith('trace_')]

    def parts_of_other(self):
        return [('all', self.answers)]

    def parts_of_trace(self):
        found = []
        for key, value in self.answers.items():
            if key in MODES:
                found += [('%s/%s' % (key, name), answer) for name, answer in value.items() if name not in HEAD]
            elif key not in HEAD:
                found.append(('default/' + key, value))
        return found

    def state(self, index):
        title = self.parts[index][0]
        name = title.split('/')[-1]
        if self.check.label in NOT_KEPT or title.split('/')[0] in NOT_KEPT:
            return 'not kept'
        return 'not yet' if self.kind == 'trace' and later(name) else None

    def one(self, index):
        try:
            getattr(self, 'one_' + self.kind)(*self.parts[index])
        except PROBLEMS as problem:
            self.check.fail('%s: no answer: %s: %s' % (self.parts[index][0], type(problem).__name__, problem))

    def one_exact(self, title, part):
        name, mode, number = title.split('/')
        ranks = load(read_answers(os.path.join(os.path.dirname(self.path), name + '.json'))['trace'], self.source)
        if ranks is None:
            not_kept(self.check, name, part['answer'])
            return
        exact_rows(self.check, '%s %s rank %s' % (name, mode, number), ranks[number],
                   mode if mode == 'default' else MODES[1], part['answer'])

    def one_names(self, _, part):
        kernel_names(self.check, list(part['answer'].values()))

    def one_diff(self, title, part):
        trace_diff(self.check, title, part['answer'], self.source)

    def one_other(self, _, part):
        if find(self.source, self.answers.get('file', '?')) is None:
            not_kept(self.check, self.check.label, part['answer'])
        else:
            self.check.fail('there is no way to ask this')

    def one_trace(self, title, part):
        mode, name = title.split('/')
        if self.ranks is None:
            self.ranks = load(self.answers['trace'], self.source)
            if self.ranks is not None:
                self.ranks.old = '0.5.0' in self.answers['hta'] or self.answers['hta'].startswith('0.5')
                if not remembers():
                    whole_traces(self.check, self.ranks)
        if self.ranks is None:
            not_kept(self.check, self.check.label, part['answer'])
        elif later(name):
            if name in PARTLY:
                PARTLY[name](self.check, self.ranks, mode, part['answer'])
            self.check.leave(later(name), figures(part['answer']))
        elif name not in QUESTIONS:
            self.check.fail('there is no way to ask %s' % name)
        else:
            QUESTIONS[name](self.check, self.ranks, mode, part['answer'])

    def end(self):
        self.check.end()


MODES = ('default', 'include_last_profiler_step')
PROBLEMS = (Refused, KeyError, ValueError, IndexError, TypeError, AttributeError, StopIteration, OSError)
# Traces that the answers are about and that are not stored (data/hta/oracle/README.md); any other must be there.
NOT_KEPT = {'memory_timeline', 'trace_compare_iter_1010', 'rank_non_gpu'}


def later(name):
    return next((word for word in NOT_YET if name.startswith(word)), None)


def not_kept(check, name, answer):
    if name in NOT_KEPT:
        check.leave('not_kept', figures(answer))
    else:
        check.fail('%s: the trace is not there' % name)


def recorded():
    """(answers, input); the exact figures are about all of the others' traces, so they come last."""
    found = samples('hta/oracle/*.json', 'hta/oracle/*.json.gz', 'hta/oracle_h200/*.json', 'hta/oracle_h200/*.json.gz')
    return [(path, os.path.join(DATA, '.')) for path in sorted(found, key=lambda p: 'exact_ns' in p)]


def compare(tally, answers_path, input_path):
    file = File(tally, answers_path, input_path)
    for index in range(len(file.parts)):
        file.one(index)
    file.end()


def load(trace, input_path):
    """{rank: Rank}, or None when a file is not kept."""
    ranks = Ranks()
    for number, name in trace.items():
        path = find(input_path, name)
        if path is None:
            return None
        ranks[number] = loaded(path)
    return ranks


@functools.lru_cache(4)
def loaded(path):
    return Rank(path)


def whole_traces(check, ranks):
    """The step tables of the whole trace, undoctored, against the reference."""
    for rank in ranks.values():
        if 'whole' in rank.memo:
            continue
        rank.memo['whole'] = True
        for mode in ('default', 'include_last_profiler_step'):      # for the exact figures, asked for later
            rank.names(mode)
            rank.unions(mode)
        first, before = min(s.start for s in rank.trace.slices), None
        found = rows(ask('steps', rank.path), 'steps')
        hosts = None
        if found and not list(rank.trace.steps()):
            # HTA has no answer; what the found steps hold is counted all the same.
            check.leave('found_steps')
            hosts = [(r['step'], r['start'] + first, r['end'] + first) for r in found]
            check.equal('found steps lie one behind the other', True,
                        all(a[1] < a[2] <= b[1] for a, b in zip(hosts, hosts[1:])))
        kept = ref_steps.steps(rank.trace, hosts)[0]
        right = {step.number: row for step, row in ref_steps.breakdown(rank.trace, kept)}
        got = {r['step']: r for r in rows(ask('overview', rank.path), 'steps')}
        check.equal('steps, reference', sorted(right), sorted(got))
        for step, row in right.items():
            check.equal('step %d, reference' % step, row, {c: got[step][c] or 0 for c in row})
        host = [(n, s - first, s - first + d, d) for n, s, d in sorted(rank.trace.steps(), key=lambda r: r[1])]
        for (number, start, end, dur), mine in zip(host, rows(ask('steps', rank.path), 'steps')):
            check.equal('host interval of step %d' % number, (number, start, end, dur, start - before if before else 0),
                        (mine['step'], mine['start'], mine['end'], mine['duration'], mine['gap'] or 0))
            before = end


def exact_rows(check, what, rank, mode, sets):
    """Exact figures in nanoseconds, recomputed from the same rows without HTA."""
    right = sets['device_activity_only']
    rows_of_hta(check, what, rank, mode, sets['hta_row_set'])
    if right is None:
        check.equal('%s device rows' % what, 0, len(rank.names(mode)))
    else:
        one_exact(check, what, rank, mode, right)


def rows_of_hta(check, what, rank, mode, right):
    """The same figures of what HTA takes for rows of the device, by our arithmetic."""
    some = rank.kept(mode)[1]
    if right is None:
        check.equal('%s rows with a stream' % what, 0, len(some))
        return
    c, k, m = (hta_rows.merged(some, name, False, True) for name in hta_rows.CLASSES)
    busy = length(merge((r.start, r.end) for r in some))
    span = max(r.end for r in some) - min(r.start for r in some)
    shared = length(k) - length(minus(k, c))
    sums = dict.fromkeys((*hta_rows.CLASSES, 'OTHER'), 0)
    for row in some:
        sums[hta_rows.kernel_class(row.name)] += row.end - row.start
    for key, value in (('events', len(some)), ('span_ns', span), ('busy_ns', busy), ('idle_ns', span - busy),
                       ('compute_ns', length(c)), ('non_compute_ns', busy - length(c)), ('communication_ns', length(k)),
                       ('memory_ns', length(m)), ('comm_comp_overlap_ns', shared),
                       ('exposed_communication_ns', length(k) - shared), ('sum_dur_ns_by_type', sums)):
        check.equal('%s %s of HTA\'s rows' % (what, key), right[key], value)
    share = 100 * shared / length(k) if length(k) else None
    check.equal(what + ' overlap of HTA\'s rows', right['comm_comp_overlap_pct'], share, slack=.00006)
    check.leave('sync_rows' if len(some) != len(rank.kept(mode)[2]) else 'file', figures(right))


def one_exact(check, what, rank, mode, right):
    whole, u = rank.parts(mode, hta_rows.CLASSES), rank.unions(mode)
    shared = u['C'] + u['K'] - u['CK']
    names = rank.names(mode)
    sums = {c: 0 for c in (*hta_rows.CLASSES, 'OTHER')}
    for name, row in names.items():
        sums[hta_rows.kernel_class(name)] += row['total']
    for key, mine in (
            ('events', sum(r['calls'] for r in names.values())), ('span_ns', whole['total']), ('busy_ns', u['CKM']),
            ('idle_ns', whole['other']), ('compute_ns', u['C']), ('non_compute_ns', u['CKM'] - u['C']),
            ('communication_ns', u['K']), ('memory_ns', u['M']), ('comm_comp_overlap_ns', shared),
            ('exposed_communication_ns', u['K'] - shared), ('sum_dur_ns_by_type', sums)):
        check.equal('%s %s' % (what, key), right[key], mine)
    share = 100 * shared / u['K'] if u['K'] else None
    check.equal(what + ' overlap', right['comm_comp_overlap_pct'], share, slack=.00006)


def kernel_names(check, names):
    """Which names are communication to the program, each a separate kernel in a synthetic trace."""
    events = [{'ph': 'X', 'cat': 'kernel', 'name': n['name'], 'pid': 0, 'tid': 7, 'ts': 10 * i, 'dur': 1,
               'args': {'device': 0, 'stream': 7, 'correlation': i}} for i, n in enumerate(names)]
    path = scratch('kernel_names_of_all.json')
    with open(path, 'w', encoding='utf-8') as file:
        json.dump({'traceEvents': events}, file)
    found = {r['name'] for r in rows(ask('distributed', path), 'collectives')}
    for one in names:
        name, kind = one['name'], one['kernel_type']
        check.equal('class of %s as HTA has it' % name[:60], kind, hta_rows.kernel_class(name))
        check.equal('short name of %s' % name[:60], one['short_name'], hta_rows.short_name(name))
        if kind == 'OTHER' or name.startswith('hip'):
            check.leave('class')
        else:
            check.equal('%s is communication' % name[:60], kind == 'COMMUNICATION', name in found)
    check.leave('short_name', len(names))


def trace_diff(check, key, answer, input_path):
    """Counts and times by name of one step of two traces, on the host and on the device."""
    sides = {}
    for side in ('control', 'test'):
        path = find(input_path, 'hta/%s/%s/%s.json.gz' % (key, side, side))
        if path is not None:
            sides[side] = step_slices(path, answer['%s_iteration_used' % side])
    if len(sides) != 2:
        not_kept(check, key, answer)
        return
    for side in ('control', 'test'):
        path = find(input_path, 'hta/%s/%s/%s.json.gz' % (key, side, side))
        steps = [r['step'] for r in rows(ask('steps', path), 'steps')]
        check.equal(side + ' steps', sorted(answer[side + '_iterations']), sorted(steps))
        info = {r['key']: r['value'] for r in rows(ask('info', path), 'trace')}
        check.equal(side + ' rank', answer[side + '_ranks'], [int(info['rank'])] if info.get('rank') else [0])
    for device in ('CPU', 'GPU', 'ALL'):
        for short in (False, True):
            one_diff(check, answer, device, short, sides)


@functools.lru_cache(8)
def step_slices(path, step):
    """{CPU or GPU: {name: [calls, ns]}} of a step, from the program's CSV export."""
    reader = exported(path)
    found = {'CPU': defaultdict(lambda: [0, 0]), 'GPU': defaultdict(lambda: [0, 0])}
    head = next(reader)
    name, cat, dur, at = (head.index(c) for c in ('name', 'category', 'duration_ns', 'step'))
    for row in reader:
        if row[at] == str(step) and row[cat] != 'Trace':
            side = found['GPU' if row[cat] in hta_rows.DEVICE else 'CPU'][row[name]]
            side[0] += 1
            side[1] += int(row[dur])
    return found


def one_diff(check, answer, device, short, sides):
    tables = {}
    for side, found in sides.items():
        table = tables[side] = defaultdict(lambda: [0, 0])
        for part in ('CPU', 'GPU') if device == 'ALL' else (device,):
            for name, (calls, ns) in found[part].items():
                row = table[hta_rows.short_name(name) if short else name]
                row[0], row[1] = row[0] + calls, row[1] + ns
    recorded = answer[device + ('_short' if short else '')]
    what = 'diff of %s%s' % (device, ' by short name' if short else '')
    names = set(tables['control']) | set(tables['test'])
    change = {n: tables['test'][n][0] - tables['control'][n][0] for n in names}
    check.equal(what + ' rows', recorded['rows'], len(names))
    for side in ('control', 'test'):
        check.equal('%s calls of %s' % (what, side), recorded['sum_%s_counts' % side],
                    sum(r[0] for r in tables[side].values()))
        check.equal('%s time of %s' % (what, side), recorded['sum_%s_duration' % side],
                    sum(r[1] for r in tables[side].values()) / 1000)
    signs = {'+': sum(c > 0 for c in change.values()), '-': sum(c < 0 for c in change.values()),
             '=': sum(c == 0 for c in change.values())}
    check.equal(what + ' changes', recorded['counts_change_categories'], {k: v for k, v in signs.items() if v})
    top = recorded['top20_by_abs_diff_duration']
    longer = {n: tables['test'][n][1] - tables['control'][n][1] for n in names}
    least = sorted(map(abs, longer.values()), reverse=True)[:20][-1]
    check.equal(what + ' largest changes', min(20, len(names)), len({r['short_name' if short else 'name'] for r in top}))
    check.equal(what + ' rows of them', min(20, len(names)), len(top))
    for row in top:
        name = row['short_name' if short else 'name']
        check.equal('%s %s is among them' % (what, name[:60]), True, abs(longer.get(name, 0)) >= least)
        check.equal('%s change of %s' % (what, name[:60]), [row['diff_counts'], row['diff_duration']],
                    [change.get(name), longer.get(name, 0) / 1000])
        mine = (tables['control'][name], tables['test'][name])
        check.equal('%s %s' % (what, name[:60]), [[row['%s_counts' % s], row['%s_total_duration' % s]]
                                                  for s in ('control', 'test')],
                    [[r[0], r[1] / 1000] for r in mine])
    if not short:
        sorts = {'added': [n for n in names if not tables['control'][n][0]],
                 'deleted': [n for n in names if not tables['test'][n][0]]}
        rest = names - set(sorts['added']) - set(sorts['deleted'])
        sorts.update(increased=[n for n in rest if change[n] > 0], decreased=[n for n in rest if change[n] < 0],
                     unchanged=[n for n in rest if change[n] == 0])
        check.equal(what + ' kinds of change', answer[device + '_ops_diff_counts'],
                    {k: len(v) for k, v in sorts.items()})
        for kind, some in sorts.items():
            text = json.dumps(sorted(some))
            check.equal('%s %s' % (what, kind), answer[device + '_ops_diff_sha16'][kind],
                        hashlib.sha256(text.encode()).hexdigest()[:16])
