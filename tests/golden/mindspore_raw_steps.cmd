$TACHO steps mindspore_raw --stable --format csv --table steps
