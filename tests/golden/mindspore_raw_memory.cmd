$TACHO memory mindspore_raw --stable --format csv --table curve
