# A file without events cannot be used: status 2, but info says what it is; hang needs dumps.
cd "$TMP"; echo '[]' > list.json; printf '{"traceEvents":[' > cut.json; printf '{"traceEvents":[]}' > object.json
for f in list cut object; do for c in info overview operators advise summary hang top 'export --to csv' 'check --require step<1s'; do $TACHO $c $f.json -q >/dev/null; echo "$f $c: $?"; done; done
$TACHO query list.json 'SELECT 1'; echo $?; $TACHO overview list.json --lang zh; cd "$OLDPWD"; $TACHO hang sample.pt.trace.json.gz --stable; echo $?
