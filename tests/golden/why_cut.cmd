# A file that is cut before its device's half: no question speaks of the device as if it had none
head -c 60000 sample.pt.trace.json.gz > $TMP/cut.pt.trace.json.gz
for q in critical idle roofline kernels overview; do $TACHO $q $TMP/cut.pt.trace.json.gz -q --stable | head -2; done
