$TACHO operators --stable phases.json
