# threads that do nothing in the steps change nothing, whether they are few or many
cd $TMP; python3 - <<'END'
import json, os
def trace(name, slow, idle):
    events = []
    for s in range(6):
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{s}", "pid": 1, "tid": 1, "ts": 1000 + s * 1000, "dur": 990})
        for t in (1, 2, 3):
            for k in range(5):
                n = len(events)
                ts = 1010 + s * 1000 + k * 150 + t * 7
                events.append({"ph": "X", "cat": "cpu_op", "name": f"aten::op{k}", "pid": 1, "tid": t, "ts": ts, "dur": 60 + slow * (k == 3), "args": {"External id": n}})
                events.append({"ph": "X", "cat": "cpu_op", "name": "aten::inner", "pid": 1, "tid": t, "ts": ts + 5, "dur": 20, "args": {"External id": n + 1}})
                if t == 1:
                    events.append({"ph": "X", "cat": "kernel", "name": f"k{k}", "pid": 0, "tid": 7, "ts": ts + 70, "dur": 50 + slow * (k == 3), "args": {"External id": n, "correlation": n, "device": 0, "stream": 7}})
    events += [{"ph": "X", "cat": "cpu_op", "name": "aten::idle", "pid": 1, "tid": 100 + i, "ts": 10 + i, "dur": 3} for i in range(idle)]
    json.dump({"schemaVersion": 1, "traceEvents": events}, open(name, "w"))
for idle in (2, 200):
    os.makedirs(f"{idle}/r")
    trace(f"{idle}/r/a.json", 0, idle)
    trace(f"{idle}/r/b.json", 40, idle)
END
for n in 2 200; do cd $TMP/$n/r; $TACHO diff a.json b.json --json --stable --no-cache | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["tables"], indent=1))' > $TMP/$n.out; done; cd $TMP
wc -l < 2.out; grep -c "aten::op3" 2.out; cmp 2.out 200.out && echo the same
