$TACHO export minimal.pt.trace.json --to csv --step 3
