$TACHO hang flight_recorder/nccl_trace_rank_0 flight_recorder/nccl_trace_rank_3 --stable
