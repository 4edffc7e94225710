# a server of our own that prefills in pieces, and its log: what each iteration and each request waits for
$TACHO serving --stable serving/chunked/server.pt.trace.json.gz --limit 4
$TACHO serving --stable --table iterations --limit 3 --format json serving/chunked/server.pt.trace.json.gz | tr -d '\n' | grep -o '"rows":.*' | cut -c1-300
$TACHO requests --stable serving/chunked/server.pt.trace.json.gz --limit 4
$TACHO requests --stable --lang zh serving/prefill_first/server.pt.trace.json.gz --table latency
$TACHO query --stable serving/prefill_first/server.pt.trace.json.gz "select id, arrival, first_token, output_tokens from request order by arrival limit 3"
# a log alone in a folder is a run
mkdir -p $TMP/alone && cp serving/chunked/requests.csv $TMP/alone/ && $TACHO requests --stable $TMP/alone --table load 2>&1 | head -1
# a log alone, by columns and by lines; Triton's own request trace; a trace without a server
$TACHO requests --stable serving/chunked/requests.csv --table latency
$TACHO requests --stable serving/prefill_first/requests.jsonl --limit 2
$TACHO requests --stable serving/queued.json --table latency
$TACHO requests --stable minimal.pt.trace.json 2>&1 | head -1
$TACHO serving --stable minimal.pt.trace.json 2>&1 | head -1
