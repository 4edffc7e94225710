# a tracer that somebody wrote on CUPTI: no categories, its own words; copies and kernels are device work
$TACHO overview --stable own_tracer.json | head -14
$TACHO overview --stable --lang zh own_tracer.json | head -1
$TACHO advise --stable own_tracer.json | head -1
$TACHO kernels --stable --format csv own_tracer.json
