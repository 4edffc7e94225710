$TACHO idle --stable sample.pt.trace.json.gz --table causes
$TACHO idle --stable sample.pt.trace.json.gz --table details --limit 8
$TACHO idle --stable sample.pt.trace.json.gz --table gaps --limit 4
$TACHO idle --stable sample.pt.trace.json.gz --step 3 --lang zh --table steps
$TACHO idle --stable sample.pt.trace.json.gz --table streams -q
$TACHO idle --stable sample.pt.trace.json.gz --table queue -q
$TACHO idle --stable sample.pt.trace.json.gz --table copies -q
$TACHO idle --stable sample.pt.trace.json.gz --json --table launches --limit 3
