$TACHO roofline --stable --limit 8 sample.pt.trace.json.gz
