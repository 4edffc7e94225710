$TACHO operators --stable --group-by type sample.pt.trace.json.gz
