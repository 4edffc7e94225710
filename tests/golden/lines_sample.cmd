$TACHO lines --stable sample.pt.trace.json.gz --by line
