$TACHO top --help
