$TACHO advise --stable --lang zh paddle/host_apid_4001_time_2024_01_02_03_04_05_000006.paddle_trace.json
