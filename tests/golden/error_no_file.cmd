$TACHO info nowhere.json
