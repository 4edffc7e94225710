"""A program whose operators launch fake kernels, for --sample: torch_sample_program.py STEPS

The operators made::a … made::f are PyTorch's own in all that matters here: they go through its dispatcher
and launch kernels, which a fake CUPTI (tests/fake/cupti.c, named by TACHO_CUPTI) tells the recorder of. made::a and
made::b launch the same kernel. Steps 7, 12 and 17 take another branch. Prints after which steps calls of modules were
hooked.
"""
import ctypes
import os
import struct
import sys
import time

import torch

DRIVER, LAUNCH, KERNEL_RECORD = 1, 307, 10  # the domain and number of cuLaunchKernel
KERNELS = {"a": "shared_kernel", "b": "shared_kernel", "c": "kernel_c", "d": "kernel_d", "e": "kernel_e",
           "f": "kernel_f"}
cupti = ctypes.CDLL(os.environ["TACHO_CUPTI"])
names = {text: ctypes.create_string_buffer(text.encode()) for text in KERNELS.values()}
launches = 0


def launch(kernel):
    global launches
    launches += 1
    cupti.fake_call(DRIVER, LAUNCH, launches, 0)
    now = time.time_ns()
    work = bytearray(216)
    struct.pack_into("<I", work, 0, KERNEL_RECORD)
    struct.pack_into("<QQ", work, 16, now + 2000, now + 5000)
    struct.pack_into("<III6I", work, 40, 0, 1, 7, 4, 1, 1, 128, 1, 1)
    struct.pack_into("<I", work, 92, launches)
    struct.pack_into("<Q", work, 104, ctypes.addressof(names[kernel]))
    cupti.fake_emit(bytes(work), ctypes.c_size_t(len(work)))


library = torch.library.Library("made", "DEF")
for letter, kernel in KERNELS.items():
    def work(x, kernel=kernel):
        launch(kernel)
        return x.clone()

    library.define(f"{letter}(Tensor x) -> Tensor")
    library.impl(letter, work, "CPU")


class Layer(torch.nn.Module):
    def forward(self, x):
        for letter in "acdcdadcacddccaaddccadcacd":
            x = getattr(torch.ops.made, letter)(x)
        return torch.ops.made.f(x) if self.ends else x

    def __init__(self, ends=False):
        super().__init__()
        self.ends = ends


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Layer(), Layer(True)
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x, takes_other):
        x = self.first(x)
        x = torch.ops.made.e(torch.ops.made.b(x)) if takes_other else torch.ops.made.a(x)
        return self.second(x) * self.weight


def main():
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    hooked = []
    for i in range(int(sys.argv[1])):
        model(torch.ones(2), i in (7, 12, 17)).sum().backward()
        optimizer.step()
        hooked.append(getattr(torch.nn.Module.__call__, "__tacho__", False))
        time.sleep(0.001)
    print("hooked", [i for i, on in enumerate(hooked) if on])


main()
