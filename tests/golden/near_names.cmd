T=sample.pt.trace.json.gz
$TACHO help overveiw; $TACHO operators $T --sort host_tota; $TACHO operators $T --sort bananas; $TACHO operators $T --table tpo
$TACHO overview two_ranks --worker rnak0; $TACHO overview two_ranks --worker 7; $TACHO overview . --run two_rank
$TACHO operators $T --format jsn; $TACHO operators $T --group-by shape; $TACHO export $T --to crome; $TACHO info $T --lang zn
$TACHO query $T 'SELECT nmae FROM kernel'; $TACHO query $T 'SELECT 1 FROM operatrs'; $TACHO query $T .shema
$TACHO summary $T --sort gpu_totl; $TACHO summary $T --style paddle --views Overview; $TACHO check $T --require 'memroy < 1 GiB'
$TACHO --versio; $TACHO operators $T --sort host_tota --lang zh; $TACHO operators $T --sort bananas --lang zh
