printf '.help\n.schema step\nSELECT count(*) AS n FROM slice;\nSELECT 1 AS a; SELECT 2\n AS b;\n.quit\n.nothing\n' | $TACHO query minimal.pt.trace.json --stable
printf '.tables\n.schema kernel\n' | $TACHO query minimal.pt.trace.json --json | head -c 90; echo
