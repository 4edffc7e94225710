# A path is its overview, with options before or after it, several files, standard input; a command wins over a file.
D=$PWD; cd "$TMP" && $TACHO $D/minimal.pt.trace.json --stable > a && $TACHO overview $D/minimal.pt.trace.json --stable > b && cmp a b
$TACHO --stable --json --table breakdown $D/minimal.pt.trace.json | head -c 60; echo
$TACHO - --stable < $D/minimal.pt.trace.json | tail -3 | head -1
$TACHO $D/two_ranks/rank*.json --stable -q | tail -1; $TACHO $D/two_ranks --stable -q | tail -1
cp $D/minimal.pt.trace.json info; $TACHO info; $TACHO ./info --stable | head -1
$TACHO nowhere.json; $TACHO inof; $TACHO frobnicate; $TACHO -h | head -1; $TACHO --lang zh --help | head -1; $TACHO --jsn
