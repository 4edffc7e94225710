$TACHO lines --stable --lang zh sample.pt.trace.json.gz --by file
