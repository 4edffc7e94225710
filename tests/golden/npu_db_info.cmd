$TACHO info torch_npu_db --stable --worker rank1
