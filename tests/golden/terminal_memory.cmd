../golden/terminal 100x40 $TACHO memory --stable sample.pt.trace.json.gz
