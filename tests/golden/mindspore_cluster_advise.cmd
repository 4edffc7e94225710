$TACHO advise mindspore_cluster --all-workers --stable
