$TACHO roofline --stable --lang zh --json --group-by name+shape --step 3 --limit 3 sample.pt.trace.json.gz
