$TACHO summary --stable --sort nonsense sample.pt.trace.json.gz
