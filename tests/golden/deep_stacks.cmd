# 64,000 frames inside each other: memory does not grow with the square of the depth
awk 'BEGIN {
    n = 64000
    printf "{\"schemaVersion\":1,\"traceEvents\":["
    for (k = 0; k < n; k++)
        printf "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"f%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d}\n",
            k ? "," : "", k % 2 ? "cpu_op" : "python_function", k % 50, k, 2 * n - 2 * k
    print "]}"
}' > $TMP/deep.json
ulimit -v 700000
$TACHO operators --stable --no-cache --threads 1 --group-by name+stack --json $TMP/deep.json > $TMP/out.json || exit
grep -o '…' $TMP/out.json | sort -u
grep -o '"calls"' $TMP/out.json | sort -u
