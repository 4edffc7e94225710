# A folder of baselines; too few of them; what is not one
mkdir $TMP/logs && for i in 1 2 3 4 5; do $TACHO baseline sample.pt.trace.json.gz -o $TMP/logs/c$i.tacho --commit 012345678$i -q; done
$TACHO history $TMP/logs -q --stable
$TACHO history $TMP/logs -q --format csv --table points
$TACHO history $TMP/logs/c1.tacho -q --lang zh --stable --table points
$TACHO history minimal.pt.trace.json; echo "exit $?"
$TACHO history $TMP/logs --min-change much; echo "exit $?"
