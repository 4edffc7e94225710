$TACHO --help
