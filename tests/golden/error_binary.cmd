head -c 100 /bin/true >$TMP/program; cd $TMP; $TACHO info program
