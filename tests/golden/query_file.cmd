printf "SELECT 1 AS one;\nSELECT 2.5 AS two;\n" | $TACHO query --stable --file - minimal.pt.trace.json
