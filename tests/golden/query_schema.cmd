$TACHO query --stable --format csv minimal.pt.trace.json ".schema kernel"
