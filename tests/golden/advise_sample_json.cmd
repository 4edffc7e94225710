$TACHO advise --stable --json --limit 2 sample.pt.trace.json.gz
