# folded stacks of a real trace: the most expensive places, by host and by device time
for v in host device; do
    $TACHO export sample.pt.trace.json.gz --to stacks --value $v >$TMP/stacks
    awk -v v=$v '{ sum += $NF } END { print v, NR, "stacks,", sum, "ns" }' $TMP/stacks
    sort -k 2nr $TMP/stacks | head -n 3
done
