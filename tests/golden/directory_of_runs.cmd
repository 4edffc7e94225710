# a log folder: the newest run, the first worker, the last span; an error that lists them
mkdir -p $TMP/logs/a $TMP/logs/b
for w in w1.1 w1.20 w1.3 w0.5; do cp minimal.pt.trace.json $TMP/logs/a/$w.pt.trace.json; done
cp minimal.pt.trace.json $TMP/logs/b/w.pt.trace.json
touch -d 2026-11-01 $TMP/logs/b/*
touch -d 2026-11-02 $TMP/logs/a/*
cd $TMP
$TACHO kernels --stable logs | tail -3
echo "exit $?"
$TACHO kernels --stable --quiet logs --run 1 | tail -3
$TACHO kernels --stable logs --run a | tail -3
$TACHO kernels --stable --logdir logs --run a --worker w1 | tail -3
$TACHO kernels --stable logs/a --worker w1 --span 2 --format json | head -1
$TACHO info --stable logs --run a --table runs --format csv
$TACHO kernels logs --run c
echo "exit $?"
# a stamp that is a time counts more than when the file was changed
cp logs/a/w0.5.pt.trace.json logs/b/w.1793923200000.pt.trace.json
TZ=UTC $TACHO info --stable --quiet logs --table runs --format csv
TZ=UTC $TACHO kernels logs --run c
# traces that are no ranks: the newest first
cp logs/a/w0.5.pt.trace.json logs/b/v.1793836800000.pt.trace.json
$TACHO kernels --stable logs/b | tail -3
