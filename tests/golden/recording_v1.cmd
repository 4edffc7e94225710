$TACHO operators recording_v1.tacho.gz --stable --limit 0 --format csv
