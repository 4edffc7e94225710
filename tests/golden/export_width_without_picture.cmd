$TACHO export minimal.pt.trace.json --to csv --width 600
