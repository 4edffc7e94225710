#!/usr/bin/python3
"""Makes training.sqlite: what `nsys export --type sqlite` writes of a training of two processes, cut down to a few
rows of each table. make.py [FOLDER]; smaller ones for the fuzzer go to tests/fuzz/corpus/nsight with --corpus."""
import gzip
import sqlite3
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PIDS = (4000, 4001)


def process(pid):
    return 1 << 48 | pid << 24


def fill(db, steps):
    run = db.execute
    names = ["void gemm<(int)128, (bool)0>", "void <unnamed>::relu<float>", "cudaLaunchKernel_v7000",
             "cudaMemcpyAsync_v3020", "cudaDeviceSynchronize_v3020", "python3", "pthread_cond_wait",
             "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"]
    run("CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
    db.executemany("INSERT INTO StringIds VALUES(?,?)", enumerate(names))
    run("CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT)")
    db.executemany("INSERT INTO META_DATA_EXPORT VALUES(?,?)", [("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"),
                                                                  ("EXPORT_SCHEMA_VERSION", "3.25.0")])
    run("CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER)")
    run("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1790000000000000000)")
    run("CREATE TABLE TARGET_INFO_GPU(id,name,totalMemory,memoryBandwidth,clockRate,smCount,computeMajor,computeMinor,"
        "maxWarpsPerSm,threadsPerWarp)")
    db.executemany("INSERT INTO TARGET_INFO_GPU VALUES(?,'NVIDIA H100',85899345920,3350000000000,1980000000,132,9,0,"
                   "64,32)", [(0,), (1,)])
    run("CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId,cudaId,pid)")
    db.executemany("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(?,0,?)", enumerate(PIDS))
    run("CREATE TABLE PROCESSES(globalPid,pid,name)")
    run("CREATE TABLE ThreadNames(nameId,globalTid)")
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,contextId,streamId,correlationId,globalPid,"
        "demangledName,registersPerThread,gridX,gridY,gridZ,blockX,blockY,blockZ,staticSharedMemory,"
        "dynamicSharedMemory,graphNodeId)")
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start,end,deviceId,contextId,streamId,correlationId,globalPid,bytes,"
        "copyKind,srcKind,dstKind)")
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start,end,eventClass,globalTid,correlationId,nameId,returnValue)")
    run("CREATE TABLE NVTX_EVENTS(start,end,eventType,text,textId,globalTid,domainId)")
    run("CREATE TABLE OSRT_API(start,end,globalTid,nameId)")
    run("CREATE TABLE DIAGNOSTIC_EVENT(severity,text)")
    run("INSERT INTO DIAGNOSTIC_EVENT VALUES(2,'12 events were dropped')")
    run("CREATE TABLE SCHED_EVENTS(start,cpu,globalTid)")
    run("INSERT INTO SCHED_EVENTS VALUES(1,0,0)")
    for rank, pid in enumerate(PIDS):
        fill_process(run, pid, steps, rank * 3000)


def fill_process(run, pid, steps, late):
    tid, ident = process(pid) | pid, [0]
    run("INSERT INTO PROCESSES VALUES(?,?,'python3')", (process(pid), pid))
    run("INSERT INTO ThreadNames VALUES(5,?)", (tid,))
    nvtx = "INSERT INTO NVTX_EVENTS VALUES(?,?,?,?,NULL,?,?)"
    run(nvtx, (-100, None, 75, "NCCL", tid, 1))

    def call(at, length, name, device_at, device_length, row=None, values=()):
        ident[0] += 1
        run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,0,?,?,?,0)", (at, at + length, tid, ident[0], name))
        if row:
            run(row, (device_at, device_at + device_length, ident[0], process(pid), *values))

    kernel = ("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start,end,correlationId,globalPid,deviceId,contextId,streamId,"
              "demangledName,registersPerThread,gridX,gridY,gridZ,blockX,blockY,blockZ,staticSharedMemory,"
              "dynamicSharedMemory) VALUES(?,?,?,?,0,1,?,?,64,264,1,1,128,1,1,1024,0)")
    copy = ("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY(start,end,correlationId,globalPid,deviceId,contextId,streamId,bytes,"
            "copyKind,srcKind,dstKind) VALUES(?,?,?,?,0,1,7,1048576,1,1,2)")
    for step in range(steps):
        at = 1000000 + step * 1000000 + late
        run(nvtx, (at, at + 900000, 59, "iteration %d" % step, tid, 0))
        run(nvtx, (at + 90000, at + 300000, 59, "decoder.layers.0.mlp", tid, 0))
        call(at + 10000, 5000, 3, at + 20000, 50000, copy)
        for i, (op, name) in enumerate((("aten::mm", 0), ("aten::relu", 1))):
            start = at + 100000 + i * 80000
            run(nvtx, (start, start + 50000, 59,
                       "%s, op_id = %d, sizes = [[1024, 1024], [1024, 1024]]" % (op, step * 2 + i), tid, 0))
            call(start + 10000, 6000, 2, start + 30000, 200000 if i == 0 else 40000, kernel, (7, name))
        run(nvtx, (at + 500000, at + 520000, 59, "ncclAllReduce", tid, 1))
        call(at + 505000, 5000, 2, at + 530000, 120000, kernel, (20, 7))
        call(at + 600000, 200000, 4, 0, 0)
        run("INSERT INTO OSRT_API VALUES(?,?,?,6)", (at + 610000, at + 790000, tid))


def fill_more(db):
    """What few reports have: payloads of NCCL, nodes of CUDA graphs."""
    tid = process(PIDS[0]) | PIDS[0]
    db.execute("CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId,schemaId,idx,type,name,offset)")
    db.executemany("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES(1,?,?,?,?,?)", [
        (100, 0, 18, "NCCL communicator ID", None), (100, 1, 22, "Message size [bytes]", 8),
        (100, 2, 5, "Peer rank", 16), (101, 0, 18, "NCCL communicator ID", None),
        (101, 1, 5, "No. of ranks", 8), (101, 2, 5, "Rank", 12)])
    db.execute("ALTER TABLE NVTX_EVENTS ADD COLUMN binaryData")
    for at, name, schema, payload in ((900, "ncclCommInitRank", 101, struct.pack("<Qii", 77, 2, 0)),
                                      (1500000, "ncclAllReduce", 100, struct.pack("<QQQ", 77, 4096, 1))):
        data = struct.pack("<QQQQ", 1, schema, len(payload), 32 + len(payload)) + payload
        db.execute("INSERT INTO NVTX_EVENTS VALUES(?,?,59,?,NULL,?,1,?)", (at, at + 10, name, tid, data))
    db.execute("CREATE TABLE CUDA_GRAPH_NODE_EVENTS(start,end,globalTid,graphNodeId,originalGraphNodeId)")
    db.executemany("INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES(?,?,?,?,?)",
                   [(1110001, 1110002, tid, 7, None), (1600001, 1600002, tid, 12, 7)])
    db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 12 WHERE demangledName = 1")


def make(path, steps, more=False):
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size=1024")
    fill(db, steps)
    if more:
        fill_more(db)
    db.commit()
    db.execute("VACUUM")
    db.close()


if __name__ == "__main__":
    if "--corpus" in sys.argv:
        make(HERE.parents[1] / "fuzz/corpus/nsight/training.sqlite", 1)
        make(HERE.parents[1] / "fuzz/corpus/nsight/graphs.sqlite", 1, more=True)
    else:
        file = Path(sys.argv[1] if len(sys.argv) > 1 else HERE) / "training.sqlite"
        make(file, 4)
        with gzip.GzipFile(f"{file}.gz", "wb", mtime=0) as out:
            out.write(file.read_bytes())
        file.unlink()
