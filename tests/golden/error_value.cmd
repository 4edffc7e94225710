$TACHO operators --from 5parsecs minimal.pt.trace.json
