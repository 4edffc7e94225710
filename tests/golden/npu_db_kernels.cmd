$TACHO kernels torch_npu_db --group-by launch --stable --worker rank1
