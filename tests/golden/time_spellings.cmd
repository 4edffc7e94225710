# every spelling of one time, at every option that takes one: one answer each
ask() { $TACHO "$@" --stable -q sample.pt.trace.json.gz | cksum; }
for t in 20000000 20000000ns 20000us 20ms .02s; do ask kernels --from $t; done | sort | uniq -c | awk '{print $1}'
for t in 20000000 20ms; do ask memory --at $t; done | sort | uniq -c | awk '{print $1}'
for t in 20000000 20ms; do $TACHO export -q --to csv --from 10000000 --until $t sample.pt.trace.json.gz | cksum; done | sort | uniq -c | awk '{print $1}'
