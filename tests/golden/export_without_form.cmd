$TACHO export minimal.pt.trace.json
