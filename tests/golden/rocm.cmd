# rocprofv3: the same training as JSON and as a database; a folder with both has two runs
for f in rocm/training_results.json.gz rocm/training_results.db.gz; do
$TACHO info --stable $f 2>&1 | grep -v 'store_bytes\|input_bytes'
$TACHO steps --stable --table steps --format csv $f
$TACHO kernels --stable --format csv $f
$TACHO overview --stable --table breakdown --format csv $f
done
$TACHO info --stable rocm --run rocm/sqlite --table runs --format csv 2>&1 | cut -d, -f2- | sort
# cut: what is left is read
zcat rocm/training_results.json.gz | head -c 6000 | $TACHO info --stable --table events --format csv - 2>&1
