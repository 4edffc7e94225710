$TACHO operators
