: >$TMP/empty; cd $TMP; $TACHO info empty
