# the report of Paddle itself, from a trace file
$TACHO summary --style paddle --time-unit us --sorted-by GPUTotal --worker host_apid_4001 paddle
$TACHO summary --style paddle --views OverView,UDFView --thread-sep --op-detail no --lang zh --worker names paddle
