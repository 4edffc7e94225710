$TACHO roofline --stable --limit 6 flops.pt.trace.json.gz
