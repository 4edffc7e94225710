"""Recorded answers of PyTorch's TensorBoard plugin against tacho.

One file holds the answers about one run: a list of {request, status, response[, note]}.  Every
request goes to the function of its route below; a route without one is a failure.  Times of the
answers are doubles of microseconds: sums of n ranges may be off by √n nanoseconds, rounded ones by half a unit more.

What the plugin cannot see or gets wrong is DEFECTS, one row for each.  A row of kind `input` is a change
to a copy of the trace that takes the defect away on both sides.  A row of kind `figure` is a number
that is not compared with the answer; the slow reference gives the right one instead, and where it can also
the wrong one, so that it is the defect and nothing else that makes the difference.
"""

import functools
import gzip
import itertools
import json
import math
import os
import re
from urllib.parse import parse_qsl, urlsplit

import reference
import tensorboard_diff
import tensorboard_distributed
import tensorboard_memory
import tensorboard_modules
import tensorboard_time
from common import DATA, Refused, ask, call, figures, remembers, samples, scratch, short

DEFECTS = {
    # id: (where the spec has it, kind, what and why)
    'driver': ('B3', 'input', 'calls of the driver are not seen: removed from the copy'),
    'device_marker': ('B2', 'input', 'device-side ranges are taken for host work and steps: removed from the copy'),
    'annotation': ('B2', 'figure', 'ranges of the user are counted as CPU execution'),
    'tensor_core': ('2.9', 'figure', 'the list of tensor core kernels and operators is of 2021, and an operator is '
                    'judged by its first call'),
    'residue': ('2.4', 'figure', 'sums of doubles leave a residue that makes segments out of gaps'),
    'no_id': ('2.2', 'figure', 'a call without an id, or with that of no operator, is not taken off the operator '
              'around it, and its kernels are not in the table by operator'),
    'duplicate': ('2.3', 'figure', 'an operator alone in one of its own name is merged with it, whatever calls '
                  'the outer one makes'),
    'overlap': ('B5', 'figure', 'operators that overlap partially are dropped'),
    'backward_lost': ('2.3', 'figure', 'backward work of operators outside modules is lost'),
    'backward_memory': ('2.3', 'figure', 'memory events of the backward thread find no operator'),
    'module_self': ('B17', 'figure', 'self times of modules take off operators on the host but not on the device'),
    'memory_window': ('2.11', 'figure', 'in a window calls count that only touch it; ours count where they start'),
    'memory_calls': ('2.11', 'figure', 'calls in parts of the tree without memory events are not counted'),
    'memory_address': ('B20', 'figure', 'blocks are known by address alone'),
    'root': ('2.3', 'figure', 'CallTreeRoot is a node of the plugin and no operator'),
    'first_thread': ('B19', 'figure', 'only one thread is shown'),
    'backward_node': ('B7', 'figure', 'nodes made up for the backward part of modules; ours are columns'),
    'matched_by_order': ('B9', 'figure', 'collectives of several workers are matched by their order'),
    'capacity': ('B12', 'figure', 'the capacity of a device is never given'),
}
ECHO = {'crash': 'the original crashed', 'error': 'the original only gives an error text',
        'file': 'the original only echoes the file'}

# What is taken out of the copy: X events of these categories lose their phase, so they are not read.
UNSEEN = re.compile(rb'"ph"\s*:\s*"X"(\s*,\s*"cat"\s*:\s*"(?:cuda_driver|xpu_driver|privateuse1_driver'
                    rb'|gpu_user_annotation)")')
_numbers = itertools.count()
FILE_NAME = re.compile(r'^(.*?)(?:\.(\d+))?\.pt\.trace\.json(?:\.gz)?$')


def read(path):
    with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as file:
        return file.read()


class Span:
    """One trace file as the plugin saw it, with the program's answers and the reference about it."""

    def __init__(self, path, host_only):
        self.source, self.answers = path, {}
        text = read(path)
        if host_only:
            text = UNSEEN.sub(rb'"ph":"removed"\1', text)
            left = re.search(rb'"cat"\s*:\s*"(cuda_driver|gpu_user_annotation)"[^{]*"ph"\s*:\s*"X"', text)
            assert left is None, 'the order of the keys is new: the copy still holds what should be gone'
        self.path = scratch('seen%d.pt.trace.json' % next(_numbers))
        with open(self.path, 'wb') as file:
            file.write(text)
        self.text = text

    def ask(self, analysis, *options):
        key = (analysis, *options)
        if remembers():     # faults are put into answers there, so they are not kept here
            return ask(analysis, self.path, *options)
        if key not in self.answers:
            self.answers[key] = ask(analysis, self.path, *options)
        return self.answers[key]

    @functools.cached_property
    def root(self):
        return json.loads(self.text, parse_float=reference.Decimal)

    @functools.cached_property
    def events(self):
        return [e for e in reference.events_of(self.root) if e.get('ph') != 'removed']

    @functools.cached_property
    def trace(self):
        return reference.Trace(self.events)

    @functools.cached_property
    def start(self):
        """Zero of tacho's offsets, in the trace's own nanoseconds."""
        return min(s.start for s in self.trace.slices)


class Run:
    """The files of a run: {worker: [path of span 1, 2, …]}, numbered by time."""

    def __init__(self, name, folder, host_only):
        self.name, self.folder, self.host_only = name, folder, host_only
        self.workers, self.spans, self.others = {}, {}, {}
        found = []
        for file in os.listdir(folder):
            match = FILE_NAME.match(file)
            if match:
                found.append((match.group(1), int(match.group(2) or 0), os.path.join(folder, file)))
        for worker, _, path in sorted(found):
            self.workers.setdefault(worker, []).append(path)

    def other(self, name):
        """Another run of the same log folder."""
        if name not in self.others:
            top = os.path.join(self.folder, *['..'] * (self.name.count('/') + 1))
            self.others[name] = Run(name, os.path.join(top, name), self.host_only)
        return self.others[name]

    def has_device_ranges(self):
        """Answers recorded with them in are not comparable."""
        return any(UNSEEN.search(read(path)) for paths in self.workers.values() for path in paths)

    def span(self, worker, number):
        key = (worker, number)
        if key not in self.spans:
            self.spans[key] = Span(self.workers[worker][int(number) - 1], self.host_only)
            self.spans[key].workers = len(self.workers)
        return self.spans[key]


def lost(ranges):
    """What doubles lose of a sum of ranges, in microseconds: each end is off by a quarter of a nanosecond and the text
    by half of one, one way or the other, so the sum by the root of their number and not by the number."""
    return .001 * (1 + math.sqrt(max(0, ranges)))


class Check:
    """A tally with the label of the answers, and what was left out, by row of DEFECTS."""

    def __init__(self, tally, label):
        self.tally, self.label, self.left = tally, label, {}

    def equal(self, what, expected, got):
        return self.tally.check('%s %s' % (self.label, what), expected, got)

    def time(self, what, expected_us, got_ns, ranges=1):
        """An un-rounded time in microseconds."""
        got = None if got_ns is None else got_ns / 1000
        return self.tally.check('%s %s' % (self.label, what), expected_us, got, slack=lost(ranges) + 1e-9)

    def rounded(self, what, expected_us, got_ns, ranges=1):
        got = None if got_ns is None else got_ns / 1000
        return self.tally.check('%s %s' % (self.label, what), expected_us, got, slack=.5 + lost(ranges))

    def near(self, what, expected, got, slack):
        return self.tally.check('%s %s' % (self.label, what), expected, got, slack=slack)

    def fail(self, sentence):
        self.tally.fail('%s %s' % (self.label, sentence))

    def leave(self, row, count=1):
        self.left[row] = self.left.get(row, 0) + count

    def end(self):
        for row, count in self.left.items():
            if row in DEFECTS:
                where, _, why = DEFECTS[row]
                why = '%s: %s' % (where, why)
            else:
                why = ECHO[row]
            self.tally.skip('%s: %s (%d figures)' % (self.label, why, count), count)


def named_in(arguments, pattern):
    """What an error message of the program lists; None when it did not refuse."""
    status, _, err = call(arguments)
    match = re.search(pattern, err)
    return match.group(1).strip().split(', ') if status != 0 and match else None


def runs(check, run, params, answer):
    found = named_in(['info', os.path.join(run.folder, *['..'] * (run.name.count('/') + 1))], r'--run: (.*)')
    for name in answer['response']['runs']:
        if name.split('/')[0] in os.listdir(os.path.join(run.folder, *['..'] * (run.name.count('/') + 1))):
            check.equal('/runs %s' % name, True, found is None or name in found)


def views(check, run, params, answer):
    worker, paths = sorted(run.workers.items())[0]
    span = run.span(worker, str(len(paths)))
    has = {'Overview': True, 'Operator': True, 'Trace': True}
    for view, analysis, table in (('Kernel', 'kernels', 'kernels'), ('Memory', 'memory', 'statistics'),
                                  ('Module', 'modules', 'modules'), ('Distributed', 'distributed', 'collectives')):
        has[view] = bool(span.ask(analysis)['tables'][table]['rows'])
    for view, there in has.items():
        check.equal('/views %s' % view, view in answer['response'], there)


def workers(check, run, params, answer):
    if params['view'] == 'Distributed':
        check.equal('/workers of all', ['All'], answer['response'])
        return
    found = named_in(['info', run.folder, '--worker', '?'], r'available: (.*)')
    # The plugin looks for *.pt.trace.json alone; a memory snapshot next to them is a worker to tacho.
    check.equal('/workers', answer['response'], [w for w in found or [] if w in run.workers])


def spans(check, run, params, answer):
    if params['worker'] == 'All':
        check.equal('/spans of all', True, all(s.isdigit() for s in answer['response']))
        return
    found = named_in(['info', run.folder, '--worker', params['worker'], '--span', '9999'], r'available: (.*)')
    check.equal('/spans', answer['response'], [s.split(' ')[0] for s in found or []])


def of_span(function):
    """A route about one span; a failed answer of the original goes to a separate function."""
    def route(check, run, params, answer):
        function(check, run.span(params['worker'], params['span']), params, answer)
    return route


def of_two(function):
    """A route about a span of this run and one of another, which is next to it."""
    def route(check, run, params, answer):
        other = run.other(params['exp_run'])
        sides = run.span(params['worker'], params['span']), other.span(params['exp_worker'], params['exp_span'])
        function(check, sides, params, answer)
    return route


ROUTES = {
    '/runs': runs, '/views': views, '/workers': workers, '/spans': spans,
    '/overview': of_span(tensorboard_time.overview),
    '/operation': of_span(tensorboard_time.operator_pies),
    '/operation/table': of_span(tensorboard_time.operator_table),
    '/operation/stack': of_span(tensorboard_time.operator_stacks),
    '/kernel': of_span(tensorboard_time.kernel_pie),
    '/kernel/table': of_span(tensorboard_time.kernel_table),
    '/kernel/tc_pie': of_span(tensorboard_time.tensor_core_pie),
    '/trace': of_span(tensorboard_time.counters),
    '/memory': of_span(tensorboard_memory.statistics),
    '/memory_curve': of_span(tensorboard_memory.curve),
    '/memory_events': of_span(tensorboard_memory.blocks),
    '/module': of_span(tensorboard_modules.modules),
    '/tree': of_span(tensorboard_modules.tree),
    '/diff': of_two(tensorboard_diff.whole), '/diffnode': of_two(tensorboard_diff.part),
    '/distributed/gpuinfo': tensorboard_distributed.devices,
    '/distributed/overlap': tensorboard_distributed.overlap,
    '/distributed/waittime': tensorboard_distributed.waiting,
    '/distributed/commops': tensorboard_distributed.collectives,
}


# The columns of the plugin's tables, by their names; those that are in brackets may be absent.
HEADS = {
    '/operation': ['name', 'value'], '/kernel': ['name', 'value'], '/kernel/tc_pie': ['name', 'value'],
    '/memory': ['Operator Name', 'Calls', 'Size Increase (KB)', 'Self Size Increase (KB)', 'Allocation Count',
                'Self Allocation Count', 'Allocation Size (KB)', 'Self Allocation Size (KB)'],
    '/memory_events': ['Operator', 'Size (KB)', 'Allocation Time (ms)', 'Release Time (ms)', 'Duration (ms)'],
    '/module': ['Module Name', 'Occurences', 'Operators', 'Host Total Time', 'Host Self Time', 'Device Total Time',
                'Device Self Time'],
    '/distributed/commops': ['Name', 'Calls', 'Total Size (bytes)', 'Avg Size (bytes)', 'Total Latency (us)',
                             'Avg Latency (us)', 'Data Transfer Time (us)', 'Avg Data Transfer Time (us)'],
}


def same_columns(check, path, data):
    """Every table of an answer has the columns of its kind, and every row as many values."""
    if isinstance(data, list):
        for value in data:
            same_columns(check, path, value)
    elif isinstance(data, dict):
        if isinstance(data.get('columns'), list):
            names = [c.get('name') for c in data['columns']]
            if path in HEADS:
                check.equal('%s columns' % path, HEADS[path], names)
            by_device = data.get('rows') if isinstance(data.get('rows'), dict) else {'': data.get('rows') or []}
            for rows_of_it in by_device.values():
                check.equal('%s values of a row' % path, True, all(len(row) == len(names) for row in rows_of_it))
        for key, value in data.items():
            if key not in ('columns', 'rows', 'first_nodes', 'first_injected'):
                same_columns(check, path, value)


class File:
    """The answers of one file, request by request."""

    ignored = {'request', 'status'}

    def __init__(self, tally, path, source):
        self.tally, self.path, self.source = tally, path, source
        self.host_only = '.hostonly.' in os.path.basename(path)
        self.check = Check(tally, os.path.basename(path).split('.')[0])
        self.parts = [(a['request'], a) for a in json.loads(read(path))]
        self.run, self.name = None, next((run_of(title) for title, _ in self.parts if run_of(title)), None)

    def state(self, index):
        """`echo` is an answer that nothing is compared with."""
        path = urlsplit(self.parts[index][0]).path
        return 'echo' if path == '/runs' else None

    def one(self, index):
        title, answer = self.parts[index]
        parts = urlsplit(title)
        params = dict(parse_qsl(parts.query, keep_blank_values=True))
        if parts.path not in ROUTES:
            self.check.fail('there is no way to ask %s' % title)
        else:
            try:
                same_columns(self.check, parts.path, answer['response'])
                ROUTES[parts.path](self.check, self.open(params.get('run') or self.name), params, answer)
            except PROBLEMS as problem:
                self.check.fail('%s: no answer: %s: %s' % (title[:120], type(problem).__name__, problem))

    def open(self, name):
        if self.run is None or self.run.name != name:
            self.run = Run(name, os.path.join(self.source, name), self.host_only)
        return self.run

    def end(self):
        self.check.end()


PROBLEMS = (Refused, KeyError, ValueError, IndexError, TypeError, AttributeError, StopIteration, OSError)


def run_of(request):
    return dict(parse_qsl(urlsplit(request).query)).get('run')


def recorded():
    """(answers, input): of the runs with a device those recorded without device-side ranges, of the others the plain."""
    host_only = samples('pytorch/oracle_tensorboard/*.final.hostonly.json*')
    having = {os.path.basename(p).split('.')[0] for p in host_only}
    plain = [p for p in samples('pytorch/oracle_tensorboard/*.final.json*')
             if os.path.basename(p).split('.')[0] not in having]
    return [(path, os.path.join(DATA, 'pytorch')) for path in host_only + plain]


def compare(tally, answers_path, input_path):
    if '.final.' not in os.path.basename(answers_path):
        tally.skip('%s: answers of an older release, for reading only' % short(answers_path))
        return
    file = File(tally, answers_path, input_path)
    if not file.host_only and file.name and os.path.isdir(os.path.join(input_path, file.name)) \
            and file.open(file.name).has_device_ranges():
        file.check.leave('device_marker', sum(figures(answer['response']) for _, answer in file.parts))
    else:
        for index in range(len(file.parts)):
            file.one(index)
    file.end()
