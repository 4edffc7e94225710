# a file of format version 1 is read for ever, whatever columns came later
$TACHO export format_v1.tacho --to chrome
$TACHO export format_v1.tacho --to csv
