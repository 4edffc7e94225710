$TACHO operators --stable --json minimal.pt.trace.json
