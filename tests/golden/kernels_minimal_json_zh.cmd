$TACHO kernels --stable --json --group-by launch --lang zh minimal.pt.trace.json
