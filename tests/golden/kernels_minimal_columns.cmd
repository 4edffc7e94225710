$TACHO kernels --format columns minimal.pt.trace.json | od -A d -t x1z
