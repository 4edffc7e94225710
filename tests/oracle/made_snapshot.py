"""Memory snapshots of a synthetic allocator: seeded, with a ring buffer that forgets, in any form.

    made_snapshot.py SEED PROTOCOL FILE [events=N] [keep=N] [devices=N] [no_history] [no_time] [no_frames] [old]
"""

import pickle
import random
import sys

FILES = ('/home/user/train.py', '/home/user/model.py', '/usr/lib/python3.11/runpy.py',
         '/opt/env/lib/python3.11/site-packages/torch/nn/modules/module.py',
         '/opt/env/lib/python3.11/site-packages/transformers/modeling.py', '<string>')
NATIVE = ('at::_ops::mm::call(at::Tensor const&)', 'at::_ops::empty_strided::call(long)', 'c10::alloc(unsigned long)',
          'torch::autograd::generated::MmBackward0::apply(x&&)', 'at::native::mm(x)', 'torch::unwind::unwind()')


def frame(dice):
    if dice.random() < 0.5:
        return {'name': dice.choice(NATIVE), 'filename': dice.choice(('??', '', 'x.cpp')), 'line': 0}
    return {'name': dice.choice(('forward', 'main', '<module>')), 'filename': dice.choice(FILES),
            'line': dice.randrange(1, 40)}


class Device:
    """Segments of blocks; a segment is given back when nothing is left in it."""

    def __init__(self, number, dice, stacks, ticks):
        self.number, self.dice, self.stacks, self.ticks = number, dice, stacks, ticks
        self.history, self.segments, self.alive = [], [], {}
        self.next_address = 0x7f0000000000 + (number << 36)

    def record(self, action, address, size, frames):
        event = {'action': action, 'addr': address, 'size': size, 'stream': 0, 'time_us': next(self.ticks),
                 'compile_context': 'N/A', 'user_metadata': '', 'frames': frames}
        self.history.append(event)

    def allocate(self):
        dice = self.dice
        asked = dice.randrange(0, 5000)
        size = max(512, -(-asked // 512) * 512)
        frames = dice.choice(self.stacks)
        segment = next((s for s in self.segments if s['used'] + size <= s['total']), None)
        if segment is None:
            segment = {'address': self.next_address, 'total': 1 << 16, 'used': 0, 'blocks': {}}
            self.next_address += 1 << 20
            self.segments.append(segment)
            self.record('segment_alloc', segment['address'], segment['total'], frames)
        address = segment['address'] + segment['used']
        segment['used'] += size
        segment['blocks'][address] = {'address': address, 'size': size, 'requested_size': asked,
                                      'state': 'active_allocated', 'frames': frames}
        self.alive[address] = segment
        self.record('alloc', address, asked, frames)

    def release(self):
        address = self.dice.choice(list(self.alive))
        segment = self.alive.pop(address)
        block = segment['blocks'][address]
        frames = self.dice.choice(self.stacks)
        block['state'] = 'inactive'
        self.record('free_requested', address, block['requested_size'], frames)
        self.record('free_completed', address, block['requested_size'], frames)
        if not any(a in self.alive for a in segment['blocks']):
            self.segments.remove(segment)
            self.record('segment_free', segment['address'], segment['total'], [])

    def state(self):
        return [{'device': self.number, 'address': s['address'], 'total_size': s['total'], 'stream': 0,
                 'allocated_size': sum(b['size'] for b in s['blocks'].values() if b['state'] != 'inactive'),
                 'segment_type': 'large', 'segment_pool_id': (0, 0), 'is_expandable': False, 'frames': [],
                 'blocks': list(s['blocks'].values())} for s in self.segments]


def ticking(dice):
    time = 1790000000000000
    while True:
        time += dice.choice((0, 0, 1, 3, 40, 1000))
        yield time


def make(seed, events=2000, keep=800, devices=2, no_history=False, no_time=False, no_frames=False,
         old=False):
    dice = random.Random(seed)
    frames = [frame(dice) for _ in range(60)]
    stacks = [[]] + [[dice.choice(frames) for _ in range(dice.randrange(1, 30))] for _ in range(50)]
    if no_frames:
        stacks = [[]]
    ticks = ticking(dice)
    machines = [Device(i, dice, stacks, ticks) for i in range(devices)]
    annotations = []
    for i in range(events):
        machine = dice.choice(machines)
        if i % 100 == 0:
            stage = 'END' if i // 100 % 2 else 'START'
            annotations.append({'stage': stage, 'name': 'ProfilerStep#%d' % (i // 200), 'device': 0,
                                'time_us': next(ticks)})
        if i % 333 == 0:
            machine.history.append({'action': 'oom', 'device_free': 12345, 'size': 1 << 40, 'stream': 0,
                                    'time_us': next(ticks), 'frames': dice.choice(stacks)})
        if i % 500 == 7:
            machine.record('user_defined', 0, 0, [])
            machine.history[-1]['user_metadata'] = 'mark %d' % i
        if machine.alive and dice.random() < 0.47:
            machine.release()
        else:
            machine.allocate()
    histories = [[] if no_history else m.history[-keep:] for m in machines]
    segments = [s for m in machines for s in m.state()]
    if no_time:
        annotations = []
        for event in (e for h in histories for e in h):
            del event['time_us']
    if old:
        for block in (b for s in segments for b in s['blocks']):
            block['history'] = [{'addr': block.pop('address'), 'real_size': block.pop('requested_size'),
                                 'frames': block.pop('frames')}]
        return segments
    return {'segments': segments, 'device_traces': histories + [[]], 'external_annotations': annotations,
            'allocator_settings': {'PYTORCH_CUDA_ALLOC_CONF': 'max_split_size_mb:64', 'max_split_size': 67108864,
                                   'expandable_segments': False, 'roundup_power2_divisions': {'1': 0}}}


def write(path, protocol, seed, **options):
    with open(path, 'wb') as file:
        pickle.dump(make(seed, **options), file, protocol)


def main():
    options = {}
    for word in sys.argv[4:]:
        key, _, value = word.partition('=')
        options[key] = int(value) if value else True
    write(sys.argv[3], int(sys.argv[2]), int(sys.argv[1]), **options)


if __name__ == '__main__':
    main()
