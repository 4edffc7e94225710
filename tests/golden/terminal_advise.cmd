../golden/terminal 80x40 $TACHO advise --stable sample.pt.trace.json.gz
