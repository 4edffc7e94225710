# an export of Nsight Systems: two processes, steps, operators and modules from NVTX; what is not read is named
$TACHO info --stable nsight/training.sqlite.gz 2>&1 | grep -v store_bytes
$TACHO steps --stable --table steps --format csv nsight/training.sqlite.gz
$TACHO operators --stable --format csv nsight/training.sqlite.gz
$TACHO kernels --stable --format csv nsight/training.sqlite.gz
$TACHO modules --stable --format csv nsight/training.sqlite.gz
$TACHO overview --stable --table breakdown --format csv nsight/training.sqlite.gz
# cut, plain: what is left is read, what is lost is counted
zcat nsight/training.sqlite.gz | head -c 20000 >$TMP/cut.sqlite
for worker in cut.4000 cut.4001; do
    $TACHO info --stable --table events --format csv $TMP/cut.sqlite --worker $worker 2>&1
done
# plain: the same workers
zcat nsight/training.sqlite.gz >$TMP/training.sqlite
$TACHO info --stable --table workers --format csv $TMP/training.sqlite
$TACHO distributed --stable --table devices --format csv $TMP/training.sqlite
