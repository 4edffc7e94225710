$TACHO lines --stable minimal.pt.trace.json
