$TACHO operators --stable --from 20ms --to 30ms --sort calls --limit 5 sample.pt.trace.json.gz
