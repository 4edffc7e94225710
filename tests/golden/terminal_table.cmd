../golden/terminal 80x40 $TACHO memory --stable --color never --table events sample.pt.trace.json.gz
