$TACHO info recording_v1.tacho.gz --stable
