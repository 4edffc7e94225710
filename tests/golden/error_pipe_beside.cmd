# a pipe or a device among the files of a run is named and not waited for; one that the user names is read
cp -r mindspore_cluster $TMP/run
rm $TMP/run/hccl_raw_0.csv && mkfifo $TMP/run/hccl_raw_0.csv
cp -r execution_trace $TMP/joined
rm $TMP/joined/rank0_et.json.gz && ln -s /dev/zero $TMP/joined/rank0_et.json.gz
mkfifo $TMP/named && (cat minimal.pt.trace.json >$TMP/named &)
cd $TMP
timeout 20 $TACHO info --no-cache run; echo "exit $?"
timeout 20 $TACHO info --no-cache run --lang zh; echo "exit $?"
timeout 20 $TACHO info --no-cache joined; echo "exit $?"
timeout 20 $TACHO kernels --no-cache --quiet named | head -1
