# plain, gzip, zstd, pipe, sealed file, any number of threads, from the cache: the same answer
want=$($TACHO operators --stable --json --threads 1 --no-cache sample.pt.trace.json.gz | tail -n +2 | md5sum)
same() { [ "$(tail -n +2 | md5sum)" = "$want" ] && echo "$1: the same" || echo "$1: differs"; }
zcat sample.pt.trace.json.gz >$TMP/sample.pt.trace.json
zstd -q $TMP/sample.pt.trace.json -o $TMP/sample.pt.trace.json.zst
$TACHO export $TMP/sample.pt.trace.json --to tacho -o $TMP/sample.tacho
$TACHO operators --stable --json --threads 2 $TMP/sample.pt.trace.json | same plain
$TACHO operators --stable --json $TMP/sample.pt.trace.json.zst | same zstd
cat sample.pt.trace.json.gz | $TACHO operators --stable --json - | same pipe
$TACHO operators --stable --json $TMP/sample.tacho | same tacho
touch -d '1 minute ago' $TMP/sample.pt.trace.json
for i in 1 2 3; do $TACHO operators --stable --json $TMP/sample.pt.trace.json | same "cached $i"; done
