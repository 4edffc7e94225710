$TACHO operators --help
