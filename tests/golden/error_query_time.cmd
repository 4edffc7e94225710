$TACHO query --limit-time 20ms minimal.pt.trace.json "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
