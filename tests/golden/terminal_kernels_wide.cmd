../golden/terminal 200x50 $TACHO kernels --stable --limit 5 --color never sample.pt.trace.json.gz
