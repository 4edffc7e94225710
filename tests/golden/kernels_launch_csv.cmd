$TACHO kernels --group-by launch --sort name --limit 4 --format csv sample.pt.trace.json.gz
