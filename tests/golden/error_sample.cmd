$TACHO record --sample 1/0 -- true
