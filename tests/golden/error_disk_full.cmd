TACHO_FAULT=write:1 $TACHO operators --no-cache minimal.pt.trace.json
