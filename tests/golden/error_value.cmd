$TACHO operators --from 12 minimal.pt.trace.json
