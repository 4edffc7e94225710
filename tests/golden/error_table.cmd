$TACHO info --table nonsense minimal.pt.trace.json
