/* perfetto_test.c: traces of Perfetto, from bytes to a sealed trace. The messages are written
 * here field by field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/perfetto/perfetto.h"
#include "unit/ingest/read_helper.h"

/* ---- a writer ---- */

static void put_varint(buf *b, uint64_t v) {
    for (; v >= 0x80; v >>= 7) buf_add_byte(b, (char)(v | 0x80));
    buf_add_byte(b, (char)v);
}

static void put_int(buf *b, uint32_t number, uint64_t v) {
    put_varint(b, number << 3);
    put_varint(b, v);
}

static void put_bytes(buf *b, uint32_t number, str s) {
    put_varint(b, number << 3 | 2);
    put_varint(b, s.n);
    buf_add_str(b, s);
}

static void put_text(buf *b, uint32_t number, const char *s) {
    put_bytes(b, number, str_of(s));
}

static void put_fixed(buf *b, uint32_t number, uint64_t v) {
    put_varint(b, number << 3 | 1);
    for (int i = 0; i < 8; i++) buf_add_byte(b, (char)(v >> 8 * i));
}

static void put_real(buf *b, uint32_t number, double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_fixed(b, number, bits);
}

static void put_message(buf *b, uint32_t number, buf *inner) {
    put_bytes(b, number, buf_str(inner));
    buf_fini(inner);
}

/* A packet of a sequence; flags: 1 begins again, 2 continues. */
static void put_packet(buf *file, buf *body, uint32_t sequence, uint64_t flags) {
    put_int(body, 10, sequence);
    if (flags) put_int(body, 13, flags);
    put_message(file, 1, body);
}

enum { BEGIN = 1, END = 2, INSTANT = 3, COUNTER = 4 };

static buf event_of(uint32_t type, uint64_t track) {
    buf e = {0};
    put_int(&e, 9, type);
    put_int(&e, 11, track);
    return e;
}

static void put_event(buf *file, uint64_t time, buf *event, uint32_t sequence) {
    buf packet = {0};
    put_int(&packet, 8, time);
    put_message(&packet, 11, event);
    put_packet(file, &packet, sequence, 2);
}

static void put_range(buf *file, const char *name, const char *category, uint64_t track,
                      uint64_t start, uint64_t end) {
    buf e = event_of(BEGIN, track);
    if (category) put_text(&e, 22, category);
    put_text(&e, 23, name);
    put_event(file, start, &e, 1);
    e = event_of(END, track);
    put_event(file, end, &e, 1);
}

static void put_descriptor(buf *file, buf *descriptor) {
    buf packet = {0};
    put_message(&packet, 60, descriptor);
    put_packet(file, &packet, 1, 0);
}

static void put_thread(buf *file, uint64_t uuid, int64_t pid, int64_t tid, const char *name) {
    buf d = {0}, thread = {0};
    put_int(&thread, 1, (uint64_t)pid);
    put_int(&thread, 2, (uint64_t)tid);
    put_text(&thread, 5, name);
    put_int(&d, 1, uuid);
    put_message(&d, 4, &thread);
    put_descriptor(file, &d);
}

static void put_track(buf *file, uint64_t uuid, uint64_t parent, const char *name) {
    buf d = {0};
    put_int(&d, 1, uuid);
    if (parent) put_int(&d, 5, parent);
    put_text(&d, 2, name);
    put_descriptor(file, &d);
}

static void put_counter(buf *file, uint64_t uuid, uint64_t parent, const char *name,
                        uint64_t unit, bool differences) {
    buf d = {0}, counter = {0};
    put_int(&d, 1, uuid);
    put_int(&d, 5, parent);
    put_text(&d, 2, name);
    put_int(&counter, 4, unit);
    put_int(&counter, 5, differences);
    put_message(&d, 8, &counter);
    put_descriptor(file, &d);
}

static void put_clock(buf *snapshot, uint32_t id, uint64_t time, bool differences,
                      uint64_t unit) {
    buf c = {0};
    put_int(&c, 1, id);
    put_int(&c, 2, time);
    if (differences) put_int(&c, 3, 1);
    if (unit) put_int(&c, 4, unit);
    put_message(snapshot, 1, &c);
}

static trace *read_file(const buf *file) {
    error err = {0};
    trace *t = read_with(ingest_perfetto, buf_str(file), (read_how){0}, &err);
    assert_non_null(t);
    return t;
}

static int64_t count_of_cause(const trace *t, cause why) {
    for (uint32_t i = 1; i < t->quality.n; i++)
        if (t->quality.cause[i] == why) return t->quality.count[i];
    return 0;
}

static uint32_t track_of(const trace *t, const char *slice) {
    uint32_t i = find_slice(t, slice), track = 1;
    while (i >= t->track.end[track]) track++;
    return track;
}

/* ---- ranges, tracks, words ---- */

static void test_ranges_nest_on_their_threads(void **state) {
    (void)state;
    buf file = {0};
    put_thread(&file, 5, 7, 9, "main");
    buf e = event_of(BEGIN, 5);
    put_text(&e, 23, "outer");
    put_text(&e, 22, "a");
    put_text(&e, 22, "b");
    put_event(&file, 1000, &e, 1);
    put_range(&file, "inner", "a", 5, 1100, 1200);
    e = event_of(END, 5);
    put_event(&file, 1500, &e, 1);
    e = event_of(INSTANT, 5);
    put_text(&e, 23, "point");
    put_event(&file, 1600, &e, 1);
    trace *t = read_file(&file);
    uint32_t outer = find_slice(t, "outer"), inner = find_slice(t, "inner");
    assert_int_equal(t->slice.dur[outer], 500);
    assert_int_equal(t->slice.start[inner] - t->slice.start[outer], 100);
    assert_int_equal(t->slice.parent[inner], outer);
    assert_string_equal(text_of_id(t, t->category.name[t->slice.category[outer]]), "a,b");
    uint32_t track = track_of(t, "outer");
    assert_int_equal(t->track.tid[track], 9);
    assert_int_equal(t->process.pid[t->track.process[track]], 7);
    assert_string_equal(text_of_id(t, t->track.name[track]), "main");
    assert_int_equal(t->instant.n - 1, 1);
    assert_string_equal(t->format.p, "perfetto");
    trace_release(t);
    buf_fini(&file);
}

/* Two tracks of one name under one parent are one row; a track under a thread with its name is
 * the thread. Descriptors come after their events. */
static void test_tracks_are_a_tree(void **state) {
    (void)state;
    buf file = {0};
    put_range(&file, "k1", "kernel", 21, 100, 300);
    put_range(&file, "k2", "kernel", 22, 200, 400);
    put_range(&file, "on thread", NULL, 5, 100, 300);
    put_range(&file, "beside it", NULL, 6, 200, 400);
    put_track(&file, 20, 0, "GPU 3");
    put_track(&file, 21, 20, "stream 7");
    put_track(&file, 22, 20, "stream 7");
    put_thread(&file, 5, 7, 9, "main");
    put_track(&file, 6, 5, "main");
    trace *t = read_file(&file);
    assert_int_equal(track_of(t, "k1"), track_of(t, "k2"));
    assert_int_equal(t->slice.dur[find_slice(t, "k1")], 200);
    assert_int_equal(t->slice.dur[find_slice(t, "k2")], 200);
    assert_int_equal(t->track.kind[track_of(t, "k1")], TRACK_STREAM);
    assert_int_equal(track_of(t, "on thread"), track_of(t, "beside it"));
    uint32_t process = t->track.process[track_of(t, "k1")];
    assert_string_equal(text_of_id(t, t->process.name[process]), "GPU 3");
    trace_release(t);
    buf_fini(&file);
}

static void put_word(buf *interned, uint32_t table, uint64_t iid, const char *text) {
    buf entry = {0};
    put_int(&entry, 1, iid);
    put_text(&entry, 2, text);
    put_message(interned, table, &entry);
}

static void put_named(buf *file, uint64_t time, uint64_t name_iid, buf *interned,
                      uint64_t flags) {
    buf packet = {0}, e = event_of(BEGIN, 5);
    put_int(&e, 10, name_iid);
    put_int(&packet, 8, time);
    put_message(&packet, 11, &e); /* the words come after the event that needs them */
    if (interned) put_message(&packet, 12, interned);
    put_packet(file, &packet, 1, flags);
    e = event_of(END, 5);
    put_event(file, time + 10, &e, 1);
}

static void test_words_hold_until_they_are_defined_again(void **state) {
    (void)state;
    buf file = {0}, words = {0};
    put_word(&words, 2, 1, "first");
    put_named(&file, 100, 1, &words, 1);
    put_named(&file, 200, 1, NULL, 2);
    words = (buf){0};
    put_word(&words, 2, 1, "second");
    put_named(&file, 300, 1, &words, 1);
    put_named(&file, 400, 2, NULL, 2); /* it was never defined */
    trace *t = read_file(&file);
    assert_int_equal(t->slice.n - 1, 3);
    assert_int_equal(t->slice.start[find_slice(t, "second")] - t->start_ns, 200);
    assert_int_equal(count_of_cause(t, CAUSE_MISSING_NAME), 1);
    assert_int_equal(count_of_cause(t, CAUSE_UNMATCHED_END), 0); /* it ends what was dropped */
    trace_release(t);
    buf_fini(&file);
}

static void put_argument(buf *event, const char *key, buf *value) {
    put_text(value, 10, key);
    put_message(event, 4, value);
}

static void test_arguments_of_every_kind(void **state) {
    (void)state;
    buf file = {0}, e = event_of(BEGIN, 5), v = {0};
    put_text(&e, 23, "range");
    put_int(&v, 2, 1);
    put_argument(&e, "bool", &v);
    v = (buf){0};
    put_int(&v, 3, UINT64_MAX);
    put_argument(&e, "large", &v);
    v = (buf){0};
    put_int(&v, 4, (uint64_t)-3);
    put_argument(&e, "int", &v);
    v = (buf){0};
    put_real(&v, 5, 2.5);
    put_argument(&e, "real", &v);
    v = (buf){0};
    put_text(&v, 6, "a \"text\"");
    put_argument(&e, "text", &v);
    v = (buf){0};
    put_int(&v, 7, 255);
    put_argument(&e, "pointer", &v);
    v = (buf){0};
    put_text(&v, 9, "{\"a\":[1,2]}");
    put_argument(&e, "json", &v);
    v = (buf){0};
    buf entry = {0}, element = {0};
    put_int(&element, 4, 1);
    put_message(&entry, 12, &element);
    put_text(&entry, 10, "list");
    put_message(&v, 11, &entry);
    put_argument(&e, "tree", &v);
    v = (buf){0};
    buf nested = {0}, one = {0};
    put_text(&nested, 2, "k");
    put_text(&one, 8, "v");
    put_message(&nested, 3, &one);
    put_message(&v, 8, &nested);
    put_argument(&e, "old tree", &v);
    put_event(&file, 100, &e, 1);
    trace *t = read_file(&file);
    assert_string_equal(
        args_text(t, t->slice.args[find_slice(t, "range")]),
        "{\"bool\":true,\"large\":18446744073709551615,\"int\":-3,\"real\":2.5,"
        "\"text\":\"a \\\"text\\\"\",\"pointer\":\"0xff\",\"json\":{\"a\": [1, 2]},"
        "\"tree\":{\"list\": [1]},\"old tree\":{\"k\": \"v\"}}");
    assert_int_equal(count_of_cause(t, CAUSE_UNMATCHED_BEGIN), 1);
    trace_release(t);
    buf_fini(&file);
}

/* ---- clocks ---- */

/* The file's snapshot relates three clocks; a sequence has a separate one, of differences in
 * microseconds, which it relates to the monotonic one. */
static void test_clocks(void **state) {
    (void)state;
    buf file = {0}, packet = {0}, snapshot = {0}, defaults = {0};
    put_clock(&snapshot, 6, 5000, false, 0);
    put_clock(&snapshot, 1, 1700000000000005000, false, 0);
    put_clock(&snapshot, 3, 4000, false, 0);
    put_message(&packet, 6, &snapshot);
    put_packet(&file, &packet, 1, 0);
    packet = snapshot = (buf){0};
    put_clock(&snapshot, 64, 0, true, 1000);
    put_clock(&snapshot, 3, 4100, false, 0);
    put_int(&defaults, 58, 64);
    put_message(&packet, 6, &snapshot);
    put_message(&packet, 59, &defaults);
    put_packet(&file, &packet, 2, 1);
    buf e = event_of(BEGIN, 5);
    put_text(&e, 23, "own clock");
    put_event(&file, 2, &e, 2); /* 5100 + 2000 */
    e = event_of(END, 5);
    put_event(&file, 3, &e, 2);
    packet = (buf){0};
    e = event_of(BEGIN, 6);
    put_text(&e, 23, "monotonic");
    put_int(&packet, 8, 4500);
    put_int(&packet, 58, 3);
    put_message(&packet, 11, &e);
    put_packet(&file, &packet, 1, 0);
    e = event_of(END, 6);
    put_event(&file, 5600, &e, 1);
    packet = (buf){0};
    e = event_of(INSTANT, 6);
    put_text(&e, 23, "unknown clock");
    put_int(&packet, 8, 1);
    put_int(&packet, 58, 66);
    put_message(&packet, 11, &e);
    put_packet(&file, &packet, 1, 0);
    trace *t = read_file(&file);
    assert_int_equal(t->slice.start[find_slice(t, "own clock")], 7100);
    assert_int_equal(t->slice.dur[find_slice(t, "own clock")], 3000);
    assert_int_equal(t->slice.start[find_slice(t, "monotonic")], 5500);
    assert_int_equal(t->slice.dur[find_slice(t, "monotonic")], 100);
    assert_int_equal(t->base_unix_ns, 1700000000000000000);
    assert_int_equal(t->instant.n - 1, 0);
    assert_int_equal(count_of_cause(t, CAUSE_MISSING_TIME), 1);
    trace_release(t);
    buf_fini(&file);
}

/* After a loss it is unknown how far a clock of differences has advanced. */
static void test_lost_packets_are_counted(void **state) {
    (void)state;
    buf file = {0};
    for (int i = 0; i < 3; i++) {
        buf packet = {0}, snapshot = {0}, defaults = {0};
        if (i != 1) { /* begins again */
            put_clock(&snapshot, 64, 0, true, 0);
            put_clock(&snapshot, 6, 1000 + 1000 * (uint64_t)i, false, 0);
            put_int(&defaults, 58, 64);
            put_message(&packet, 6, &snapshot);
            put_message(&packet, 59, &defaults);
        }
        put_int(&packet, 42, 1);
        put_packet(&file, &packet, 1, i != 1);
        buf e = event_of(INSTANT, 5);
        put_text(&e, 23, "point");
        put_event(&file, 10, &e, 1);
    }
    trace *t = read_file(&file);
    assert_int_equal(t->instant.n - 1, 2);
    assert_int_equal(t->instant.time[1], 1010);
    assert_int_equal(t->instant.time[2], 3010);
    /* Twice packets were lost, and an event without a time with them. */
    assert_int_equal(count_of_cause(t, CAUSE_RECORDER_FULL), 3);
    trace_release(t);
    buf_fini(&file);
}

/* ---- counters and arrows ---- */

static void test_counters(void **state) {
    (void)state;
    buf file = {0}, packet = {0}, defaults = {0}, track = {0};
    put_thread(&file, 5, 7, 9, "main");
    put_counter(&file, 11, 5, "memory", 1024, false);
    put_counter(&file, 12, 5, "time", 1, true);
    put_track(&file, 13, 5, "clocks");
    put_counter(&file, 14, 13, "SM", 1, false);
    put_int(&track, 31, 12);
    put_message(&defaults, 11, &track);
    put_message(&packet, 59, &defaults);
    put_packet(&file, &packet, 1, 0);
    buf e = event_of(COUNTER, 11);
    put_int(&e, 30, 2);
    put_event(&file, 100, &e, 1);
    for (int i = 0; i < 2; i++) { /* a value added to an event */
        e = event_of(i ? END : BEGIN, 5);
        put_text(&e, 23, "range");
        put_int(&e, 12, 30);
        put_event(&file, 200 + 100 * (uint64_t)i, &e, 1);
    }
    e = event_of(COUNTER, 14);
    put_real(&e, 44, 1.5);
    put_event(&file, 400, &e, 1);
    trace *t = read_file(&file);
    assert_int_equal(t->counter.n - 1, 4);
    assert_true(t->counter.value[1] == 2048);
    assert_string_equal(text_of_id(t, t->counter.name[1]), "memory");
    assert_true(t->counter.value[2] == 30 && t->counter.value[3] == 60);
    assert_string_equal(text_of_id(t, t->counter.name[4]), "clocks");
    assert_string_equal(text_of_id(t, t->counter.series[4]), "SM");
    trace_release(t);
    buf_fini(&file);
}

static void put_state(buf *file, const char *name, uint64_t track, uint64_t time) {
    buf e = {0};
    put_int(&e, 9, 5);
    put_int(&e, 11, track);
    if (name) put_text(&e, 23, name);
    put_event(file, time, &e, 1);
}

/* A track is in one state at a time: the next one ends it, the same one again does not, one
 * without a name leaves none. The last lasts as long as the trace. */
static void test_states(void **state) {
    (void)state;
    error err;
    buf file = {0};
    put_thread(&file, 1, 5, 6, "main");
    put_track(&file, 2, 1, "player");
    put_state(&file, "buffering", 2, 100);
    put_state(&file, "playing", 2, 250);
    put_state(&file, "playing", 2, 300);
    put_state(&file, NULL, 2, 400);
    put_state(&file, NULL, 2, 410);
    put_state(&file, "paused", 2, 500);
    put_range(&file, "work", "c", 1, 600, 900);
    trace *t = read_with(ingest_perfetto, buf_str(&file), (read_how){0}, &err);
    assert_non_null(t);
    assert_int_equal(t->slice.n - 1, 4);
    assert_int_equal(t->slice.dur[find_slice(t, "buffering")], 150);
    assert_int_equal(t->slice.dur[find_slice(t, "playing")], 150);
    assert_int_equal(t->slice.dur[find_slice(t, "paused")], 400);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_BEGIN), 0);
    assert_int_equal(trace_quality(t, CAUSE_UNKNOWN_PHASE), 0);
    trace_release(t);
    buf_fini(&file);
}

static void put_flowing(buf *file, const char *name, const char *category, uint64_t track,
                        uint64_t start, uint64_t flow, bool ends) {
    buf e = event_of(BEGIN, track);
    put_text(&e, 22, category);
    put_text(&e, 23, name);
    put_fixed(&e, ends ? 48 : 47, flow);
    put_event(file, start, &e, 1);
    e = event_of(END, track);
    put_event(file, start + 50, &e, 1);
}

/* Between host ranges a flow is an arrow; from a call to device work it is the launch. */
static void test_flows(void **state) {
    (void)state;
    buf file = {0};
    put_thread(&file, 5, 7, 9, "main");
    put_flowing(&file, "ask", "x", 5, 100, 77, false);
    put_flowing(&file, "answer", "x", 5, 200, 77, true);
    put_flowing(&file, "alone", "x", 5, 300, 78, false);
    put_flowing(&file, "hipLaunchKernel", "cuda_runtime", 5, 400, UINT64_MAX - 1, false);
    put_flowing(&file, "k", "kernel", 21, 500, UINT64_MAX - 1, true);
    trace *t = read_file(&file);
    assert_int_equal(t->flow.n - 1, 1);
    assert_int_equal(t->flow.from[1], find_slice(t, "ask"));
    assert_int_equal(t->flow.to[1], find_slice(t, "answer"));
    assert_int_equal(t->kernel.n - 1, 1);
    assert_int_equal(t->kernel.launch[1], find_slice(t, "hipLaunchKernel"));
    assert_int_equal(count_of_cause(t, CAUSE_DANGLING_FLOW), 0);
    trace_release(t);
    buf_fini(&file);
}

/* ---- producers ---- */

static void put_rocm(buf *file, const char *name, const char *category, uint64_t track,
                     uint64_t start, uint64_t correlation, const char *from) {
    buf e = event_of(BEGIN, track), v = {0};
    put_text(&e, 22, category);
    put_text(&e, 23, name);
    put_int(&v, 3, correlation);
    put_argument(&e, "corr_id", &v);
    v = (buf){0};
    put_int(&v, 3, start);
    put_argument(&e, "begin_ns", &v);
    v = (buf){0};
    put_int(&v, 3, 640);
    put_argument(&e, "grid_size", &v);
    v = (buf){0};
    put_int(&v, 3, 64);
    put_argument(&e, "workgroup_size", &v);
    if (from) {
        v = (buf){0};
        put_text(&v, 6, from);
        put_argument(&e, "src_agent", &v);
        v = (buf){0};
        put_int(&v, 3, 4096);
        put_argument(&e, "copy_bytes", &v);
    }
    put_event(file, start, &e, 1);
    e = event_of(END, track);
    put_event(file, start + 100, &e, 1);
}

/* GPUs are agents 4 and 5: devices 0 and 1. A copy to the processor is work of the GPU. Ranges of
 * one thread are not in the order of time. */
static void test_rocprofv3(void **state) {
    (void)state;
    buf file = {0};
    put_thread(&file, 5, 7, 9, "main");
    put_track(&file, 24, 0, "COMPUTE AGENT [5] STREAM [2] (GPU)");
    put_track(&file, 25, 0, "COPY to AGENT [0] STREAM [2] (CPU)");
    put_track(&file, 26, 0, "COMPUTE AGENT [4] STREAM [1] (GPU)");
    put_rocm(&file, "hipMemcpyAsync", "hip_api", 5, 1200, 2, NULL);
    put_rocm(&file, "hipLaunchKernel", "hip_api", 5, 1000, 1, NULL);
    put_rocm(&file, "MEMORY_COPY_DEVICE_TO_HOST", "memory_copy", 25, 1400, 2, "Agent-5");
    put_rocm(&file, "vadd(float*) [clone .kd]", "kernel_dispatch", 24, 1300, 1, NULL);
    trace *t = read_file(&file);
    uint32_t kernel = find_slice(t, "vadd(float*)"), copy = find_slice(t, "Memcpy DtoH");
    assert_int_equal(t->kernel.n - 1, 2);
    assert_int_equal(t->slice.kind[kernel], KIND_KERNEL);
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        bool is_copy = t->kernel.slice[i] == copy;
        assert_int_equal(t->kernel.device[i], 1);
        assert_int_equal(t->kernel.stream[i], 2);
        assert_int_equal(t->kernel.launch[i],
                         find_slice(t, is_copy ? "hipMemcpyAsync" : "hipLaunchKernel"));
        assert_int_equal(t->kernel.bytes[i], is_copy ? 4096 : ABSENT_I64);
        if (!is_copy) assert_int_equal(t->kernel.grid_x[i], 10);
    }
    assert_string_equal(args_text(t, t->slice.args[kernel]),
                        "{\"corr_id\":1,\"grid_size\":640,\"workgroup_size\":64}");
    assert_int_equal(t->device.n - 1, 2);
    assert_string_equal(t->format.p, "perfetto_rocm");
    trace_release(t);
    buf_fini(&file);
}

/* Events as Chrome wrote them first: a phase, a thread named once, steps of time. */
static void test_old_events(void **state) {
    (void)state;
    buf file = {0}, packet = {0}, thread = {0}, words = {0};
    put_int(&thread, 1, 7);
    put_int(&thread, 2, 9);
    put_int(&thread, 6, 1000);
    put_word(&words, 2, 3, "old");
    put_message(&packet, 44, &thread);
    put_message(&packet, 12, &words);
    put_packet(&file, &packet, 1, 1);
    static const struct {
        char ph;
        uint64_t delta, duration;
    } events[] = {{'X', 5, 10}, {'B', 20, 0}, {'E', 5, 0}, {'I', 1, 0}};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        buf e = {0}, old = {0};
        packet = (buf){0};
        put_int(&e, 1, events[i].delta);
        put_int(&old, 1, 3);
        put_int(&old, 2, (uint64_t)events[i].ph);
        if (events[i].duration) put_int(&old, 3, events[i].duration);
        put_message(&e, 6, &old);
        put_message(&packet, 11, &e);
        put_packet(&file, &packet, 1, 2);
    }
    trace *t = read_file(&file);
    assert_int_equal(t->slice.n - 1, 2);
    assert_int_equal(t->slice.start[1], 1005000);
    assert_int_equal(t->slice.dur[1], 10000);
    assert_int_equal(t->slice.start[2], 1025000);
    assert_int_equal(t->slice.dur[2], 5000);
    assert_int_equal(t->instant.n - 1, 1);
    assert_int_equal(t->track.tid[1], 9);
    trace_release(t);
    buf_fini(&file);
}

/* Pages of two writers: the end is read before its beginning. */
static void test_a_range_of_two_writers(void **state) {
    (void)state;
    buf file = {0}, e = event_of(END, 5);
    put_event(&file, 300, &e, 2);
    e = event_of(BEGIN, 5);
    put_text(&e, 23, "handed over");
    put_event(&file, 100, &e, 1);
    e = event_of(END, 6);
    put_event(&file, 100, &e, 1); /* of nothing */
    trace *t = read_file(&file);
    assert_int_equal(t->slice.dur[find_slice(t, "handed over")], 200);
    assert_int_equal(count_of_cause(t, CAUSE_UNMATCHED_END), 1);
    assert_int_equal(count_of_cause(t, CAUSE_UNMATCHED_BEGIN), 0);
    trace_release(t);
    buf_fini(&file);
}

/* ---- what is around the packets ---- */

static buf small_file(void) {
    buf file = {0};
    put_thread(&file, 5, 7, 9, "main");
    for (uint64_t i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "range %02u", (unsigned)i);
        put_range(&file, name, "x", 5, 1000 + i * 100, 1050 + i * 100);
    }
    return file;
}

/* As one block that is not compressed, which both formats have. */
static buf zlib_of(const buf *file) {
    buf z = {0};
    uint32_t a = 1, b = 0, n = (uint32_t)file->n;
    for (size_t i = 0; i < file->n; i++) {
        a = (a + (uint8_t)file->p[i]) % 65521;
        b = (b + a) % 65521;
    }
    const uint8_t head[] = {
        0x78, 1, 1, (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)~n, (uint8_t)(~n >> 8)};
    const uint8_t sum[] = {(uint8_t)(b >> 8), (uint8_t)b, (uint8_t)(a >> 8), (uint8_t)a};
    buf_add(&z, head, sizeof head);
    buf_add(&z, file->p, file->n);
    buf_add(&z, sum, sizeof sum);
    return z;
}

static buf zstd_of(const buf *file) {
    buf z = {0};
    uint32_t n = (uint32_t)file->n, block = n << 3 | 1, size = n - 256;
    const uint8_t head[] = {0x28,
                            0xb5,
                            0x2f,
                            0xfd,
                            0x60,
                            (uint8_t)size,
                            (uint8_t)(size >> 8),
                            (uint8_t)block,
                            (uint8_t)(block >> 8),
                            (uint8_t)(block >> 16)};
    buf_add(&z, head, sizeof head);
    buf_add(&z, file->p, file->n);
    return z;
}

static void test_compressed_packets(void **state) {
    (void)state;
    buf plain = small_file();
    trace *expected = read_file(&plain);
    for (int i = 0; i < 3; i++) {
        buf file = {0}, packet = {0}, packed = i == 1 ? zstd_of(&plain) : zlib_of(&plain);
        if (i == 2) packed.n -= 300; /* damaged: what came before is there */
        put_message(&packet, i == 1 ? 133 : 50, &packed);
        put_message(&file, 1, &packet);
        trace *t = read_file(&file);
        if (i < 2) assert_int_equal(t->slice.n, expected->slice.n);
        if (i == 2) {
            assert_true(t->slice.n > 5 && t->slice.n < expected->slice.n);
            assert_int_equal(count_of_cause(t, CAUSE_STREAM_DAMAGED), 1);
        }
        trace_release(t);
        buf_fini(&file);
    }
    trace_release(expected);
    buf_fini(&plain);
}

static void test_what_is_not_read_is_named(void **state) {
    (void)state;
    buf file = small_file();
    for (int i = 0; i < 2; i++) {
        buf packet = {0};
        put_text(&packet, 1, "");
        put_packet(&file, &packet, 3, 0);
    }
    trace *t = read_file(&file);
    assert_int_equal(t->meta.n - 1, 1);
    assert_string_equal(text_of_id(t, t->meta.value[1]), "\"ftrace_events 2\"");
    trace_release(t);
    buf_fini(&file);
}

static void test_a_cut_file_gives_what_came_before_the_cut(void **state) {
    (void)state;
    buf file = small_file();
    trace *all = read_file(&file);
    for (size_t n = 1; n < file.n; n += 7) {
        error err = {0};
        trace *t = read_with(ingest_perfetto, str_n(file.p, n), (read_how){0}, &err);
        assert_non_null(t);
        assert_true(t->slice.n <= all->slice.n);
        assert_true(n < 100 || t->slice.n > 1);
        trace_release(t);
    }
    trace_release(all);
    buf_fini(&file);
}

static void test_damage_costs_only_the_packets_it_is_in(void **state) {
    (void)state;
    buf file = small_file();
    memset(file.p + 300, 0xff, 30);
    trace *t = read_file(&file);
    find_slice(t, "range 00");
    find_slice(t, "range 19");
    assert_true(t->slice.n - 1 >= 17);
    assert_int_equal(count_of_cause(t, CAUSE_BAD_SYNTAX), 1);
    trace_release(t);
    buf_fini(&file);
}

static void test_pieces_change_nothing(void **state) {
    (void)state;
    buf file = small_file();
    error err = {0};
    trace *one = read_file(&file);
    trace *many =
        read_with(ingest_perfetto, buf_str(&file), (read_how){.piece_bytes = 7}, &err);
    assert_non_null(many);
    assert_same_trace(one, many, WITH_OFFSETS);
    trace_release(one);
    trace_release(many);
    buf_fini(&file);
}

static void test_recognized_by_its_packets(void **state) {
    (void)state;
    buf file = small_file();
    assert_true(perfetto_head(buf_str(&file)));
    assert_true(perfetto_head(str_n(file.p, 64))); /* a packet continues after what is seen */
    assert_false(perfetto_head(STR("\x0a\x0d\x08\x02\x12\x09/host:CPU"))); /* XPlane */
    assert_false(perfetto_head(STR("\x0a\x04\x08\x01\x10\x02")));          /* pprof */
    assert_false(perfetto_head(STR("\n<!DOCTYPE html>")));
    assert_false(perfetto_head(STR("")));
    buf_fini(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_nest_on_their_threads),
        cmocka_unit_test(test_tracks_are_a_tree),
        cmocka_unit_test(test_words_hold_until_they_are_defined_again),
        cmocka_unit_test(test_arguments_of_every_kind),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_lost_packets_are_counted),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_flows),
        cmocka_unit_test(test_rocprofv3),
        cmocka_unit_test(test_old_events),
        cmocka_unit_test(test_a_range_of_two_writers),
        cmocka_unit_test(test_compressed_packets),
        cmocka_unit_test(test_what_is_not_read_is_named),
        cmocka_unit_test(test_a_cut_file_gives_what_came_before_the_cut),
        cmocka_unit_test(test_damage_costs_only_the_packets_it_is_in),
        cmocka_unit_test(test_pieces_change_nothing),
        cmocka_unit_test(test_recognized_by_its_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
