$TACHO kernel sample.pt.trace.json.gz
