$TACHO info torch_npu --stable --worker rank1
