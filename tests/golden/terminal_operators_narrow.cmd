../golden/terminal 60x40 $TACHO operators --stable --color never sample.pt.trace.json.gz
