# the path from rank to rank: rank 1 comes last to the collective, rank 0 ends the step
$TACHO critical --stable two_ranks
$TACHO critical --stable two_ranks --step 1 --table legs,by_rank --lang zh
$TACHO critical --stable two_ranks --step 1 --table path --json
$TACHO critical --stable two_ranks --worker 0 --table by_kind
