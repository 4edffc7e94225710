$TACHO critical --stable stream_wait.json --table path
