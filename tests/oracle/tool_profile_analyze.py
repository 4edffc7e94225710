"""MegEngine's profile_analyze: every recorded command line, asked of `tacho top` and compared line by line.

An answer file holds `$ profile_analyze FILE options`, what the program printed, and a blank line before the next.
tacho prints the same layout, so lines are compared as they are, except:

  what the original prints              why it is not compared, or how
  EXCEPTION …                           the original crashed: tacho must end well with tables (TABLES below says where a
                                        complaint is the better answer), and what was printed before must be the same
  -h                                    the words of its help are its own: tacho must print help
  totals with --copy-time               printed in full, which shows the order in which it adds floating-point numbers:
                                        compared to 12 digits
"""

import gzip
import os
import re
import shlex

from common import DATA, call, samples

# An option of the original that does not exist here: the complaint must name those that do.
COMPLAINTS = {'--order-by nosuch': (1, 'computation')}
TOTAL = re.compile(r'^(\| )?(total (?:device|host) time) +(\| +)?([-+.0-9e]+)( \|)?$')


def read(path):
    opener = gzip.open if path.endswith('.gz') else open
    with opener(path, 'rt', encoding='utf-8') as file:
        text = file.read()
    asked = []
    for block in re.split(r'^\$ profile_analyze ', text, flags=re.M)[1:]:
        command, _, answer = block.partition('\n')
        asked.append((shlex.split(command), answer.rstrip('\n').split('\n')))
    return asked


def is_rule(line):
    return bool(line) and not line.strip('- ')


def near(want, got):
    """Equal lines, or totals that are equal to 12 digits."""
    if want == got or (is_rule(want) and is_rule(got)):
        return True
    a, b = TOTAL.match(want), TOTAL.match(got)
    return bool(a and b) and a[2] == b[2] and abs(float(a[4]) - float(b[4])) <= 1e-12 * abs(float(a[4]))


def compare_lines(tally, label, want, got):
    if len(want) != len(got):
        tally.fail('%s: expected %d lines, got %d' % (label, len(want), len(got)))
        return
    for number, (a, b) in enumerate(zip(want, got)):
        if not near(a.rstrip(), b.rstrip()):
            tally.fail('%s, line %d: expected %s, got %s' % (label, number + 1, a, b))
            return
    tally.passed += 1


class File:
    """The recorded command lines of one file; an answer is a list of lines."""

    ignored = ()

    def __init__(self, tally, path, source):
        self.tally, self.source, self.name = tally, source, os.path.basename(path).split('.')[0]
        asked = read(path)
        self.words = [words for words, _ in asked]
        self.parts = [(' '.join(words), {'lines': lines}) for words, lines in asked]

    def state(self, index):
        """The words of its help are its own."""
        return 'of its help' if {'-h', '--help'} & set(self.words[index]) else None

    def crashed(self, index):
        """Did the original crash?  Then there is no answer that ours could be compared with."""
        return any(line.startswith('EXCEPTION ') for line in self.parts[index][1]['lines'])

    def one(self, index):
        title, answer = self.parts[index]
        compare_one(self.tally, '%s %s' % (self.name, title), self.source, self.words[index], answer['lines'])

    def end(self):
        pass


def recorded():
    home = os.path.join(DATA, 'megengine')
    return [(path, home) for path in samples('megengine/oracle/profile_analyze_outputs.txt*')] \
        + [(path, os.path.join(home, 'real')) for path in samples('megengine/real/oracle/*.profile_analyze.txt*')]


def compare_one(tally, label, source, words, want):
    file, options = os.path.join(source, words[0]), words[1:]
    status, out, err = call(['top', file, '--no-cache'] + options)
    got = out.decode().rstrip('\n').split('\n')
    joined = ' '.join(options)
    if '-h' in options or '--help' in options:
        tally.check(label + ': helps', (0, True), (status, b'--order-by' in out))
        return
    crash = [i for i, line in enumerate(want) if line.startswith('EXCEPTION ')]
    complaint = [c for c in COMPLAINTS if c in joined]
    if crash and complaint:
        wanted, word = COMPLAINTS[complaint[0]]
        tally.check(label + ': complains', (wanted, True), (status, word in err))
    elif crash:
        before = [line for line in want[:crash[0]] if line]
        tally.check(label + ': ends well', (0, ''), (status, err))
        same = len(got) >= len(before) and all(near(a, b) for a, b in zip(before, got))
        tally.check(label + ': says the same before the crash, and more', (True, True),
                    (same, len(got) > len(before)))
    else:
        tally.check(label + ': status', 0, status)
        compare_lines(tally, label, want, got)


def compare(tally, path, source):
    if not os.path.exists(path) and os.path.exists(path + '.gz'):
        path += '.gz'
    file = File(tally, path, source)
    if not file.parts:
        tally.fail('%s holds no command line of profile_analyze' % path)
    for index in range(len(file.parts)):
        file.one(index)
