# the path from rank to rank: rank 1 comes last to the collective, rank 0 ends the step
$TACHO critical --stable two_ranks
$TACHO critical --stable two_ranks --step 1 --table legs,by_rank --lang zh
$TACHO critical --stable two_ranks --step 1 --table path --json
$TACHO critical --stable two_ranks --worker 0 --table by_kind
$TACHO whatif --stable two_ranks --scale 'kernel:gemm*=0.5' --no-stragglers --network 2 --rank 1=0.5
$TACHO whatif --stable two_ranks --no-sync --no-bubbles --balance-stages --lang zh --table whatif
$TACHO whatif --stable two_ranks --remove kernel:nothing
