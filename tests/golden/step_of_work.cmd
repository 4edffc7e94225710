# one definition of the step of device work: kernels, SQL and the CSV export agree
t=step_of_work.json
for step in 1 2; do
    echo "kernels --step $step: $($TACHO kernels $t --step $step --format csv | cut -d, -f1 | sed 1d | xargs)"
    echo "query --step $step: $($TACHO query $t --step $step 'select name from kernels' --format csv | sed 1d | xargs)"
    echo "query step = $step: $($TACHO query $t "select name from slice where kind = 'kernel' and step = $step" --format csv | sed 1d | xargs)"
done
$TACHO export $t --to csv -o $TMP/x.csv -q
head -1 $TMP/x.csv
grep ,kernel, $TMP/x.csv
