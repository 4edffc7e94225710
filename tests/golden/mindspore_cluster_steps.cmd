$TACHO distributed mindspore_cluster --all-workers --stable --format csv --table cluster_steps
