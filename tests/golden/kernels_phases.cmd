$TACHO kernels --stable phases.json
