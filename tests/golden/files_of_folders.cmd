# Files of several folders are several runs, as for the folder around them; one rank a file is one job; an export merges what it is given.
D=$PWD; cd "$TMP" && mkdir -p runs/a runs/b/deep job/host1 job/host2 && cp $D/minimal.pt.trace.json runs/a/x.json && cp $D/minimal.pt.trace.json runs/b/deep/y.json
touch -d 2026-11-05 runs/a/x.json; $TACHO info runs/*/*.json runs/*/*/*.json 2>&1 | sed -n '1p;/^runs$/,$p'; $TACHO overview runs/a/x.json runs/b/deep/y.json --stable 2>&1 | head -2; $TACHO overview runs/a/x.json runs/b/deep/y.json --run a --stable | head -1
cp $D/two_ranks/rank0*.json job/host1/ && cp $D/two_ranks/rank1*.json job/host2/ && $TACHO overview job/*/*.json --stable -q | tail -3 | head -1
$TACHO export runs/a/x.json runs/b/deep/y.json --to csv 2>/dev/null | wc -l
