$TACHO help --lang zh
