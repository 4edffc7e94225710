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
    """[(title, [line, …]), …]; a title is a centred word between dashes that follows an empty line."""
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
    """The numbers of a line behind its name."""
    cells = re.split(r'\s{2,}', line.strip(), maxsplit=1)
    return [float(n) for n in NUMBER.findall(cells[1] if len(cells) > 1 else '')]


class Report:
    """One recorded report and ours, table by table."""

    def __init__(self, tally, label, slack):
        self.tally, self.label, self.slack = tally, label, slack
        self.used = Counter()

    def compare(self, theirs, ours):
        names, mine = [t for t, _ in theirs], [t for t, _ in ours]
        self.tally.check('%s: tables' % self.label, names, mine)
        for (title, recorded), (_, got) in zip(theirs, ours) if names == mine else ():
            recorded, trees = strip_table(recorded)
            got, _ = strip_table(got)
            self.used['flops_tree'] += trees
            self.used['note'] += recorded.count(NOTE)
            self.lines('%s: %s' % (self.label, title), recorded, got)

    def lines(self, label, recorded, got):
        self.tally.check(label + ': lines', len(recorded), len(got))
        left, right = list(recorded), list(got)
        for pair in list(zip(recorded, got)):
            if pair[0] == pair[1]:
                self.tally.passed += 1
                left.remove(pair[0])
                right.remove(pair[1])
        for line in list(left):
            if line in right:  # the same line elsewhere: it must be beside one of equal value
                self.used['tie'] += 1
                self.tally.passed += 1
                left.remove(line)
                right.remove(line)
        for line in left:
            near = [r for r in right if self.near(line, r)]
            if near:
                self.used['float'] += 1
                self.tally.passed += 1
                right.remove(near[0])
            else:
                self.tally.fail('%s: recorded %r' % (label, line))
        for line in right:
            self.tally.fail('%s: ours     %r' % (label, line))

    def near(self, a, b):
        """Only numbers differ, each by no more than the rounding of the file's floats."""
        if masked(a) != masked(b):
            return False
        x, y = figures(a), figures(b)
        return len(x) == len(y) and all(self.slack is not None and abs(p - q) <= bound for (p, q, bound)
                                        in zip(x, y, self.bounds(x, '/ - /' in a)))

    def bounds(self, line_figures, is_rest):
        """What each figure may be off: calls, then total, mean, max, min and ratio, or total and ratio.

        0.01 is the rounding of the two printed figures; the rest is what the ends of the ranges may be off.
        """
        if is_rest:  # Others: what all steps and stages leave
            return [0.0100001 + 100 * self.slack] * len(line_figures)
        one, many = 0.0100001 + 2 * self.slack, 0.0100001 + 2 * self.slack * line_figures[0]
        total = line_figures[1] if len(line_figures) > 1 else 0
        share = 0.0100001 + (200 * self.slack * line_figures[0] / total if total > 0.01 else 100)
        known = [0, many] + [one] * 3 + [share] if len(line_figures) >= 6 else [0, many, share]
        return known + [0.0100001] * (len(line_figures) - len(known))


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
            got = ask(folder, match.group(2), window, options_of(words))
            report = Report(self.tally, label, float_slack(folder, unit))
            report.compare(tables('\n'.join(self.parts[index][1]['lines'])), tables(got))
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
