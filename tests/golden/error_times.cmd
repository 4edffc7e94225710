$TACHO memory --at noon minimal.pt.trace.json
$TACHO export --to csv --from 12 --until 1.5 minimal.pt.trace.json
$TACHO export --to csv --from 12us --until 12000 minimal.pt.trace.json
$TACHO record --flight 30 true
$TACHO operators --step 3 --from 12 minimal.pt.trace.json
$TACHO operators --sort calls:up --lang zh minimal.pt.trace.json
