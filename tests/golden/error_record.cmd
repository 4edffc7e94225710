$TACHO record
