# a reader that has enough is no error
$TACHO operators --group-by name+shape --json sample.pt.trace.json.gz | head -c 20
echo " ${PIPESTATUS[0]}"
