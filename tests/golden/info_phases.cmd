$TACHO info --stable phases.json | grep -v store_bytes
