FP_POINT=Default/Cast-op6 $TACHO steps mindspore_cluster --worker rank0
