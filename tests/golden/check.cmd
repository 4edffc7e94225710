# A run held against itself, another program, limits alone, a baseline; the reports
$TACHO check sample.pt.trace.json.gz sample.pt.trace.json.gz -q --stable --limit 3
$TACHO check sample.pt.trace.json.gz flops.pt.trace.json.gz -q --stable --table checks --format csv; echo "exit $?"
printf '# limits\nstep < 1 us; kernels.rows < 2000\noperators[name="aten::mm"].calls per step <= 100\nmfu >= 1 %%\n' > $TMP/limits
$TACHO check sample.pt.trace.json.gz --budget $TMP/limits --junit $TMP/out.xml --markdown - --annotations -q; echo "exit $?"
cat $TMP/out.xml
$TACHO check sample.pt.trace.json.gz --require 'step < 1 min' --lang zh -q --stable --table checks
$TACHO baseline sample.pt.trace.json.gz -o $TMP/base.tacho --commit 0123abc -q && $TACHO check $TMP/base.tacho sample.pt.trace.json.gz --table checks --format csv -q
$TACHO check $TMP/base.tacho flops.pt.trace.json.gz --strict --table checks --format csv -q; echo "exit $?"
printf 'step <\n' > $TMP/bad; cd $TMP; $TACHO check base.tacho base.tacho --budget bad; echo "exit $?"
$TACHO check base.tacho; echo "exit $?"
$TACHO check base.tacho --require 'step <= +5 %' --stable | head -1; $TACHO check base.tacho --require 'step <= +5 %; step < 1 min' --stable | head -1; $TACHO check base.tacho --require 'step <= +5 %' --strict -q >/dev/null; echo "exit $?"
$TACHO baseline base.tacho; echo "exit $?"
head -c 4000 base.tacho > cut.tacho; $TACHO check cut.tacho base.tacho; echo "exit $?"
