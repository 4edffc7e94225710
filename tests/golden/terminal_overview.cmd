../golden/terminal 80x40 $TACHO overview --stable sample.pt.trace.json.gz
