$TACHO --version | sed -E 's/ \([0-9a-f]{8,}(-dirty)?\)$//'
