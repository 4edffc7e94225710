$TACHO operators phases.json minimal.pt.trace.json
