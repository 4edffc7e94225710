$TACHO operators mindspore_tasks --group-by name+shape --table operators --format csv --stable --no-cache
