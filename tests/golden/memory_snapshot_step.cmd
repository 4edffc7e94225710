$TACHO memory --stable --step 2 --format csv --table events memory_snapshot.pickle
