$TACHO query --stable --step 2 --format csv sample.pt.trace.json.gz "SELECT step, kind, count(*) AS n, sum(bytes) AS moved_bytes FROM kernel GROUP BY step, kind"
