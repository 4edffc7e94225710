# parts of operators; names that are no JSON; a worker by its name, a span by the number in its file
$TACHO operators --stable --table phases --format csv --worker host_apid_4001 --span 0 paddle
$TACHO overview --stable --table user_events --format csv --worker names paddle
