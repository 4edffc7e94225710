$TACHO kernels --format arrow --stable minimal.pt.trace.json | od -A d -t x1z
