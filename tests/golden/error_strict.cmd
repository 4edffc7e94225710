$TACHO info --strict phases.json
