# an export of Nsight Systems: two processes, steps, operators and modules from NVTX; what is not read is named
$TACHO info --stable nsight/training.sqlite.gz 2>&1 | grep -v store_bytes
$TACHO steps --stable --table steps --format csv nsight/training.sqlite.gz
$TACHO operators --stable --format csv nsight/training.sqlite.gz
$TACHO kernels --stable --format csv nsight/training.sqlite.gz
$TACHO modules --stable --format csv nsight/training.sqlite.gz
$TACHO overview --stable --table breakdown --format csv nsight/training.sqlite.gz
# cut, plain: what is left is read, what is lost is counted
zcat nsight/training.sqlite.gz | head -c 20000 >$TMP/cut.sqlite
$TACHO info --stable --table events --format csv $TMP/cut.sqlite 2>&1
