$TACHO hang flight_recorder --stable; $TACHO hang flight_recorder --stable --lang zh | head -2
