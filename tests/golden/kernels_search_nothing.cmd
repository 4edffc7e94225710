$TACHO kernels --stable --search no_such_kernel sample.pt.trace.json.gz
