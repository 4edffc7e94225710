$TACHO overview --stable --worker host_apid_4001 paddle
