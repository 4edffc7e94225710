TACHO_FAULT=alloc:3 $TACHO operators minimal.pt.trace.json
