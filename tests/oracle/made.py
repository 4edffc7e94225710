"""Small traces written by hand, in the words of two vintages, and the answers about them in microseconds."""

import json
import os

import reference
from common import ask, rows, scratch

# What 2021 and 2026 call the same things.
WORDS = {
    'old': {'op': 'Operator', 'runtime': 'Runtime', 'kernel': 'Kernel', 'memcpy': 'Memcpy',
            'memset': 'Memset', 'annotation': 'Operator', 'id': 'external id'},
    'new': {'op': 'cpu_op', 'runtime': 'cuda_runtime', 'kernel': 'kernel', 'memcpy': 'gpu_memcpy',
            'memset': 'gpu_memset', 'annotation': 'user_annotation', 'id': 'External id'},
}
COSTS = ('kernel', 'memcpy', 'memset', 'communication', 'runtime', 'data_loader', 'cpu_exec', 'other',
         'total')
_count = 0


class Made:
    """Collects events; times are microseconds. `path` writes the file once and gives its name."""

    def __init__(self, vintage='new', **top):
        self.vintage, self.words, self.top = vintage, WORDS[vintage], top
        self.events, self.n_calls, self.file = [], 1000, None

    def tid(self, tid):
        return str(tid) if self.vintage == 'old' and isinstance(tid, int) else tid

    def add(self, cat, name, start, dur, pid, tid, args):
        self.events.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': start,
                            'dur': dur, 'args': args})

    def host(self, word, name, start, dur, ext=None, tid=123, **args):
        if ext is not None:
            args['External id'] = ext
        self.add(self.words.get(word, word), name, start, dur, 100, self.tid(tid), args)

    def op(self, name, start, dur, ext=None, tid=123, **args):
        self.host('op', name, start, dur, ext, tid, **args)

    def note(self, name, start, dur, ext=None, tid=123, **args):
        self.host('annotation', name, start, dur, ext, tid, **args)

    def step(self, number, start, dur, ext=None, tid=123):
        self.note('ProfilerStep#%d' % number, start, dur, ext, tid)

    def frame(self, name, start, dur, this, above=None, module=None, tid=123):
        args = {'Python id': this, 'Python parent id': above}
        if module is not None:
            args['Python module id'] = module
        self.add('python_function', name, start, dur, 100, self.tid(tid), args)

    def call(self, start, dur, ext=None, tid=123, name='cudaLaunchKernel', cat=None, corr=None):
        """A runtime call; returns its correlation, for the work it launches."""
        self.n_calls += 1
        corr = self.n_calls if corr is None else corr
        args = {'correlation': corr}
        if ext is not None:
            args[self.words['id']] = ext
        self.add(cat or self.words['runtime'], name, start, dur, 100, self.tid(tid), args)
        return corr

    def work(self, start, dur, corr, ext=None, kind='kernel', name=None, device=0, stream=7, **args):
        args = {'device': device, 'stream': stream, 'context': 1, **args}
        if corr is not None:
            args['correlation'] = corr
        if ext is not None:
            args[self.words['id']] = ext
        name = name or {'kernel': 'a_kernel', 'memcpy': 'Memcpy HtoD (Pageable -> Device)',
                        'memset': 'Memset (Device)'}[kind]
        row = 'stream %d' % stream if self.vintage == 'old' else stream
        self.add(self.words[kind], name, start, dur, 0 if device is None else device, row, args)

    def launch(self, start, dur, at, for_, ext=None, tid=123, **more):
        """A call and the one piece of work it launches."""
        self.work(at, for_, self.call(start, dur, ext, tid), ext, **more)

    def memory(self, time, address, size, kind=1, device=0, tid=123, **totals):
        args = {'Device Type': kind, 'Device Id': device, 'Bytes': size,
                **{k.replace('_', ' ').title(): v for k, v in totals.items()}}
        if address is not None:
            args['Addr'] = address
        self.events.append({'ph': 'i', 's': 't', 'cat': 'cpu_instant_event', 'name': '[memory]', 'pid': 100,
                            'tid': tid, 'ts': time, 'args': args})

    def arrow(self, this, start, to, tid=123, to_tid=124):
        """Forward to backward."""
        common = {'cat': 'fwdbwd', 'name': 'fwdbwd', 'id': this, 'pid': 100}
        self.events += [{**common, 'ph': 's', 'ts': start, 'tid': self.tid(tid)},
                        {**common, 'ph': 'f', 'ts': to, 'tid': self.tid(to_tid), 'bp': 'e'}]

    def write(self, path):
        with open(path, 'w', encoding='utf-8') as file:
            json.dump({'schemaVersion': 1, **self.top, 'traceEvents': self.events}, file)
        return path

    @property
    def path(self):
        global _count
        if self.file is None:
            _count += 1
            self.file = self.write(scratch('made%d.pt.trace.json' % _count))
        return self.file

    def reference(self):
        """The slow reference over these very events."""
        return reference.Trace(json.loads(json.dumps(self.events)))

    # ---- answers of the program, in microseconds ----

    def costs(self, *options):
        """{step: the nine costs}; without any device work its columns are null."""
        return {r['step']: [us(r[c] or 0) for c in COSTS]
                for r in rows(ask('overview', self.path, *options), 'steps')}

    def operators(self, *options):
        """{name: [calls, host total, host self, device total, device self]}"""
        return {r['name']: [r['calls']] + [us(r[c] or 0) for c in (
            'host_total', 'host_self', 'device_total', 'device_self')]
                for r in rows(ask('operators', self.path, *options), 'operators')}

    def kernels(self, group='name+op'):
        return rows(ask('kernels', self.path, '--group-by', group), 'kernels')

    def modules(self):
        return {r['module']: r for r in rows(ask('modules', self.path), 'modules')}

    def table(self, analysis, table, *options):
        return rows(ask(analysis, self.path, *options), table)


def us(ns):
    """Nanoseconds to microseconds, exactly: an int where it is one."""
    if ns is None:
        return None
    return ns // 1000 if ns % 1000 == 0 else ns / 1000


def folder_of(workers):
    """A run folder with one file for each {worker: Made}."""
    global _count
    _count += 1
    path = scratch('run%d' % _count)
    os.mkdir(path)
    for name, made in workers.items():
        made.write(os.path.join(path, '%s.pt.trace.json' % name))
    return path
