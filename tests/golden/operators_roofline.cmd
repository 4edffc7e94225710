$TACHO operators --stable --roofline --limit 5 --table operators sample.pt.trace.json.gz
