# Reports and baselines never replace what they are made of, named or in the folder that is read
mkdir $TMP/run; cp minimal.pt.trace.json $TMP/run/a.pt.trace.json; printf 'step < 1 min\n' > $TMP/limits; cd $TMP
for words in "--junit run/a.pt.trace.json" "--markdown run/a.pt.trace.json" "--budget limits --junit limits"; do
  $TACHO check run/a.pt.trace.json --require 'step < 1 min' -q $words > /dev/null; echo "exit $?"
  $TACHO check run --require 'step < 1 min' -q $words > /dev/null; echo "exit $?"
done
$TACHO baseline run -o run/a.pt.trace.json -q; echo "exit $?"
$TACHO reduce run -o run/a.pt.trace.json -q; echo "exit $?"
head -c 20 limits run/a.pt.trace.json
$TACHO baseline run -o run/base.tacho -q && $TACHO baseline run -o run/base.tacho -q; echo "exit $?"
