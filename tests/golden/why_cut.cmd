# A file that is cut before its device's half: no question answers as if it were whole
head -c 60000 sample.pt.trace.json.gz > $TMP/cut.pt.trace.json.gz
for q in critical idle roofline kernels overview operators memory modules steps pipeline distributed; do $TACHO $q $TMP/cut.pt.trace.json.gz -q --stable | head -2; done
# One rank of two: both are said to be the input
mkdir $TMP/job && cp $TMP/cut.pt.trace.json.gz $TMP/job/rank0.pt.trace.json.gz && cp sample.pt.trace.json.gz $TMP/job/rank1.pt.trace.json.gz
$TACHO operators $TMP/job -q --stable --all-workers | grep cut
