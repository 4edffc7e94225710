$TACHO operators --group-by name+shape --search convolution --limit 6 --format md sample.pt.trace.json.gz
