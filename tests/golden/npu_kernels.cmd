$TACHO kernels torch_npu --stable --group-by launch
