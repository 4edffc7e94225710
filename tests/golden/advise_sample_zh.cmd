$TACHO advise --stable --lang zh sample.pt.trace.json.gz
