../golden/terminal 80x40 $TACHO modules --stable --color never sample.pt.trace.json.gz
