# What a profiler had added up itself has a verdict, too, in both languages
$TACHO operators mindspore_raw -q --stable | head -1; $TACHO operators mindspore_tasks -q --stable --lang zh | head -1
