cd $TMP; printf '\x80\x04]\x94(K\x01K\x02e.' >x.pickle; $TACHO info x.pickle
