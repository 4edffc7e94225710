$TACHO export minimal.pt.trace.json --to speedscope --value device
