$TACHO query --stable --lang zh --format md minimal.pt.trace.json .examples | head -8
