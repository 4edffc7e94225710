$TACHO overview torch_npu --stable
