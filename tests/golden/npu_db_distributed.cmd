$TACHO distributed torch_npu_db --stable
