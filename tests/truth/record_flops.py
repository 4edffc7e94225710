"""Makes tests/data/flops.pt.trace.json.gz and flops_torch.json: python3 tests/truth/record_flops.py FOLDER

Small calls of what PyTorch counts with with_flops and of what it does not (attention, other convolutions), on the CPU.
"""
import gzip
import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile


def convolve():
    x = torch.randn(2, 8, 20, 24, requires_grad=True)
    F.conv2d(x, torch.randn(16, 8, 3, 5, requires_grad=True), torch.randn(16), stride=2, padding=1).sum().backward()
    F.conv2d(x, torch.randn(8, 1, 3, 3, requires_grad=True), None, padding=1, groups=8).sum().backward()
    F.conv2d(x, torch.randn(4, 8, 3, 3), None, padding=(2, 1), dilation=2)
    F.conv2d(x, torch.randn(4, 8, 3, 3), None, padding="same")
    F.conv1d(torch.randn(3, 4, 50), torch.randn(6, 4, 7), stride=3)
    F.conv3d(torch.randn(1, 2, 6, 7, 8), torch.randn(3, 2, 2, 3, 3), padding=1)
    F.conv_transpose2d(x, torch.randn(8, 6, 3, 3), stride=2, padding=1, output_padding=1)
    F.max_pool2d(x, 3, 2, 1)


def multiply():
    a, b = torch.randn(32, 48, requires_grad=True), torch.randn(48, 64, requires_grad=True)
    torch.mm(a, b).sum().backward()
    torch.addmm(torch.randn(64), a, b)
    torch.bmm(torch.randn(4, 16, 24), torch.randn(4, 24, 8))
    torch.baddbmm(torch.randn(4, 16, 8), torch.randn(4, 16, 24), torch.randn(4, 24, 8))
    F.linear(torch.randn(2, 7, 48), torch.randn(64, 48), torch.randn(64))
    torch.matmul(torch.randn(3, 5, 7), torch.randn(7, 9))
    torch.mv(torch.randn(6, 7), torch.randn(7))
    torch.cat([a, a])
    a.to(torch.bfloat16)


def others():
    q, k, v = (torch.randn(2, 3, 40, 16, requires_grad=True) for _ in range(3))
    F.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()
    F.scaled_dot_product_attention(q, torch.randn(2, 3, 20, 16), torch.randn(2, 3, 20, 16))
    torch.randn(9) + torch.randn(5, 9)
    torch.randn(5, 9) * torch.randn(5, 9)
    torch.randn(4, 1) * torch.randn(1, 6)
    x = torch.randn(4, 10, 32, requires_grad=True)
    F.layer_norm(x, (32,), torch.randn(32), torch.randn(32)).sum().backward()
    torch.softmax(torch.randn(8, 33), -1)
    F.gelu(torch.randn(8, 33))
    F.embedding(torch.randint(0, 50, (4, 6)), torch.randn(50, 12))


def main():
    folder = Path(sys.argv[1])
    torch.manual_seed(0)
    torch.set_num_threads(1)
    for _ in range(2):  # the first calls of a kind set things up
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_flops=True) as p:
            convolve()
            multiply()
            others()
    rows = [{"name": e.key, "shapes": e.input_shapes, "calls": e.count, "flops": e.flops}
            for e in p.key_averages(group_by_input_shape=True) if e.flops]
    (folder / "flops_torch.json").write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    made = folder / "flops.pt.trace.json"
    p.export_chrome_trace(str(made))
    trace = json.loads(made.read_text())
    made.unlink()
    trace.update(traceName=made.name, host_name="host")
    with gzip.GzipFile(str(made) + ".gz", "wb", mtime=0) as file:
        file.write(json.dumps(trace, separators=(",", ":")).encode())


if __name__ == "__main__":
    main()
