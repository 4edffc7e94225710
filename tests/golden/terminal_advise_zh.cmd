# Words of ours are Chinese on a terminal; in a pipe values are those of JSON.
NO_COLOR=1 ../golden/terminal 100x40 $TACHO advise --stable --lang zh sample.pt.trace.json.gz; NO_COLOR=1 ../golden/terminal 100x40 $TACHO info --stable --lang zh sample.pt.trace.json.gz | head -12
$TACHO overview --stable --lang zh --table breakdown sample.pt.trace.json.gz | head -5
