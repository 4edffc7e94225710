# what we export, we read back: the same operators and kernels
$TACHO export sample.pt.trace.json.gz --to chrome -o $TMP/out.json
for a in operators kernels; do
    $TACHO $a --stable --format csv sample.pt.trace.json.gz >$TMP/a
    $TACHO $a --stable --format csv $TMP/out.json >$TMP/b
    cmp $TMP/a $TMP/b && echo $a: the same
done
