# a file of ours and a cached trace keep to the limit, too; what needs few tables is answered
$TACHO export --to tacho -q sample.pt.trace.json.gz -o $TMP/s.tacho
cp sample.pt.trace.json.gz $TMP/c.pt.trace.json.gz && touch -d '1 hour ago' $TMP/c.pt.trace.json.gz
cd $TMP
$TACHO kernels -q c.pt.trace.json.gz >/dev/null
$TACHO kernels -q --memory-limit 100kB s.tacho; echo "exit $?"
$TACHO kernels -q --memory-limit 100kB c.pt.trace.json.gz; echo "exit $?"
$TACHO info -q --memory-limit 100kB s.tacho | head -3
