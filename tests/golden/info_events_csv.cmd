$TACHO info sample.pt.trace.json.gz --table events --format csv
