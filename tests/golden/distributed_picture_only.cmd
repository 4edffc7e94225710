$TACHO distributed memory_snapshot.pickle --all-workers --stable
