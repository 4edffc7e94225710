$TACHO operators --serch x minimal.pt.trace.json
