for trace in sample.pt.trace.json.gz minimal.pt.trace.json phases.json memory_snapshot.pickle mindspore_cluster mindspore_input \
    mindspore_raw paddle format_v1.tacho recording_v1.tacho.gz; do
    for command in info operators kernels overview steps memory modules pipeline distributed advise summary; do
        ../golden/terminal --check 80x40 $TACHO $command -q $trace 2>/dev/null
        ../golden/terminal --check 60x24 $TACHO $command -q --lang zh $trace 2>/dev/null
    done
    ../golden/terminal --check 200x50 $TACHO overview -q $trace
done
