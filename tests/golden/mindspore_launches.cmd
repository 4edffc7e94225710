$TACHO kernels mindspore_tasks --group-by name+op --table kernels --format csv --stable --no-cache
