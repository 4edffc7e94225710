$TACHO advise mindspore_raw --stable
