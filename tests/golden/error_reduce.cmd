cd $TMP && mkdir logs && echo nothing > logs/a.pt.trace.json && $TACHO reduce logs; $TACHO reduce logs -o run.tacho; ls
