$TACHO operators --stable --step 3 --limit 5 sample.pt.trace.json.gz
