$TACHO advise mindspore_raw --stable --lang zh
