../golden/terminal 120x40 $TACHO steps --stable --all --color never sample.pt.trace.json.gz
