$TACHO info flight_recorder --stable --worker 1; $TACHO hang sample.pt.trace.json.gz --stable
