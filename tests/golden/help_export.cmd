$TACHO export -h
