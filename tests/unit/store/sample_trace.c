/* sample_trace.c: see sample_trace.h. Memory comes from mem_map as in a sealed trace, so that the
 * tests also see who gives it back. */
#include "unit/store/sample_trace.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/args.h"

static void *own(maker *m, size_t bytes) {
    void *p = mem_map(bytes ? bytes : 1);
    if (!p) abort();
    trace_own_map(m->t, p, bytes ? bytes : 1);
    return p;
}

void maker_init(maker *m) {
    *m = (maker){.t = trace_alloc(), .n_shapes = 2};
    if (!m->t) abort();
    m->arg_at = m->arg_bytes;
    maker_str(m, "");
    for (int table = 0; table < N_TABLES; table++) *trace_rows_slot(m->t, table) = 0;
    m->t->format = STR("kineto");
}

void maker_table(maker *m, int table, uint32_t n) {
    *trace_rows_slot(m->t, table) = n;
    for (int c = TABLE_INFO[table].first_column; c < TABLE_INFO[table].end_column; c++) {
        void *p = own(m, (size_t)n * COLUMN_INFO[c].elem_bytes);
        for (uint32_t i = 1; i < n && COLUMN_INFO[c].type == TYPE_I64; i++)
            ((int64_t *)p)[i] = ABSENT_I64;
        for (uint32_t i = 1; i < n && COLUMN_INFO[c].type == TYPE_I32; i++)
            ((int32_t *)p)[i] = ABSENT_I32;
        *trace_column_slot(m->t, c) = p;
    }
}

uint32_t maker_str(maker *m, const char *s) {
    for (uint32_t i = 0; i < m->n_strings; i++)
        if (m->strings[i].n == strlen(s) && !memcmp(m->strings[i].p, s, strlen(s))) return i;
    if (m->n_strings == 256) abort();
    m->strings[m->n_strings].p = s;
    m->strings[m->n_strings].n = strlen(s);
    return m->n_strings++;
}

uint32_t maker_shape(maker *m, uint32_t parent, const char *key) {
    m->shape_parent[m->n_shapes] = parent;
    m->shape_key[m->n_shapes] = maker_str(m, key);
    return m->n_shapes++;
}

uint32_t maker_record(maker *m) {
    return args_reference(0, ++m->n_records);
}

trace *maker_done(maker *m) {
    trace *t = m->t;
    for (int table = 0; table < N_TABLES; table++)
        if (trace_rows(t, table) == 0) maker_table(m, table, 1);
    uint64_t *offsets = own(m, 8 * (m->n_strings + 1));
    for (uint32_t i = 0; i < m->n_strings; i++) offsets[i + 1] = offsets[i] + m->strings[i].n;
    char *bytes = own(m, offsets[m->n_strings]);
    for (uint32_t i = 0; i < m->n_strings; i++)
        memcpy(bytes + offsets[i], m->strings[i].p, m->strings[i].n);
    t->n_strings = m->n_strings;
    t->string_offset = offsets;
    t->string_bytes = bytes;
    uint64_t *blocks = own(m, 16);
    size_t n_bytes = (size_t)(m->arg_at - m->arg_bytes);
    blocks[1] = n_bytes;
    uint8_t *args = own(m, n_bytes);
    memcpy(args, m->arg_bytes, n_bytes);
    t->arg_block = blocks;
    t->arg_bytes = args;
    t->n_arg_blocks = n_bytes ? 1 : 0;
    uint32_t *parents = own(m, 4 * m->n_shapes), *keys = own(m, 4 * m->n_shapes);
    memcpy(parents, m->shape_parent, 4 * m->n_shapes);
    memcpy(keys, m->shape_key, 4 * m->n_shapes);
    t->shape_parent = parents;
    t->shape_key = keys;
    t->n_shapes = m->n_shapes;
    trace_finish(t);
    return t;
}

/* ---- the sample -------------------------------------------------------------------------------- */

static void add_tracks(maker *m) {
    maker_table(m, TABLE_process, 4);
    SET(m, process, pid)[1] = 100;
    SET(m, process, name)[1] = maker_str(m, "python");
    SET(m, process, labels)[1] = maker_str(m, "CPU");
    SET(m, process, sort)[1] = 100;
    SET(m, process, pid)[2] = 0;
    SET(m, process, pid_text)[3] = maker_str(m, "Spans");
    maker_table(m, TABLE_track, 4);
    for (uint32_t i = 1; i < 4; i++) SET(m, track, process)[i] = i;
    SET(m, track, kind)[1] = TRACK_THREAD;
    SET(m, track, tid)[1] = 100;
    SET(m, track, name)[1] = maker_str(m, "thread 100 (python)");
    SET(m, track, first)[1] = 1;
    SET(m, track, end)[1] = 4;
    SET(m, track, kind)[2] = TRACK_STREAM;
    SET(m, track, tid)[2] = 7;
    SET(m, track, device)[2] = 0;
    SET(m, track, first)[2] = 4;
    SET(m, track, end)[2] = 5;
    SET(m, track, kind)[3] = TRACK_SPAN;
    SET(m, track, tid_text)[3] = maker_str(m, "PyTorch Profiler");
    SET(m, track, first)[3] = 5;
    SET(m, track, end)[3] = 6;
}

static void add_slices(maker *m) {
    static const struct {
        const char *name, *category;
        int64_t start, dur;
        uint32_t parent;
        uint16_t depth;
        uint8_t kind;
    } rows[] = {
        {"ProfilerStep#3", "user_annotation", 10000, 90500, 0, 0, KIND_STEP},
        {"aten::mm", "cpu_op", 20000, 15250, 1, 1, KIND_OP},
        {"cudaLaunchKernel", "cuda_runtime", 25000, 4000, 2, 2, KIND_RUNTIME},
        {"sgemm", "kernel", 33125, 5500, 0, 0, KIND_KERNEL},
        {"PyTorch Profiler (0)", "Trace", 0, 120000, 0, 0, KIND_SPAN},
    };
    maker_table(m, TABLE_category, 7);
    maker_table(m, TABLE_slice, 6);
    for (uint32_t i = 0; i < 5; i++) {
        SET(m, category, name)[i + 1] = maker_str(m, rows[i].category);
        SET(m, slice, category)[i + 1] = (uint16_t)(i + 1);
        SET(m, slice, name)[i + 1] = maker_str(m, rows[i].name);
        SET(m, slice, start)[i + 1] = rows[i].start;
        SET(m, slice, dur)[i + 1] = rows[i].dur;
        SET(m, slice, parent)[i + 1] = rows[i].parent;
        SET(m, slice, depth)[i + 1] = rows[i].depth;
        SET(m, slice, row)[i + 1] = rows[i].depth;
        SET(m, slice, kind)[i + 1] = rows[i].kind;
    }
    SET(m, category, name)[6] = maker_str(m, "cpu_instant_event");
    SET(m, slice, start)[0] = SET(m, slice, dur)[0] = 0;
}

static void add_details(maker *m) {
    maker_table(m, TABLE_op, 3);
    SET(m, op, slice)[1] = 1;
    SET(m, op, external)[1] = 1;
    SET(m, op, slice)[2] = 2;
    SET(m, op, external)[2] = 2;
    SET(m, op, shapes)[2] = maker_str(m, "[[8,8],[8,8]]");
    maker_table(m, TABLE_call, 2);
    SET(m, call, slice)[1] = 3;
    SET(m, call, correlation)[1] = 7;
    SET(m, call, op)[1] = 2;
    maker_table(m, TABLE_kernel, 2);
    SET(m, kernel, slice)[1] = 4;
    SET(m, kernel, launch)[1] = 3;
    SET(m, kernel, op)[1] = 2;
    SET(m, kernel, link)[1] = LINK_EXACT;
    SET(m, kernel, device)[1] = 0;
    SET(m, kernel, stream)[1] = 7;
    SET(m, kernel, correlation)[1] = 7;
    maker_table(m, TABLE_step, 2);
    SET(m, step, number)[1] = 3;
    SET(m, step, slice)[1] = 1;
    SET(m, step, start)[1] = 10000;
    SET(m, step, end)[1] = 100500;
    maker_table(m, TABLE_flow, 2);
    SET(m, flow, from)[1] = 1;
    SET(m, flow, to)[1] = 2;
    SET(m, flow, kind)[1] = FLOW_FORWARD_BACKWARD;
    SET(m, flow, name)[1] = maker_str(m, "fwdbwd");
    SET(m, flow, id)[1] = 1;
}

static void add_points(maker *m) {
    maker_table(m, TABLE_memory, 2);
    SET(m, memory, time)[1] = 22000;
    SET(m, memory, track)[1] = 1;
    SET(m, memory, op)[1] = 2;
    SET(m, memory, address)[1] = 140000000;
    SET(m, memory, bytes)[1] = 512;
    SET(m, memory, allocated)[1] = 512;
    SET(m, memory, reserved)[1] = 2097152;
    SET(m, memory, device_type)[1] = DEVICE_CUDA;
    SET(m, memory, device)[1] = 0;
    SET(m, memory, kind)[1] = MEMORY_ALLOC;
    maker_table(m, TABLE_instant, 2);
    SET(m, instant, time)[1] = 119000;
    SET(m, instant, name)[1] = maker_str(m, "Record Window End");
    SET(m, instant, track)[1] = 3;
    SET(m, instant, scope)[1] = 'g';
    maker_table(m, TABLE_counter, 3);
    for (uint32_t i = 1; i < 3; i++) {
        SET(m, counter, time)[i] = 50000;
        SET(m, counter, name)[i] = maker_str(m, "memory");
        SET(m, counter, series)[i] = maker_str(m, i == 1 ? "used" : "free");
        SET(m, counter, track)[i] = 1;
        SET(m, counter, value)[i] = 1.5 * i;
    }
}

static void add_facts(maker *m) {
    maker_table(m, TABLE_device, 2);
    SET(m, device, id)[1] = 0;
    SET(m, device, type)[1] = DEVICE_CUDA;
    SET(m, device, name)[1] = maker_str(m, "GPU X");
    SET(m, device, properties)
    [1] = maker_str(m, "{\"id\":0,\"name\":\"GPU X\",\"numSms\":132}");
    maker_table(m, TABLE_meta, 5);
    static const char *const pairs[][2] = {
        {"schemaVersion", "1"},
        {"deviceProperties", "[{\"id\":0,\"name\":\"GPU X\",\"numSms\":132}]"},
        {"distributedInfo", "{\"backend\":\"nccl\",\"rank\":0,\"world_size\":2}"},
        {"note \"x\"", "NaN"},
    };
    for (uint32_t i = 0; i < 4; i++) {
        SET(m, meta, key)[i + 1] = maker_str(m, pairs[i][0]);
        SET(m, meta, value)[i + 1] = maker_str(m, pairs[i][1]);
    }
    maker_table(m, TABLE_quality, 2);
    SET(m, quality, cause)[1] = CAUSE_TRAILING_COMMA;
    SET(m, quality, count)[1] = 3;
}

static void add_arguments(maker *m) {
    int64_t at_external = 0, at_index = 0, at_correlation = 0;
    uint32_t external = maker_shape(m, 0, "External id");
    uint32_t index = maker_shape(m, external, "Ev Idx");
    uint32_t dims = maker_shape(m, index, "Input Dims");
    uint32_t correlation = maker_shape(m, external, "correlation");
    uint32_t share = maker_shape(m, correlation, "blocks per SM");
    args_put_varint(&m->arg_at, index);
    args_put_integer(&m->arg_at, 1, &at_external);
    args_put_integer(&m->arg_at, 0, &at_index);
    SET(m, slice, args)[1] = maker_record(m);
    args_put_varint(&m->arg_at, dims);
    args_put_integer(&m->arg_at, 2, &at_external);
    args_put_integer(&m->arg_at, 1, &at_index);
    args_put_raw(&m->arg_at, maker_str(m, "[[8,8],[8,8]]"));
    SET(m, slice, args)[2] = maker_record(m);
    args_put_varint(&m->arg_at, correlation);
    args_put_integer(&m->arg_at, 2, &at_external);
    args_put_integer(&m->arg_at, 7, &at_correlation);
    SET(m, slice, args)[3] = maker_record(m);
    args_put_varint(&m->arg_at, share);
    args_put_integer(&m->arg_at, 2, &at_external);
    args_put_integer(&m->arg_at, 7, &at_correlation);
    args_put_decimal(&m->arg_at, 7576, 6);
    SET(m, slice, args)[4] = maker_record(m);
}

trace *sample_trace(void) {
    maker m;
    maker_init(&m);
    add_tracks(&m);
    add_slices(&m);
    add_details(&m);
    add_points(&m);
    add_facts(&m);
    add_arguments(&m);
    m.t->start_ns = 0;
    m.t->end_ns = 120000;
    m.t->base_unix_ns = 1759104000000000000;
    m.t->events_read = 12;
    m.t->input_bytes = 2345;
    return maker_done(&m);
}
