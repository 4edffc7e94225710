$TACHO query minimal.pt.trace.json "SELECT nobody FROM slice"
