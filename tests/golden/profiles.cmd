# speedscope's JSON, sampled and evented, and folded stacks; what tacho writes it reads
for f in profiles/train.speedscope.json profiles/train.folded.txt; do
$TACHO overview --stable $f 2>&1 | head -1
$TACHO info --stable $f 2>&1 | grep -v bytes
$TACHO advise --stable --lang zh $f
done
$TACHO query --stable --format csv profiles/train.speedscope.json 'select name, start, dur, depth from slice order by track, start, depth'
$TACHO export --to speedscope sample.pt.trace.json.gz -o - | $TACHO overview --stable - | head -1
