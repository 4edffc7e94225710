$TACHO --lang zh
