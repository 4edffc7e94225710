$TACHO --version
