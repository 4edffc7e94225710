$TACHO critical --stable sample.pt.trace.json.gz --table by_kind
$TACHO critical --stable sample.pt.trace.json.gz --table by_name --limit 8
$TACHO critical --stable sample.pt.trace.json.gz --step 4 --json --table path --limit 3
$TACHO critical --stable sample.pt.trace.json.gz --table by_line
$TACHO critical --stable sample.pt.trace.json.gz --table by_module --limit 3
$TACHO critical --stable sample.pt.trace.json.gz --table slack --limit 3
