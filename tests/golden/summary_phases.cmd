$TACHO summary --stable phases.json
