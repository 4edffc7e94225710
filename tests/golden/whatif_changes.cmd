$TACHO whatif --stable sample.pt.trace.json.gz --batch 2 --unprofiled --table whatif
$TACHO whatif --stable sample.pt.trace.json.gz --network 2
$TACHO whatif --stable sample.pt.trace.json.gz --network faster
$TACHO whatif --stable sample.pt.trace.json.gz --batch 2 --lang zh
