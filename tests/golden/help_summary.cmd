$TACHO summary --help
