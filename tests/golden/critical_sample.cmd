$TACHO critical --stable sample.pt.trace.json.gz --table kinds
$TACHO critical --stable sample.pt.trace.json.gz --table names --limit 8
$TACHO critical --stable sample.pt.trace.json.gz --step 4 --json --table path --limit 3
