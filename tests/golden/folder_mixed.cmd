# a named trace does not hide others; what is passed over is counted, --quiet hides that
mkdir -p $TMP/run $TMP/foreign $TMP/empty
cp minimal.pt.trace.json $TMP/run/a.pt.trace.json
cp phases.json $TMP/run/b.json
echo hello >$TMP/run/notes.txt
printf 'NVR\0xxxx' >$TMP/run/k.ncu-rep
printf 'x' >$TMP/run/s.nsys-rep
printf 'x' >$TMP/foreign/s.nsys-rep
cd $TMP
$TACHO kernels --stable run | head -1
$TACHO kernels --stable run --quiet --worker b | head -1
$TACHO info --stable run --quiet --table passed --format csv
$TACHO info --stable run --quiet --table passed --format csv --lang zh | tail -1
$TACHO overview foreign; echo "exit $?"
$TACHO overview foreign/s.nsys-rep; echo "exit $?"
$TACHO overview foreign/s.nsys-rep --lang zh; echo "exit $?"
$TACHO overview empty; echo "exit $?"
$TACHO overview run/a.pt.trace.json run; echo "exit $?"
