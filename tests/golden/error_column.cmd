$TACHO operators --sort nonsense minimal.pt.trace.json
