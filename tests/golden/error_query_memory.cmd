$TACHO query --limit-memory 2MiB --lang zh minimal.pt.trace.json "SELECT hex(zeroblob(4000000))"
