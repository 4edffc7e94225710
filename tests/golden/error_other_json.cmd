echo "{\"a\": 1}" | $TACHO info -
