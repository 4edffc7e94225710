# Perfetto's protobuf: a training by rocprofv3, as in its JSON; a program with threads, counters and arrows
$TACHO info --stable perfetto/rocm.pftrace.gz 2>&1 | grep -v 'store_bytes\|input_bytes'
$TACHO steps --stable --table steps --format csv perfetto/rocm.pftrace.gz
$TACHO kernels --stable --format csv perfetto/rocm.pftrace.gz
$TACHO overview --stable --table breakdown --format csv perfetto/rocm.pftrace.gz
$TACHO info --stable perfetto/threads.pftrace 2>&1 | grep -v 'store_bytes\|input_bytes'
$TACHO export --to csv perfetto/threads.pftrace -o -
# cut: what is left is read
zcat perfetto/rocm.pftrace.gz | head -c 3000 | $TACHO info --stable --table events --format csv - 2>&1
# there and back: the same kernels, operators and steps
mkdir "$TMP/there"
$TACHO export --to perfetto sample.pt.trace.json.gz -o "$TMP/there/sample.pftrace"
for a in kernels operators steps modules; do
$TACHO $a --format csv sample.pt.trace.json.gz > "$TMP/a"; $TACHO $a --format csv "$TMP/there/sample.pftrace" > "$TMP/b"
cmp "$TMP/a" "$TMP/b" && echo "$a: the same"
done
