# Two runs: the same one twice, two programs, and what is refused
$TACHO diff sample.pt.trace.json.gz sample.pt.trace.json.gz -q --stable --limit 3
$TACHO diff sample.pt.trace.json.gz flops.pt.trace.json.gz -q --stable --table causes --format csv
$TACHO diff sample.pt.trace.json.gz --other minimal.pt.trace.json -q --stable --table steps --lang zh
$TACHO diff sample.pt.trace.json.gz
$TACHO diff sample.pt.trace.json.gz minimal.pt.trace.json flops.pt.trace.json.gz
$TACHO diff sample.pt.trace.json.gz nowhere.json
$TACHO diff sample.pt.trace.json.gz@..2 sample.pt.trace.json.gz@3.. -q --stable --table steps
$TACHO diff sample.pt.trace.json.gz flops.pt.trace.json.gz --base-runs sample.pt.trace.json.gz,flops.pt.trace.json.gz -q --stable --table changes
$TACHO diff sample.pt.trace.json.gz flops.pt.trace.json.gz --other-step x -q
$TACHO baseline sample.pt.trace.json.gz -o $TMP/base.tacho --commit 0123abc -q && cd $TMP && $TACHO diff base.tacho base.tacho
