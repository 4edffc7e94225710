$TACHO info --stable minimal.pt.trace.json | grep -v store_bytes
