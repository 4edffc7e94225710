# a time without a unit is nanoseconds: the answer of operators_window
$TACHO operators --stable --from 20000000 --to 30000000 --sort calls --limit 5 sample.pt.trace.json.gz
