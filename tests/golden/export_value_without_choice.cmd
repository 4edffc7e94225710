$TACHO export minimal.pt.trace.json --to csv --value device
