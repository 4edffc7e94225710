$TACHO advise --stable sample.pt.trace.json.gz
