$TACHO whatif --stable sample.pt.trace.json.gz --no-sync
