# Triton's request trace: twelve requests, one computed at a time, four times too many of them
$TACHO overview --stable serving/queued.json 2>&1 | head -1
$TACHO overview --stable --lang zh serving/queued.json 2>&1 | head -1
$TACHO overview --stable --table user_events --format csv serving/queued.json
$TACHO advise --stable serving/queued.json
$TACHO operators --stable serving/queued.json
