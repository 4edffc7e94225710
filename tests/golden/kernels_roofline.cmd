$TACHO kernels --stable --roofline --limit 5 sample.pt.trace.json.gz
