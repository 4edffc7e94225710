$TACHO query --stable --json minimal.pt.trace.json "SELECT id, name, kind, start, dur, parent, track_name FROM slice ORDER BY id"
