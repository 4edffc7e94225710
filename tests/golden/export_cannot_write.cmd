$TACHO export minimal.pt.trace.json --to csv -o /nowhere/x.csv
