$TACHO summary --stable --sort gpu_max --limit 3 sample.pt.trace.json.gz
