$TACHO export minimal.pt.trace.json --to svg --step 99
