$TACHO advise mindspore_cluster --all-workers --stable --lang zh
