$TACHO operators --evidence --limit 4 --format csv --table operators sample.pt.trace.json.gz | cut -d, -f1,13,15,30-
