../golden/terminal 120x40 $TACHO overview --stable --lang zh sample.pt.trace.json.gz
