$TACHO kernels --stable --sort mean:asc --limit 3 sample.pt.trace.json.gz
