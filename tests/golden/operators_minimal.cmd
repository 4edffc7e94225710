$TACHO operators --stable minimal.pt.trace.json
