# a log folder: the only run, the first worker, the last span; an error that lists them
mkdir -p $TMP/logs/a $TMP/logs/b
for w in w1.1 w1.20 w1.3 w0.5; do cp minimal.pt.trace.json $TMP/logs/a/$w.pt.trace.json; done
cp minimal.pt.trace.json $TMP/logs/b/w.pt.trace.json
cd $TMP
$TACHO kernels --stable logs
echo "exit $?"
$TACHO kernels --stable logs --run a | tail -3
$TACHO kernels --stable --logdir logs --run a --worker w1 | tail -3
$TACHO kernels --stable logs/a --worker w1 --span 2 --format json | head -1
$TACHO kernels logs --run c
echo "exit $?"
