# replays of a graph by the operators and modules of its capture, which is in another trace; one that differs; without the capture; a trace without graphs
$TACHO graphs --stable graphs/server.pt.trace.json graphs/capture.pt.trace.json
$TACHO graphs --stable --lang zh --table parts --limit 2 graphs/server.pt.trace.json graphs/capture.pt.trace.json
$TACHO graphs --stable --step 2 --other-step all --table graphs graphs/server.pt.trace.json graphs/capture.pt.trace.json
$TACHO graphs --stable --table graphs --limit 1 graphs/server.pt.trace.json
$TACHO graphs --stable minimal.pt.trace.json | head -1
