"""What every oracle test needs: asking the program, finding the data, counting the results."""

import gc
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.environ.get('TACHO_DATA') or os.path.join(ROOT, '..', 'shared', 'data')
TACHO = os.environ.get('TACHO') or os.path.join(ROOT, 'build', 'tacho')


# These scripts build millions of objects and end: looking for circles among them took a fifth of their time.
gc.disable()


class Refused(Exception):
    """The program ended with another status than 0."""

    def __init__(self, status, stderr):
        super().__init__('exit status %d: %s' % (status, stderr.strip()[:300]))
        self.status, self.stderr = status, stderr


class Tally:
    """Counts checks and prints what differs; `end` prints the closing line of a test script."""

    def __init__(self, most_lines=60):
        self.passed = self.failed = self.skipped = 0
        self.most_lines = most_lines

    def check(self, label, expected, got, slack=0):
        """One number or text; slack is the largest difference still called equal."""
        near = isinstance(expected, (int, float)) and isinstance(got, (int, float)) \
            and abs(expected - got) <= slack
        if expected == got or near:
            self.passed += 1
            return True
        self.fail('%s: expected %s, got %s' % (label, show(expected), show(got)))
        return False

    def fail(self, sentence):
        self.failed += 1
        if self.failed <= self.most_lines:
            print('FAIL ' + sentence)
        elif self.failed == self.most_lines + 1:
            print('FAIL … more of these')

    def skip(self, sentence, count=1):
        self.skipped += count
        print('skip ' + sentence)

    def need_some(self, what):
        """A comparison of nothing is a mistake: the input is wrong, or empty."""
        if not self.passed and not self.failed:
            self.fail('%s: nothing was compared: is the input the one the answers are about?' % what)

    def end(self):
        print('%d passed, %d failed, %d skipped' % (self.passed, self.failed, self.skipped))
        sys.stdout.flush()
        sys.exit(1 if self.failed else 0)


def show(value):
    text = repr(value)
    return text if len(text) <= 160 else text[:157] + '…'


class Memory:
    """What the program answered, when the same questions are asked many times (mutate): every command line is run
    once. `used` and `columns` say what a comparison looked at; `change` may put a fault into an answer."""

    def __init__(self):
        self.calls, self.answers, self.used, self.columns = {}, {}, {}, set()
        self.change = None


_memory = None


def remember():
    """From now on the program is run once for each command line: inputs must not change under one name."""
    global _memory
    _memory = Memory()
    return _memory


def remembers():
    return _memory is not None


def call(arguments, stdin=None):
    """Runs the program; (status, stdout, stderr) as bytes, bytes decoded for stderr."""
    key = tuple(arguments)
    if _memory is None or stdin is not None:
        return run_program(arguments, stdin)
    if key not in _memory.calls:
        _memory.calls[key] = run_program(arguments, None)
    _memory.used.setdefault(key, None)
    done = _memory.calls[key]
    return _memory.change(key, done) if _memory.change else done


def run_program(arguments, stdin):
    done = subprocess.run([TACHO] + arguments, input=stdin, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode('utf-8', 'replace')


def ask(analysis, path, *options, stdin=None):
    """The JSON answer of an analysis, always freshly read from the input."""
    key = (analysis, path, '--json', '--no-cache', *options)
    if _memory is not None and stdin is None and key in _memory.answers:
        _memory.used[key] = _memory.answers[key]
        return _memory.answers[key]
    status, out, err = call(list(key), stdin)
    if status != 0:
        raise Refused(status, err)
    answer = json.loads(out)
    if _memory is not None and stdin is None:
        _memory.answers[key] = _memory.used[key] = answer
    return answer


class Row(dict):
    """A row of an answer that notes which of its columns are looked at."""

    __slots__ = ('source',)

    def __getitem__(self, column):
        _memory.columns.add((id(self.source), column))
        return dict.__getitem__(self, column)

    def get(self, column, default=None):
        _memory.columns.add((id(self.source), column))
        return dict.get(self, column, default)


def rows(answer, table):
    """The rows of a table as dictionaries."""
    part = answer['tables'][table]
    names = [c['name'] for c in part['columns']]
    if _memory is None:
        return [dict(zip(names, row)) for row in part['rows']]
    found = []
    for row in part['rows']:
        found.append(Row(zip(names, row)))
        found[-1].source = row
    return found


def read_answers(path):
    """Recorded answers, as they are or compressed: X.json also when only X.json.gz is kept."""
    if not os.path.exists(path) and os.path.exists(path + '.gz'):
        path += '.gz'
    with gzip.open(path, 'rt', encoding='utf-8') if path.endswith('.gz') else open(path, encoding='utf-8') as file:
        return json.load(file)


def title_of(path):
    """The name of a file of answers, without .json and .gz."""
    return os.path.basename(path).removesuffix('.gz').removesuffix('.json')


def figures(data):
    """How many numbers an answer holds."""
    if isinstance(data, dict):
        return sum(figures(v) for v in data.values())
    if isinstance(data, list):
        return sum(figures(v) for v in data)
    return int(isinstance(data, (int, float)) and not isinstance(data, bool))


def dropped(answer):
    """quality.events_dropped as {cause: count}."""
    return {d['cause']: d['count'] for d in answer['quality'].get('events_dropped', [])}


def mean(total, calls):
    """Means are rounded to the nearest; exactly half may go either way."""
    low, rest = divmod(total, calls)
    return {low} if 2 * rest < calls else {low + 1} if 2 * rest > calls else {low, low + 1}


def samples(*patterns):
    """Paths of the data directory, sorted; empty when the data is absent."""
    found = []
    for pattern in patterns:
        found += glob.glob(os.path.join(DATA, pattern), recursive=True)
    return sorted(found)


def short(path):
    return os.path.relpath(path, DATA) if path.startswith(DATA) else os.path.basename(path)


def need_program(tally):
    """Without the program there is nothing to test: one failure, said aloud."""
    if not os.access(TACHO, os.X_OK):
        tally.fail('%s is not built' % os.path.relpath(TACHO, ROOT))
        tally.end()


_folder = tempfile.TemporaryDirectory(prefix='tacho-oracle-')


def scratch(name):
    """A path in a folder that is gone when the script ends."""
    return os.path.join(_folder.name, name)


def gentrace_program():
    """The generator: $GENTRACE, what the Makefile built, or built here."""
    for path in (os.environ.get('GENTRACE'), os.path.join(ROOT, 'build/release/tools/gentrace'),
                 os.path.join(ROOT, 'build/tools/gentrace'), scratch('gentrace')):
        if path and os.access(path, os.X_OK):
            return path
    subprocess.run([os.environ.get('CC', 'cc'), '-O2', '-std=gnu11', '-funsigned-char', '-o',
                    scratch('gentrace'), os.path.join(ROOT, 'tools/gentrace.c'),
                    os.path.join(ROOT, 'tools/gentrace_cluster.c')], check=True)
    return scratch('gentrace')


def generate(name, *options, kind='kineto'):
    """Makes a trace; returns its path and its known answers."""
    path, answers = scratch(name), scratch(name + '.answers')
    with open(path, 'wb') as file:
        subprocess.run([gentrace_program(), kind, *map(str, options), '--answers', answers],
                       stdout=file, check=True)
    with open(answers, encoding='utf-8') as file:
        return path, json.load(file)


OPERATOR_FIGURES = ('calls', 'host_total', 'host_self', 'device_total', 'device_self')


def dims(text):
    """The shapes column, however it is spaced; what the producer did not record is []."""
    return json.dumps(json.loads(text) if isinstance(text, str) and text else text or [],
                      separators=(',', ':'))


def compare_table(tally, label, expected, got, figures):
    """Two tables {key: {figure: number}}; null in the answer stands for nothing recorded."""
    for key in sorted(set(expected) | set(got), key=str):
        if key not in got:
            tally.fail('%s: %s is missing' % (label, show(key)))
        elif key not in expected:
            tally.fail('%s: %s should not be there' % (label, show(key)))
        else:
            for figure in figures:
                tally.check('%s: %s %s' % (label, show(key), figure), expected[key][figure],
                            got[key][figure] or 0)


def keyed(table, *columns):
    """Rows by the values of these columns; rows with one key are added up."""
    out = {}
    for row in table:
        key = tuple(dims(row[c]) if c == 'shapes' else row[c] for c in columns)
        key = key if len(columns) > 1 else key[0]
        if key in out:
            for column, value in row.items():
                if isinstance(value, int) and not isinstance(value, bool):
                    out[key][column] = (out[key][column] or 0) + value
        else:
            out[key] = dict(row)
    return out


def compare_kernels(tally, label, expected, got):
    compare_table(tally, label, expected, got, ('calls', 'total', 'max', 'min'))
    for key in set(expected) & set(got):
        right = mean(expected[key]['total'], expected[key]['calls'])
        tally.check('%s: %s mean' % (label, show(key)), True, got[key]['mean'] in right)


def compare_report(tally, label, expected, path, *options, shapes=True):
    """A report of reference.py, or a similar one, against everything the program says of that trace."""
    try:
        compare_table(tally, label + ' operators', keyed(expected['operators'], 'name'),
                      keyed(rows(ask('operators', path, *options), 'operators'), 'name'),
                      OPERATOR_FIGURES)
        if shapes:
            answer = ask('operators', path, '--group-by', 'name+shape', *options)
            compare_table(tally, label + ' operators by shape',
                          keyed(expected['operators_by_shape'], 'name', 'shapes'),
                          keyed(rows(answer, 'operators'), 'name', 'shapes'), OPERATOR_FIGURES)
        answer = ask('kernels', path, '--group-by', 'name', *options)
        compare_kernels(tally, label + ' kernels', keyed(expected['kernels'], 'name'),
                        keyed(rows(answer, 'kernels'), 'name'))
        answer = ask('kernels', path, '--group-by', 'name+op', *options)
        compare_kernels(tally, label + ' kernels by op',
                        keyed(expected['kernels_by_op'], 'name', 'op'),
                        keyed(rows(answer, 'kernels'), 'name', 'op'))
        compare_info(tally, label + ' info', expected, ask('info', path, *options))
    except (Refused, KeyError, ValueError) as problem:
        tally.fail('%s: no answer: %s' % (label, problem))


# Rows of info's events that are not kinds of slices.
NOT_SLICES = {'instant', 'counter', 'memory', 'flow'}
# Ranges of the user: which of them are shown under a separate name is a matter of taste.
RANGES = {'annotation', 'optimizer', 'collective', 'forward', 'backward', 'data_loading'}


def with_ranges_added(kinds):
    out = {kind: count for kind, count in kinds.items() if kind not in RANGES | NOT_SLICES}
    out['annotation'] = sum(count for kind, count in kinds.items() if kind in RANGES)
    return out


def compare_info(tally, label, expected, answer):
    got = {r['kind']: r['count'] for r in rows(answer, 'events')}
    right, mine = with_ranges_added(expected['kinds']), with_ranges_added(got)
    for kind in sorted(set(right) | set(mine)):
        tally.check('%s: slices of kind %s' % (label, kind), right.get(kind, 0), mine.get(kind, 0))
    if 'memory' in expected:
        tally.check(label + ': memory events', expected['memory'], got.get('memory', 0))
    facts = {r['key']: r['value'] for r in rows(answer, 'trace')}
    if expected['steps']:  # without ProfilerStep other marks count, and what repeats
        tally.check(label + ': steps', len(expected['steps']), int(facts.get('steps', 0)))
    lost = dropped(answer)
    # Arrows with one end are normal: Kineto ends one at every call.
    for cause in sorted((set(expected['lost']) | set(lost)) - {'dangling_flow'}):
        tally.check('%s: lost by %s' % (label, cause), expected['lost'].get(cause, 0),
                    lost.get(cause, 0))
    if expected.get('start_unix_ns') is not None:
        tally.check(label + ': time of day', str(expected['start_unix_ns']),
                    answer['trace']['start_unix_ns'])
