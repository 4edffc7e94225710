cp minimal.pt.trace.json $TMP/x.json; cd $TMP; ln x.json same.json; cp x.json before
for what in "export x.json --to csv" "export x.json --to tacho" "report x.json" "reduce x.json"; do
    $TACHO $what -o same.json -q; echo $?; cmp x.json before
    $TACHO $what -o ./x.json -q; echo $?; cmp x.json before
done
ls
