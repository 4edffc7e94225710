/* pftrace_test.c: the Perfetto form, as our own reader finds it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyse/kind_names.h"
#include "export/export.h"
#include "ingest/perfetto/perfetto.h"
#include "ingest/util/protobuf.h"
#include "unit/ingest/read_helper.h"
#include "unit/store/sample_trace.h"

static buf export_bytes(const trace *t, const time_window *window) {
    error err = {0};
    buf out = {0};
    char some[4096];
    FILE *f = tmpfile();
    assert_non_null(f);
    export_options o = {.form = STR("perfetto"), .window = window};
    assert_int_equal(export_trace(t, &o, fileno(f), &err), OK);
    rewind(f);
    for (size_t n; (n = fread(some, 1, sizeof some, f)) > 0;) buf_add(&out, some, n);
    fclose(f);
    buf_add_repeat(&out, 0, PB_ROOM);
    out.n -= PB_ROOM;
    return out;
}

static trace *round_trip(const trace *t, const time_window *window) {
    error err = {0};
    buf bytes = export_bytes(t, window);
    trace *back = read_with(ingest_perfetto, buf_str(&bytes), (read_how){0}, &err);
    assert_non_null(back);
    buf_fini(&bytes);
    return back;
}

/* Two kernels of one stream at once, and one inside another: each on a separate track. */
#define TRAINING                                                                               \
    "{\"baseTimeNanoseconds\":1000000000000,\"schemaVersion\":1,\"traceEvents\":["             \
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#3\",\"pid\":7,"         \
    "\"tid\":9,\"ts\":0,\"dur\":100},"                                                         \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":7,\"tid\":9,\"ts\":10,"    \
    "\"dur\":30,\"args\":{\"External id\":4,\"Input Dims\":[[2,3],[3,4]]}},"                   \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":7,"          \
    "\"tid\":9,\"ts\":20,\"dur\":5,\"args\":{\"correlation\":11,\"External id\":4}},"          \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"pid\":0,\"tid\":7,\"ts\":30,\"dur\":"   \
    "40,"                                                                                      \
    "\"args\":{\"correlation\":11,\"device\":0,\"stream\":7,\"grid\":[8,1,1],"                 \
    "\"est. achieved occupancy %\":25.5}},"                                                    \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"pid\":0,\"tid\":7,\"ts\":50,\"dur\":"   \
    "40,"                                                                                      \
    "\"args\":{\"correlation\":12,\"device\":0,\"stream\":7}},"                                \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"c\",\"pid\":0,\"tid\":7,\"ts\":55,\"dur\":5," \
    "\"args\":{\"correlation\":13,\"device\":0,\"stream\":7}},"                                \
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":7," \
    "\"tid\":9,\"ts\":12,\"args\":{\"Bytes\":512,\"Addr\":64,\"Device Type\":1,"               \
    "\"Device Id\":0}},"                                                                       \
    "{\"ph\":\"C\",\"name\":\"load\",\"pid\":7,\"ts\":15,\"args\":{\"SM\":0.5,\"copy\":3}}]}"

static trace *training(void) {
    error err = {0};
    trace *t = read_text(STR(TRAINING), (read_how){0}, &err);
    assert_non_null(t);
    return t;
}

static void test_device_work_steps_and_operators_come_back(void **state) {
    (void)state;
    trace *t = training(), *back = round_trip(t, NULL);
    assert_int_equal(back->slice.n, t->slice.n);
    for (int k = 0; k < N_KINDS; k++) assert_int_equal(back->kind_count[k], t->kind_count[k]);
    assert_int_equal(back->base_unix_ns, t->base_unix_ns);
    assert_int_equal(back->kernel.n, 4);
    for (uint32_t i = 1; i < 4; i++) {
        uint32_t a = t->kernel.slice[i], b = back->kernel.slice[i];
        assert_int_equal(back->slice.start[b], t->slice.start[a]);
        assert_int_equal(back->slice.dur[b], t->slice.dur[a]);
        assert_int_equal(back->kernel.device[i], 0);
        assert_int_equal(back->kernel.stream[i], 7);
    }
    uint32_t a = trace_kernel_of(back, find_slice(back, "a"));
    assert_int_equal(back->kernel.launch[a], find_slice(back, "cudaLaunchKernel"));
    assert_int_equal(back->kernel.op[a], find_slice(back, "aten::mm"));
    assert_int_equal(back->kernel.grid_x[a], 8);
    assert_true(back->kernel.occupancy[a] == 0.255);
    assert_int_equal(back->flow.n - 1, 0); /* a launch is not an additional arrow */
    assert_int_equal(back->step.n - 1, 1);
    assert_int_equal(back->step.number[1], 3);
    assert_string_equal(args_text(back, back->slice.args[find_slice(back, "aten::mm")]),
                        "{\"External id\":4,\"Input Dims\":[[2, 3], [3, 4]]}");
    trace_release(t);
    trace_release(back);
}

static void test_points_and_counters_come_back(void **state) {
    (void)state;
    trace *t = training(), *back = round_trip(t, NULL);
    assert_int_equal(back->memory.n - 1, 1);
    assert_int_equal(back->memory.bytes[1], 512);
    assert_int_equal(back->memory.time[1], t->memory.time[1]);
    assert_int_equal(back->counter.n - 1, 2);
    for (uint32_t i = 1; i < 3; i++) {
        assert_int_equal(back->counter.time[i], t->counter.time[i]);
        assert_true(back->counter.value[i] == t->counter.value[i]);
        assert_string_equal(text_of_id(back, back->counter.name[i]), "load");
    }
    assert_string_equal(text_of_id(back, back->counter.series[1]), "SM");
    trace_release(t);
    trace_release(back);
}

/* ---- the tracks, read without our reader ---- */

typedef struct {
    uint64_t uuid;
    int depth, deepest;
} seen_track;

typedef struct {
    seen_track tracks[16];
    size_t n;
    int n_leaving, n_arriving;
    uint64_t last_leaving, last_arriving;
} seen;

static void see_event(seen *s, str event) {
    pb_reader r = pb_open(event);
    pb_field f;
    uint64_t type = 0, uuid = 0;
    while (pb_next(&r, &f)) {
        if (f.tag == PB_VARINT(9)) type = f.v;
        if (f.tag == PB_VARINT(11)) uuid = f.v;
        if (f.tag == PB_TAG(47, WIRE_FIXED64)) s->n_leaving++, s->last_leaving = f.v;
        if (f.tag == PB_TAG(48, WIRE_FIXED64)) s->n_arriving++, s->last_arriving = f.v;
    }
    if (type != 1 && type != 2) return;
    size_t i = 0;
    while (i < s->n && s->tracks[i].uuid != uuid) i++;
    assert_true(i < 16);
    if (i == s->n) s->tracks[s->n++] = (seen_track){.uuid = uuid};
    s->tracks[i].depth += type == 1 ? 1 : -1;
    if (s->tracks[i].depth > s->tracks[i].deepest) s->tracks[i].deepest = s->tracks[i].depth;
}

static seen see(const buf *bytes) {
    seen s = {0};
    pb_reader file = pb_open(buf_str(bytes));
    pb_field packet, f;
    while (pb_next(&file, &packet)) {
        assert_int_equal(packet.tag, PB_BYTES(1));
        pb_reader r = pb_open(pb_bytes(&packet));
        while (pb_next(&r, &f))
            if (f.tag == PB_BYTES(11)) see_event(&s, pb_bytes(&f));
        assert_false(r.damaged);
    }
    assert_false(file.damaged);
    return s;
}

static void test_work_at_the_same_time_is_on_separate_tracks(void **state) {
    (void)state;
    trace *t = training();
    buf bytes = export_bytes(t, NULL);
    seen s = see(&bytes);
    assert_int_equal(s.n, 4); /* a thread, and a stream with three pieces of work at once */
    int n_flat = 0;
    for (size_t i = 0; i < s.n; i++) {
        assert_int_equal(s.tracks[i].depth, 0); /* every begin has its end */
        n_flat += s.tracks[i].deepest == 1;
    }
    assert_int_equal(n_flat, 3); /* and work is never inside work */
    assert_int_equal(s.n_leaving, 1);
    assert_int_equal(s.n_arriving, 1);
    assert_true(s.last_leaving == s.last_arriving);
    buf_fini(&bytes);
    trace_release(t);
}

static void test_a_window_clips(void **state) {
    (void)state;
    trace *t = training(), *back = round_trip(t, &(time_window){50000, 60000});
    assert_int_equal(back->slice.dur[find_slice(back, "a")], 10000);
    assert_int_equal(back->slice.dur[find_slice(back, "c")], 5000);
    assert_int_equal(back->kind_count[KIND_OP], 0);
    assert_int_equal(back->memory.n - 1, 0);
    assert_int_equal(back->counter.n - 1, 0);
    trace_release(t);
    trace_release(back);
}

/* The reader knows the word of every kind; times before zero are moved. */
static void test_every_kind_comes_back(void **state) {
    (void)state;
    maker m;
    maker_init(&m);
    maker_table(&m, TABLE_process, 2);
    SET(&m, process, pid)[1] = 1;
    maker_table(&m, TABLE_track, 2);
    SET(&m, track, process)[1] = 1;
    SET(&m, track, kind)[1] = TRACK_THREAD;
    SET(&m, track, tid)[1] = 2;
    SET(&m, track, first)[1] = 1;
    SET(&m, track, end)[1] = N_KINDS + 1;
    maker_table(&m, TABLE_slice, N_KINDS + 1);
    SET(&m, slice, start)[0] = SET(&m, slice, dur)[0] = 0;
    for (uint32_t i = 1; i <= N_KINDS; i++) {
        SET(&m, slice, name)[i] = maker_str(&m, kind_name((uint8_t)(i - 1)).p);
        SET(&m, slice, start)[i] = (int64_t)i * 100 - 5000;
        SET(&m, slice, dur)[i] = 50;
        SET(&m, slice, kind)[i] = (uint8_t)(i - 1);
    }
    m.t->start_ns = -4900;
    m.t->end_ns = 0;
    trace *t = maker_done(&m), *back = round_trip(t, NULL);
    for (uint32_t i = 1; i <= N_KINDS; i++) {
        uint32_t found = find_slice(back, kind_name((uint8_t)(i - 1)).p);
        assert_int_equal(back->slice.kind[found], i - 1);
        assert_int_equal(back->slice.start[found], (int64_t)(i - 1) * 100);
    }
    trace_release(t);
    trace_release(back);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_work_steps_and_operators_come_back),
        cmocka_unit_test(test_points_and_counters_come_back),
        cmocka_unit_test(test_work_at_the_same_time_is_on_separate_tracks),
        cmocka_unit_test(test_a_window_clips),
        cmocka_unit_test(test_every_kind_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
