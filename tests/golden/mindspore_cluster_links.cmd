$TACHO distributed mindspore_cluster --all-workers --stable --step 2 --format csv --table links
