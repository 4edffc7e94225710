$TACHO lines --stable sample.pt.trace.json.gz --by stack --stack nowhere.py:1
