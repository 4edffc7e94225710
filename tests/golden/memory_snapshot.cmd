$TACHO memory --stable memory_snapshot.pickle
