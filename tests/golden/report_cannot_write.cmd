T=$PWD && cd $TMP && mkdir folder && $TACHO report $T/minimal.pt.trace.json -q -o folder && ls folder; $TACHO report $T/minimal.pt.trace.json -q -o /nowhere/r.html
