"""Recorded text reports of Paddle's `Profiler.summary()` against `tacho summary --style paddle`.

ANSWERS is a SUMMARIES.tsv: file, input, window, options.  Every line of every report is compared; where one
differs the cells of both are shown.  What Paddle got wrong, or what a trace file no longer says, is DEFECTS:
a line that differs must be explained by a row of it, in a way that can be checked, or it is a failure.
"""

import functools
import glob
import gzip
import os
import re
from collections import Counter

from common import DATA, call, samples, short

DEFECTS = {
    # id: what and why
    'note': 'the explanatory notes are cut out of the recorded text',
    'flops_tree': 'whether FLOPs were asked for is in no trace, so the tree of layers below the tables is not '
                  'printed; every recorded one is empty or all zero',
    'tie': 'lines of equal value to the printed digits stand in another order',
    'float': 'times in JSON went through 32-bit floats, the report did not: each end of a range may be off by two '
             'half steps of a float at that time, and a sum by that for each call',
}
NOTE = '<explanatory note omitted>'


def options_of(text):
    """`sorted_by=CPUMin thread_sep=True …` as options of the program."""
    out = []
    for word in text.split():
        key, value = word.split('=', 1)
        if key == 'thread_sep':
            out += ['--thread-sep'] if value == 'True' else []
        elif key == 'op_detail':
            out += ['--op-detail', 'yes' if value == 'True' else 'no']
        elif key in ('sorted_by', 'time_unit', 'views'):
            out += ['--' + key.replace('_', '-'), value]
        else:
            raise ValueError('option %s is new' % key)
    return out


def ask(folder, worker, window, options):
    arguments = ['summary', folder, '--run', os.path.basename(folder), '--style', 'paddle', '--no-cache', '--quiet',
                 '--span', window, *options]
    if worker:
        arguments += ['--worker', worker]
    status, out, err = call(arguments)
    if status != 0:
        raise ValueError('exit status %d: %s' % (status, err.strip()[:300]))
    return out.decode('utf-8')


def tables(text):
    """[(title, [line, …]), …]; a title is a centered word between dashes that follows an empty line."""
    found, lines = [], text.split('\n')
    for number, line in enumerate(lines):
        title = re.match(r'^-{3,}([A-Z][A-Za-z]+ Summary( - .*?)?)-{3,}$', line)
        if title:
            found.append((title.group(1), []))
        elif found:
            found[-1][1].append(line.rstrip())
        elif line.strip():
            raise ValueError('line %d stands before the first table' % (number + 1))
    return found


def strip_table(lines):
    """Lines without the note, the empty ones at the end and the FLOPs tree."""
    out, in_tree, trees = [], False, 0
    for line in lines:
        if 'Flops Profiler Begin' in line:
            in_tree, trees = True, trees + 1
        if not in_tree:
            out.append(NOTE if line.startswith('Note: ') else line)
        elif line.strip() and 'Flops Profiler' not in line and not re.search(r'FLOPs: 0(\.0+)?\b|FLOPs: 0', line):
            raise ValueError('a FLOPs tree that is not empty: %s' % line)
        if 'Flops Profiler End' in line:
            in_tree = False
    while out and not out[-1].strip():
        out.pop()
    return out, trees


NUMBER = re.compile(r'-?\d+(?:\.\d+)?')


def masked(line):
    return re.sub(r'\s+', ' ', NUMBER.sub('#', line)).replace('- ', '').strip()


def figures(line):
    """The numbers of a line after its name."""
    cells = re.split(r'\s{2,}', line.strip(), maxsplit=1)
    return [float(n) for n in NUMBER.findall(cells[1] if len(cells) > 1 else '')]


SORTS = {'CPUTotal': 1, 'CPUAvg': 2, 'CPUMax': 3, 'CPUMin': 4, 'GPUTotal': 6, 'GPUAvg': 7, 'GPUMax': 8, 'GPUMin': 9}


def sort_value(line, column):
    """The figure that lines are sorted by, as it is printed; tables with fewer columns are sorted by their total."""
    found = figures(line)
    return found[column] if len(found) > column else found[1] if len(found) > 1 else None


def chain(lines, at):
    """The line with those around it, the outermost first."""
    out, level = [], None
    for line in reversed(lines[:at + 1]):
        indent = len(line) - len(line.lstrip(' '))
        if level is None or indent < level:
            out.insert(0, line)
            level = indent
        if level == 0:
            break
    return out


HALF = 0.0050001    # of the last printed digit


class Report:
    """One recorded report and ours, table by table; `exact` is ours in nanoseconds."""

    def __init__(self, tally, label, slack, unit, sorted_by):
        self.tally, self.label, self.slack = tally, label, slack
        self.scale, self.column = {'s': 1e9, 'ms': 1e6, 'us': 1e3, 'ns': 1.0}[unit], SORTS.get(sorted_by, 1)
        self.used = Counter()

    def compare(self, theirs, ours, exact):
        names, mine = [t for t, _ in theirs], [t for t, _ in ours]
        self.tally.check('%s: tables' % self.label, names, mine)
        for (title, recorded), (_, got), (_, fine) in zip(theirs, ours, exact) if names == mine else ():
            recorded, trees = strip_table(recorded)
            got, fine = strip_table(got)[0], strip_table(fine)[0]
            self.used['flops_tree'] += trees
            self.used['note'] += recorded.count(NOTE)
            self.lines('%s: %s' % (self.label, title), recorded, got, fine)

    def lines(self, label, recorded, got, fine):
        """In their order, both ways; lines of equal value may be exchanged."""
        self.tally.check(label + ': lines', len(recorded), len(got))
        taken = {i for i, pair in enumerate(zip(recorded, got)) if pair[0] == pair[1]}
        self.tally.passed += len(taken)
        free = [j for j in range(len(got)) if j not in taken]
        for i, line in enumerate(recorded):
            if i in taken:
                continue
            found = next((j for j in sorted(free, key=lambda j, i=i: abs(j - i))
                          if self.same(line, got, fine, j) and (i == j or self.tie(got, i, j))), None)
            if found is None:
                self.tally.fail('%s: recorded %r' % (label, line))
                continue
            free.remove(found)
            self.used['tie'] += found != i
            self.used['float'] += line != got[found]
            self.tally.passed += 1
        for j in free:
            self.tally.fail('%s: ours     %r' % (label, got[j]))

    def tie(self, got, i, j):
        """Would our line j be at i if lines of equal value were in another order?"""
        if i >= len(got):
            return False
        for one, other in zip(chain(got, i), chain(got, j)):
            if one != other:
                return sort_value(one, self.column) == sort_value(other, self.column) is not None
        return False

    def same(self, line, got, fine, at):
        """Only numbers differ, each by no more than the rounding of the file's floats."""
        if line == got[at]:
            return True
        if self.slack is None or masked(line) != masked(got[at]):
            return False
        theirs, mine, ns = figures(line), figures(got[at]), figures(fine[at])
        if not len(theirs) == len(mine) == len(ns):
            return False
        # What is left of all steps and stages has no calls; otherwise calls come first.
        rest = '/ - /' in line
        calls, sides = 100 if rest else mine[0], 2 if rest or len(mine) < 6 else 5
        for i in range(0 if rest else 1, len(mine)):
            side, place = divmod(i if rest else i - 1, sides)
            if side >= 2:
                continue    # FLOPs, at the end
            if place == sides - 1:
                value, off = self.ratio(fine, at, i, i - place, mine[i], calls)
            else:
                value, off = ns[i] / self.scale, HALF + 2 * self.slack * (calls if place == 0 else 1) if ns[i] else 0
                if abs(mine[i] - value) > HALF:     # what we print is what we say in nanoseconds
                    return False
            if abs(theirs[i] - value) > off:
                return False
        exact = [0] * (not rest) + list(range(1 + 2 * sides, len(mine)))
        return all(theirs[i] == mine[i] for i in exact)

    def ratio(self, fine, at, column, total, printed, calls):
        """(our ratio, what it may be off).  It is of the line around, of the first one, or of all outer lines: the one of
        them that gives what we print; then it is known better than to the last digit."""
        mine = figures(fine[at])[total]
        if not mine:
            return printed, 0
        values = [(line, figures(line)) for line in fine]
        known = [(line, found[total]) for line, found in values if len(found) > column]
        outer = sum(v for line, v in known if not line.startswith(' '))
        around = [figures(line) for line in chain(fine, at)[:-1]]
        off = printed * 2 * self.slack * calls * self.scale / mine
        for whole in [f[total] for f in around if len(f) > column] + [known[0][1], outer]:
            if whole and abs(100 * mine / whole - printed) <= HALF:
                return 100 * mine / whole, HALF + off
        return printed, 2 * HALF + off


@functools.lru_cache(None)
def float_slack(folder, unit):
    """How far one end of a range may be off, in the unit of the report; None when all of them are exact.

    A time that ends t ns after the zero was rounded twice to 24 bits; below 16.384 ms nothing is lost.
    """
    longest = 0
    for name in glob.glob(os.path.join(folder, '*.json')):
        with open(name, 'rb') as file:
            for match in re.finditer(rb'"end_time": "(\d+)\.', file.read()):
                if len(match.group(1)) < 15:
                    longest = max(longest, int(match.group(1)) * 1000)
    scale = {'s': 1e9, 'ms': 1e6, 'us': 1e3, 'ns': 1.0}[unit]
    return None if longest < 16384000 else 2.0 ** (longest.bit_length() - 24) / scale


class File:
    """The reports that a SUMMARIES.tsv lists; an answer is a list of lines."""

    ignored = ()

    def __init__(self, tally, path, source):
        self.tally, self.path, self.source, self.used = tally, path, source, Counter()
        with open(path, encoding='utf-8') as file:
            self.rows = [line.rstrip('\n').split('\t') for line in file][1:]
        self.parts = [(row[0], {'lines': read_report(os.path.join(os.path.dirname(path), row[0])).split('\n')})
                      for row in self.rows]

    def state(self, _):
        return None

    def one(self, index):
        name, source, window, *options = self.rows[index]
        match = re.match(r'^(\S+)(?: \(worker (\S+)\))?$', source)
        folder = os.path.join(self.source, match.group(1))
        label = '%s: %s' % (short(self.path), name)
        words = options[0] if options else ''
        unit = dict(w.split('=', 1) for w in words.split()).get('time_unit', 'ms')
        try:
            choice = dict(w.split('=', 1) for w in words.split())
            got = ask(folder, match.group(2), window, options_of(words))
            exact = ask(folder, match.group(2), window, options_of(
                ' '.join('%s=%s' % pair for pair in {**choice, 'time_unit': 'ns'}.items())))
            report = Report(self.tally, label, float_slack(folder, unit), unit, choice.get('sorted_by'))
            report.compare(tables('\n'.join(self.parts[index][1]['lines'])), tables(got), tables(exact))
            self.used += report.used
        except (ValueError, OSError) as problem:
            self.tally.fail('%s: %s' % (label, problem))

    def end(self):
        for key, count in sorted(self.used.items()):
            if count:
                self.tally.skip('%s: %d: %s' % (key, count, DEFECTS[key]), 0 if key in ('tie', 'float') else count)


def read_report(path):
    if not os.path.exists(path) and os.path.exists(path + '.gz'):
        path += '.gz'
    with gzip.open(path, 'rt', encoding='utf-8') if path.endswith('.gz') else open(path, encoding='utf-8') as file:
        return file.read()


def recorded():
    return [(path, DATA) for path in samples('paddle/**/SUMMARIES.tsv')]


def compare(tally, answers_path, input_path):
    file = File(tally, answers_path, input_path)
    if not file.parts:
        tally.fail('%s lists no report' % short(answers_path))
    for index in range(len(file.parts)):
        file.one(index)
    file.end()
