NO_COLOR=1 ../golden/terminal 80x40 $TACHO summary --stable sample.pt.trace.json.gz
