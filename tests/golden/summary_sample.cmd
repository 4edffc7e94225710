$TACHO summary --stable sample.pt.trace.json.gz
