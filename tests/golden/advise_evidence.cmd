$TACHO advise --stable --evidence --table events --format csv --limit 60 sample.pt.trace.json.gz
