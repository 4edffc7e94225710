# one string of 300 MB in 300 KB of gzip: neither the memory nor the limit is passed
{
    printf '{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":1,"name":"'
    head -c 300000000 /dev/zero | tr '\0' a
    printf '"},{"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":5,"dur":1,"name":"b"}]}'
} | gzip -1 > $TMP/bomb.json.gz
(ulimit -v 1000000; $TACHO operators --stable --no-cache --threads 1 $TMP/bomb.json.gz 2>&1 | grep -o "not valid JSON\|out of memory")
(cd $TMP; ulimit -v 450000; $TACHO info --stable --no-cache --threads 1 --memory-limit 100MB bomb.json.gz 2>&1)
