LC_ALL=C ../golden/terminal 60x40 $TACHO memory --stable --color never sample.pt.trace.json.gz
