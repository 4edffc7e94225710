$TACHO advise --stable minimal.pt.trace.json
