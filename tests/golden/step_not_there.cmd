T=sample.pt.trace.json.gz
for c in info overview operators kernels idle critical whatif steps memory modules pipeline distributed advise roofline hang summary top; do $TACHO $c $T --step 99 || echo "$c $?"; done 2>&1
$TACHO overview $T --step -1; $TACHO overview $T --step 7..9 --lang zh; $TACHO overview phases.json --step 3
$TACHO diff $T@99 $T; $TACHO diff $T $T@7..; $TACHO check $T $T --step 99; $TACHO baseline $T -o "$TMP/b.tacho" --step 99
$TACHO query $T 'SELECT 1' --step 99; $TACHO query $T "SELECT * FROM operators WHERE in_steps = '99'"; $TACHO export $T --to csv --step 99
$TACHO overview $T --from 2s; $TACHO export $T --to csv --from 2s; $TACHO report $T -o "$TMP/r.html" --detail 99 -q
$TACHO steps $T --step 3..99 --stable | tail -1; $TACHO steps $T --to 2s --stable --lang zh | tail -1
