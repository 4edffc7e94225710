cd $TMP; mkdir r; printf '\x80\x04]\x94(K\x01K\x02e.' >r/w1.pickle; head -c 300 "$OLDPWD"/minimal.pt.trace.json >r/w2.pt.trace.json
$TACHO info r/w1.pickle; $TACHO info r/w1.pickle --lang zh; $TACHO diff r/w2.pt.trace.json r/w1.pickle
$TACHO operators --memory-limit 1 r/w2.pt.trace.json; echo $?
