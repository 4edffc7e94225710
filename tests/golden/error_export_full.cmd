$TACHO export --no-cache minimal.pt.trace.json --to tacho -o /dev/full
