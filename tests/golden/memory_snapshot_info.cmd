$TACHO info --stable memory_snapshot.pickle | grep -v store_bytes
