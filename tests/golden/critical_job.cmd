# of several ranks: the job; changes that need events need one worker
$TACHO critical --stable mindspore_cluster
$TACHO critical --stable mindspore_cluster --lang zh --table by_kind
$TACHO critical --stable mindspore_cluster --worker 0 --table by_kind | head -1
$TACHO whatif --stable mindspore_cluster --no-stragglers --network 2
$TACHO whatif --stable mindspore_cluster --rank 1=2 --lang zh --table whatif
$TACHO whatif --stable mindspore_cluster --no-sync
$TACHO whatif --stable mindspore_cluster --rank 9
$TACHO whatif --stable mindspore_cluster --network latency=2
$TACHO whatif --stable sample.pt.trace.json.gz --balance-stages
