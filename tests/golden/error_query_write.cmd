$TACHO query minimal.pt.trace.json "DELETE FROM slice"
