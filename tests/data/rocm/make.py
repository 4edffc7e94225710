#!/usr/bin/python3
"""Makes training_results.json.gz and training_results.db.gz: what rocprofv3 writes of a small training in its two
forms, the same events in both. make.py [FOLDER]; --corpus writes one step of each to the corpora of the fuzzer."""
import gzip
import json
import sqlite3
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
KERNELS = {1: "Cijk_Ailk_Bljk_BBS_BH_MT128x128x32_MI32x32x8.kd", 2: "void relu<float>(float*) [clone .kd]",
           3: "ncclDevKernel_Generic_1.kd"}
APIS = ["hipLaunchKernel", "hipMemcpyAsync", "hipGraphLaunch", "hipDeviceSynchronize"]


def events(steps):
    """(what, start, end, correlation, more) of every event; more: name, kernel or bytes."""
    found, ident = [], 0
    for step in range(steps):
        at = 5000000 + step * 1000000
        ident += 1
        found.append(("marker", at, at + 950000, ident, f"iteration {step}"))
        ident += 1
        found += [("call", at + 10000, at + 15000, ident, "hipMemcpyAsync"),
                  ("copy", at + 20000, at + 60000, ident, 1 << 20)]
        ident += 1
        found += [("call", at + 100000, at + 110000, ident, "hipLaunchKernel"),
                  ("kernel", at + 120000, at + 320000, ident, 1)]
        ident += 1
        found += [("call", at + 150000, at + 170000, ident, "hipGraphLaunch"),
                  ("kernel", at + 330000, at + 370000, ident, 2), ("kernel", at + 380000, at + 480000, ident, 3)]
        ident += 1
        found.append(("call", at + 200000, at + 500000, ident, "hipDeviceSynchronize"))
    return found


def make_json(steps):
    records = {"kernel_dispatch": [], "hip_api": [], "marker_api": [], "memory_copy": [], "memory_allocation": []}
    markers = []
    for what, start, end, ident, more in events(steps):
        row = {"start_timestamp": start, "end_timestamp": end, "thread_id": 908,
               "correlation_id": {"internal": ident, "external": 0}}
        if what == "kernel":
            row.update(stream_id={"handle": 1}, dispatch_info={
                "agent_id": {"handle": 10}, "queue_id": {"handle": 4}, "kernel_id": more, "group_segment_size": 1024,
                "workgroup_size": {"x": 256, "y": 1, "z": 1}, "grid_size": {"x": 65536, "y": 1, "z": 1}})
            records["kernel_dispatch"].append(row)
        elif what == "copy":
            row.update(kind=2, operation=1, bytes=more, dst_agent_id={"handle": 10}, src_agent_id={"handle": 9},
                       stream_id={"handle": 1})
            records["memory_copy"].append(row)
        elif what == "marker":
            row.update(kind=3, operation=0)
            records["marker_api"].append(row)
            markers.append({"key": ident, "value": more})
        else:
            row.update(kind=1, operation=APIS.index(more))
            records["hip_api"].append(row)
    records["memory_allocation"].append({"kind": 4, "operation": 0, "start_timestamp": 4000000, "agent_id":
                                         {"handle": 10}, "address": "0x7f0000000000", "allocation_size": 1 << 30})
    strings = [{"kind": "NONE", "operations": []}, {"kind": "HIP_RUNTIME_API", "operations": APIS},
               {"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_DEVICE"]},
               {"kind": "MARKER_CORE_API", "operations": ["roctxRangePushA"]},
               {"kind": "MEMORY_ALLOCATION", "operations": ["MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION_FREE"]}]
    return json.dumps({"rocprofiler-sdk-tool": [{
        "metadata": {"node": {"hostname": "node1"}, "pid": 908, "command": ["python3", "train.py"]},
        "agents": [{"id": {"handle": 9}, "type": 1, "name": "EPYC"},
                   {"id": {"handle": 10}, "type": 2, "name": "gfx942", "product_name": "AMD Instinct MI300X",
                    "cu_count": 304, "wave_front_size": 64, "max_waves_per_simd": 8, "simd_per_cu": 4}],
        "kernel_symbols": [{"kernel_id": i, "formatted_kernel_name": name} for i, name in KERNELS.items()],
        "strings": {"buffer_records": strings, "marker_api": markers}, "buffer_records": records}]}).encode()


def make_database(path, steps):
    path.unlink(missing_ok=True)
    db, names = sqlite3.connect(path), {}
    db.execute("PRAGMA page_size=1024")
    for table, columns in (
            ("metadata", "tag, value"), ("string", "string"), ("info_process", "pid, command"),
            ("info_thread", "pid, tid, name"), ("info_agent", "type, name, product_name"),
            ("info_kernel_symbol", "kernel_name, display_name"), ("event", "category_id, stack_id"),
            ("region", "pid, tid, start, end, name_id, event_id"),
            ("kernel_dispatch", "pid, tid, agent_id, queue_id, stream_id, start, end, kernel_id, event_id, grid_size_x, "
             "grid_size_y, grid_size_z, workgroup_size_x, workgroup_size_y, workgroup_size_z, group_segment_size"),
            ("memory_copy", "pid, tid, start, end, dst_agent_id, src_agent_id, size, stream_id, event_id"),
            ("memory_allocate", "pid, agent_id, start, end, type, level, address, size")):
        db.execute(f"CREATE TABLE rocpd_{table}_0a1b(id INTEGER PRIMARY KEY, {columns})")

    def add(table, *values):
        marks = ",".join("?" * len(values))
        return db.execute(f"INSERT INTO rocpd_{table}_0a1b VALUES(NULL,{marks})", values).lastrowid

    def name(text):
        if text not in names:
            names[text] = add("string", text)
        return names[text]

    add("metadata", "schema_version", "3")
    process = add("info_process", 908, "python3")
    thread = add("info_thread", process, 908, "main")
    cpu, gpu = add("info_agent", "CPU", "EPYC", ""), add("info_agent", "GPU", "gfx942", "AMD Instinct MI300X")
    for kernel in KERNELS.values():
        add("info_kernel_symbol", kernel, kernel)
    for what, start, end, ident, more in events(steps):
        category = {"marker": "MARKER_CORE_API", "call": "HIP_RUNTIME_API_EXT"}.get(what, "KERNEL_DISPATCH")
        event = add("event", name(category), ident)
        if what == "kernel":
            add("kernel_dispatch", process, thread, gpu, 4, 1, start, end, more, event, 65536, 1, 1, 256, 1, 1, 1024)
        elif what == "copy":
            add("memory_copy", process, thread, start, end, gpu, cpu, more, 1, event)
        else:
            add("region", process, thread, start, end, name(more), event)
    add("memory_allocate", process, gpu, 4000000, 4000010, "ALLOC", "REAL", 0x7f0000000000, 1 << 30)
    db.commit()
    db.execute("VACUUM")
    db.close()


def pack(path, data):
    with gzip.GzipFile(path, "wb", mtime=0) as out:
        out.write(data)


if __name__ == "__main__":
    if "--corpus" in sys.argv:
        corpus = HERE.parents[1] / "fuzz/corpus"
        (corpus / "rocm_json/training.json").write_bytes(make_json(1))
        make_database(corpus / "rocpd/training.db", 1)
    else:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else HERE)
        pack(folder / "training_results.json.gz", make_json(4))
        make_database(folder / "x.db", 4)
        pack(folder / "training_results.db.gz", (folder / "x.db").read_bytes())
        (folder / "x.db").unlink()
