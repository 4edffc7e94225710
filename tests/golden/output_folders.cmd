# -o DIR/ makes the folder and those above it; report and baseline have a name without -o and never write over a file nobody named.
D=$PWD; T=$D/minimal.pt.trace.json; cd "$TMP" && mkdir w && cd w
for f in chrome perfetto csv stacks speedscope tacho memory_flow.svg svg chakra; do $TACHO export $T --to $f -o "out/$f/" 2>/dev/null || $TACHO export $T --to $f -o "out/$f/"; done
$TACHO export $T --to arrow --table slice -o out/slice/; $TACHO export $D/two_ranks --all-workers --to chakra -o out/ranks/
$TACHO report $T -q && $TACHO report $T -q; $TACHO report $D/two_ranks -o out/html/ -q
GITHUB_SHA= CI_COMMIT_SHA= $TACHO baseline $T -q; $TACHO baseline $T --commit 0123456789abcdef -o history/ -q; $TACHO baseline $T --commit main -o history/ -q
$TACHO reduce $D/two_ranks -o sums/ -q; $TACHO check $T --require 'step < 1 s' --junit reports/ --markdown reports/ -q >/dev/null
$TACHO report $T -o minimal.html/x/; echo $?; find . -type f | sort
