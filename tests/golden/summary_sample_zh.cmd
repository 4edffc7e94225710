$TACHO summary --stable --lang zh --limit 3 sample.pt.trace.json.gz
