$TACHO help record
