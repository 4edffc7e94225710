$TACHO pipeline mindspore_tasks --table dataset_stages --format csv --stable --no-cache
