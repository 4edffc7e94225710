$TACHO export minimal.pt.trace.json --to svg --width 600
