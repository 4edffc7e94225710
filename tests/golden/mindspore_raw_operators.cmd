$TACHO operators mindspore_raw --stable --format csv --table operators
