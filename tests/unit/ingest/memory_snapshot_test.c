/* memory_snapshot_test.c: snapshots of every form become memory events with the right totals. */
#include "unit/ingest/snapshot_helper.h"

#include "base/fault.h"

static void check_row(const trace *t, uint32_t row, uint8_t kind, int64_t bytes,
                      int64_t allocated) {
    assert_true(row < t->memory.n);
    assert_int_equal(t->memory.kind[row], kind);
    assert_int_equal(t->memory.bytes[row], bytes);
    assert_int_equal(t->memory.allocated[row], allocated);
}

static bool has_meta(const trace *t, const char *key, const char *value) {
    return str_eq(trace_meta(t, str_of(key)), str_of(value));
}

/* ---- the history ------------------------------------------------------------------------- */

static void events_have_running_totals_and_their_order(void **state) {
    trace *t = trace_of(
        "{'segments': [{'device': 0, 'address': 4096, 'total_size': 1000, 'stream': 0, "
        "'blocks':"
        "  [{'address': 4096, 'size': 1024, 'requested_size': 100, 'state': "
        "'active_allocated'}]}],"
        " 'device_traces': [[{'action': 'segment_alloc', 'addr': 4096, 'size': 1000, "
        "'time_us': 50},"
        "   {'action': 'alloc', 'addr': 4096, 'size': 100, 'time_us': 50, 'stream': 7},"
        "   {'action': 'alloc', 'addr': 5120, 'size': 30, 'time_us': 53},"
        "   {'action': 'free_requested', 'addr': 5120, 'size': 30, 'time_us': 60},"
        "   {'action': 'free_completed', 'addr': 5120, 'size': 30, 'time_us': 61}]]}");
    assert_true(str_eq(t->format, STR("torch_memory_snapshot")));
    assert_int_equal(t->memory.n, 1 + 4);
    check_row(t, 1, MEMORY_SEGMENT_ALLOC, 1000, 0);
    check_row(t, 2, MEMORY_ALLOC, 1024, 1024); /* as the final state has it */
    check_row(t, 3, MEMORY_ALLOC, 512, 1536);  /* rounded up */
    check_row(t, 4, MEMORY_FREE, -512, 1024);
    assert_int_equal(t->memory.partner[3], 4);
    assert_int_equal(t->memory.partner[4], 3);
    assert_int_equal(t->memory.partner[2], 0);
    for (uint32_t i = 1; i < t->memory.n; i++) {
        assert_int_equal(t->memory.reserved[i], 1000);
        assert_int_equal(t->memory.device[i], 0);
        assert_int_equal(t->memory.device_type[i], DEVICE_CUDA);
    }
    assert_int_equal(t->memory.time[1], 0);
    assert_int_equal(t->memory.time[4], 10000);
    assert_int_equal(t->base_unix_ns, 50000);
    assert_int_equal(t->track.tid[t->memory.track[2]], 7);
    assert_int_equal(t->events_read, 5);
    assert_int_equal(t->events_dropped, 0);
    assert_int_equal(trace_quality(t, CAUSE_MEMORY_STATE), 0);
    trace_release(t);
}

static void what_the_history_has_forgotten_is_found_again(void **state) {
    trace *t = trace_of(
        "{'segments': [{'device': 0, 'address': 10, 'total_size': 1000, 'blocks':"
        "  [{'address': 10, 'size': 512, 'requested_size': 7, 'state': 'active_allocated',"
        "    'frames': [{'name': 'f', 'filename': 'a.py', 'line': 3}]},"
        "   {'address': 522, 'size': 100, 'requested_size': 99, 'state': 'inactive'},"
        "   {'address': 600, 'size': 8, 'requested_size': 8, 'state': 'active_pending_free'},"
        "   {'address': 622, 'size': 50, 'requested_size': 50, 'state': 'active_allocated'}]}],"
        " 'device_traces': [[{'action': 'free_requested', 'addr': 999, 'size': 20, 'time_us': "
        "5},"
        "   {'action': 'segment_free', 'addr': 5000, 'size': 300, 'time_us': 6},"
        "   {'action': 'alloc', 'addr': 622, 'size': 50, 'time_us': 7}]]}");
    assert_int_equal(t->memory.n, 1 + 6);
    check_row(t, 1, MEMORY_SEGMENT_EXISTING, 1000, ABSENT_I64); /* by address */
    check_row(t, 2, MEMORY_SEGMENT_EXISTING, 300, ABSENT_I64);
    check_row(t, 3, MEMORY_EXISTING, 512, 1024);
    check_row(t, 4, MEMORY_FREE, -512, 512);
    check_row(t, 5, MEMORY_SEGMENT_FREE, -300, 512);
    check_row(t, 6, MEMORY_ALLOC, 512, 1024);
    assert_int_equal(t->memory.address[1], 10);
    assert_int_equal(t->memory.address[2], 5000);
    assert_int_equal(t->memory.reserved[1], ABSENT_I64);
    assert_int_equal(t->memory.time[1], t->memory.time[4]);
    assert_int_equal(t->memory.reserved[4], 1300);
    assert_int_equal(t->memory.reserved[5], 1000);
    assert_string_equal(frame_name(t, t->memory.frame[3]), "a.py(3): f");
    assert_int_equal(t->memory.partner[4], 0);
    assert_int_equal(trace_quality(t, CAUSE_MEMORY_STATE), 0);
    trace_release(t);
}

static void of_what_existed_only_the_last_row_has_totals(void **state) {
    trace *t = trace_of(
        "{'segments': [{'device': 0, 'address': 16, 'total_size': 64, 'blocks': ["
        "  {'address': 16, 'size': 8, 'requested_size': 5, 'state': 'active_allocated'},"
        "  {'address': 24, 'size': 8, 'requested_size': 6, 'state': 'active_allocated'}]}],"
        " 'device_traces': [[]]}");
    assert_int_equal(t->memory.n, 1 + 3);
    check_row(t, 1, MEMORY_SEGMENT_EXISTING, 64, ABSENT_I64);
    check_row(t, 2, MEMORY_EXISTING, 8, ABSENT_I64);
    check_row(t, 3, MEMORY_EXISTING, 8, 16);
    assert_int_equal(t->memory.reserved[2], ABSENT_I64);
    assert_int_equal(t->memory.reserved[3], 64);
    assert_int_equal(t->device.n, 1 + 1);
    trace_release(t);
}

/* An expandable segment had 40 bytes and got 10; 20 elsewhere were given back. */
static void segments_that_grow_in_pieces_are_found_as_they_were(void **state) {
    trace *t =
        trace_of("{'segments': [{'device': 0, 'address': 100, 'total_size': 50, 'blocks': []}],"
                 " 'device_traces': [["
                 "  {'action': 'segment_map', 'addr': 140, 'size': 10, 'time_us': 1},"
                 "  {'action': 'segment_unmap', 'addr': 500, 'size': 20, 'time_us': 2}]]}");
    assert_int_equal(t->memory.n, 1 + 4);
    check_row(t, 1, MEMORY_SEGMENT_EXISTING, 40, ABSENT_I64);
    check_row(t, 2, MEMORY_SEGMENT_EXISTING, 20, ABSENT_I64);
    assert_int_equal(t->memory.address[1], 100);
    assert_int_equal(t->memory.address[2], 500);
    assert_int_equal(t->memory.reserved[3], 70);
    assert_int_equal(t->memory.reserved[4], 50);
    trace_release(t);
}

static void completions_are_releases_where_requests_were_not_recorded(void **state) {
    trace *t =
        trace_of("{'device_traces': [["
                 "  {'action': 'alloc', 'addr': 1, 'size': 10, 'time_us': 1},"
                 "  {'action': 'free_completed', 'addr': 1, 'size': 10, 'time_us': 2}]]}");
    assert_int_equal(t->memory.n, 1 + 2);
    check_row(t, 2, MEMORY_FREE, -512, 0);
    assert_int_equal(t->memory.reserved[2], ABSENT_I64); /* neither segments nor their events */
    trace_release(t);
}

static void a_history_without_times_keeps_its_order(void **state) {
    trace *t = trace_of("{'segments': [], 'device_traces': [["
                        "  {'action': 'alloc', 'addr': 9, 'size': 10},"
                        "  {'action': 'alloc', 'addr': 3, 'size': 20},"
                        "  {'action': 'free', 'addr': 9, 'size': 10}]]}");
    for (uint32_t i = 1; i <= 3; i++) assert_int_equal(t->memory.time[i], 1000 * (i - 1));
    check_row(t, 3, MEMORY_FREE, -512, 512);
    assert_int_equal(t->base_unix_ns, ABSENT_I64);
    assert_true(has_meta(t, "clock", "\"order of events\""));
    trace_release(t);
}

static void times_never_go_back(void **state) {
    trace *t = trace_of("{'device_traces': [["
                        "  {'action': 'alloc', 'addr': 1, 'size': 1, 'time_us': 100},"
                        "  {'action': 'free_requested', 'addr': 1, 'size': 1, 'time_us': 90},"
                        "  {'action': 'alloc', 'addr': 1, 'size': 2},"
                        "  {'action': 'alloc', 'addr': 2, 'size': 3, 'time_us': 101}]]}");
    assert_int_equal(t->memory.time[1], 10000);
    assert_int_equal(t->memory.time[2], 10000);
    assert_int_equal(t->memory.time[3], 10000);
    assert_int_equal(t->memory.time[4], 11000);
    check_row(t, 4, MEMORY_ALLOC, 512, 1024);
    trace_release(t);
}

static void other_actions_are_points_and_oom_keeps_its_facts(void **state) {
    trace *t = trace_of(
        "{'device_traces': [["
        "  {'action': 'snapshot', 'addr': 0, 'size': 0, 'time_us': 1},"
        "  {'action': 'user_defined', 'user_metadata': 'here', 'time_us': 2},"
        "  {'action': 'oom', 'device_free': 77, 'size': 999, 'time_us': 3},"
        "  {'action': 'alloc', 'addr': 1, 'size': 4, 'time_us': 4, 'compile_context': 'N/A',"
        "   'user_metadata': ''}]]}");
    buf b = {0};
    assert_int_equal(t->instant.n, 1 + 2);
    assert_true(str_eq(trace_str(t, t->instant.name[1]), STR("snapshot")));
    assert_true(str_eq(trace_str(t, t->instant.name[2]), STR("here")));
    check_row(t, 1, MEMORY_OOM, 999, 0);
    assert_int_equal(trace_args_json(t, t->memory.args[1], &b, NULL), OK);
    assert_true(str_find(buf_str(&b), STR("\"device_free\":77"), 0) != SIZE_MAX);
    assert_true(str_find(buf_str(&b), STR("\"Bytes\":999"), 0) != SIZE_MAX);
    assert_int_equal(t->memory.args[2], 0);
    buf_fini(&b);
    trace_release(t);
}

static void events_that_say_too_little_are_counted(void **state) {
    trace *t =
        trace_of("{'device_traces': [[5, {}, {'action': 3}, {'action': 'alloc', 'size': 5},"
                 "  {'action': 'alloc', 'addr': 1}, {'action': 'alloc', 'addr': 1, 'size': -5},"
                 "  {'action': 'alloc', 'addr': 1, 'size': 5}]]}");
    assert_int_equal(t->memory.n, 1 + 1);
    assert_int_equal(t->events_read, 7);
    assert_int_equal(t->events_dropped, 6);
    trace_release(t);
}

static void a_history_that_contradicts_the_end_is_reported(void **state) {
    trace *t = trace_of(
        "{'segments': [{'device': 0, 'address': 16, 'total_size': 64, 'blocks':"
        "   [{'address': 16, 'size': 8, 'requested_size': 5, 'state': 'active_allocated'}]}],"
        " 'device_traces': [[{'action': 'alloc', 'addr': 16, 'size': 5, 'time_us': 1},"
        "   {'action': 'free_requested', 'addr': 16, 'size': 5, 'time_us': 2}," /* but alive at the end */
        "   {'action': 'alloc', 'addr': 32, 'size': 8, 'time_us': 3}," /* but not there at the end */
        "   {'action': 'alloc', 'addr': 48, 'size': 8, 'time_us': 4}," /* twice */
        "   {'action': 'alloc', 'addr': 48, 'size': 8, 'time_us': 5}]]}");
    assert_int_equal(trace_quality(t, CAUSE_MEMORY_STATE), 4);
    trace_release(t);
}

/* ---- forms ------------------------------------------------------------------------------- */

static void the_old_list_of_segments_tells_what_was_alive(void **state) {
    trace *t = trace_of("[{'device': 1, 'address': 1024, 'total_size': 2048, 'allocated_size': "
                        "512, 'stream': 0, 'blocks':"
                        "  [{'size': 512, 'state': 'inactive'},"
                        "   {'size': 512, 'state': 'active_allocated', 'history': [{'addr': "
                        "1536, 'real_size': 500,"
                        "      'frames': [{'name': 'g', 'filename': 'b.py', 'line': 9}]}]},"
                        "   {'size': 512, 'state': 'active_allocated'}]}]");
    assert_int_equal(t->memory.n, 1 + 3);
    check_row(t, 1, MEMORY_SEGMENT_EXISTING, 2048, ABSENT_I64);
    check_row(t, 2, MEMORY_EXISTING, 512, ABSENT_I64);
    check_row(t, 3, MEMORY_EXISTING, 512, 1024);
    assert_int_equal(t->memory.address[2], 1536);
    assert_int_equal(t->memory.address[3], 2048);
    assert_int_equal(t->memory.device[2], 1);
    assert_string_equal(frame_name(t, t->memory.frame[2]), "b.py(9): g");
    assert_true(has_meta(t, "final_reserved_bytes", "2048"));
    assert_true(has_meta(t, "final_allocated_bytes", "512"));
    assert_true(has_meta(t, "segments", "1"));
    trace_release(t);
}

static void devices_are_kept_apart(void **state) {
    trace *t = trace_of(
        "{'segments': [{'device': 2, 'address': 16, 'total_size': 64, 'blocks':"
        "    [{'address': 16, 'size': 8, 'requested_size': 5, 'state': 'active_allocated'}]},"
        "   {'device': 0, 'address': 16, 'total_size': 32, 'blocks': []},"
        "   {'device': -7, 'address': 16, 'total_size': 1, 'blocks': []}],"
        " 'device_traces': [[{'action': 'alloc', 'addr': 16, 'size': 3, 'time_us': 10}], [],"
        "   [{'action': 'alloc', 'addr': 32, 'size': 4, 'time_us': 9}], []]}");
    assert_int_equal(t->device.n, 1 + 3);     /* 0, 2 and -7; 1 and 3 were never used */
    assert_int_equal(t->memory.n, 1 + 6);     /* three of segments */
    assert_int_equal(t->memory.device[1], 2); /* earlier than device 0 */
    check_row(t, 2, MEMORY_EXISTING, 8, 8);
    check_row(t, 3, MEMORY_ALLOC, 512, 520);
    assert_int_equal(t->memory.reserved[3], 64);
    assert_int_equal(t->memory.device[6], 0);
    check_row(t, 6, MEMORY_ALLOC, 512, 512);
    assert_int_equal(t->memory.reserved[6], 32);
    trace_release(t);
}

static void settings_are_metadata(void **state) {
    trace *t = trace_of(
        "{'segments': [], 'allocator_settings': {'a': 'x\"y', 'b': -1, 'c': 0.5, 'd': true,"
        " 'e': null, 'f': {'1': 0}, 'g': false}}");
    assert_true(has_meta(t, "a", "\"x\\\"y\""));
    assert_true(has_meta(t, "b", "-1"));
    assert_true(has_meta(t, "c", "0.5"));
    assert_true(has_meta(t, "d", "true"));
    assert_true(has_meta(t, "e", "null"));
    assert_true(has_meta(t, "g", "false"));
    assert_null(trace_meta(t, STR("f")).p);
    trace_release(t);
}

/* ---- annotations ------------------------------------------------------------------------- */

static void annotations_become_slices_and_steps(void **state) {
    trace *t = trace_of(
        "{'device_traces': [[{'action': 'alloc', 'addr': 1, 'size': 1, 'time_us': 1000}]],"
        " 'external_annotations': ["
        "   {'stage': 'START', 'name': 'ProfilerStep#3', 'device': 0, 'time_us': 900},"
        "   {'stage': 'START', 'name': 'mine', 'device': 0, 'time_us': 910},"
        "   {'stage': 'START', 'name': 'Optimizer.step#SGD.step', 'device': 0, 'time_us': 915},"
        "   {'stage': 'END', 'name': 'mine', 'device': 0, 'time_us': 920}," /* crosses the other */
        "   {'stage': 'END', 'name': 'Optimizer.step#SGD.step', 'device': 0, 'time_us': 930},"
        "   {'stage': 'END', 'name': 'ProfilerStep#3', 'device': 0, 'time_us': 990},"
        "   {'stage': 'END', 'name': 'never began', 'device': 0, 'time_us': 991},"
        "   {'stage': 'START', 'name': 'never ends', 'device': 0, 'time_us': 992}, {'name': "
        "'no time'}, 5]}");
    assert_int_equal(t->step.n, 1 + 1);
    assert_int_equal(t->step.number[1], 3);
    assert_int_equal(t->step.end[1] - t->step.start[1], 90000);
    assert_int_equal(t->memory.time[1], 100000);
    assert_int_equal(t->kind_count[KIND_OPTIMIZER], 1);
    assert_int_equal(t->kind_count[KIND_ANNOTATION], 2);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        str name = trace_slice_name(t, i);
        if (str_eq(name, STR("mine"))) assert_int_equal(t->slice.dur[i], 10000);
        if (str_eq(name, STR("Optimizer.step#SGD.step")))
            assert_int_equal(t->slice.dur[i], 15000);
        if (str_eq(name, STR("never ends"))) assert_true(t->slice.flags[i] & SLICE_UNFINISHED);
    }
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 1);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_BEGIN), 1);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_NAME), 1);
    trace_release(t);
}

/* ---- other files than snapshots ---------------------------------------------------------- */

static void another_pickle_gets_its_sentence(void **state) {
    static const char *const others[] = {"5",
                                         "[]",
                                         "{}",
                                         "[1, 2]",
                                         "{'a': 1}",
                                         "{'segments': 5}",
                                         "[{'total_size': 5}]",
                                         "[{'total_size': 'x', 'blocks': []}]",
                                         "'segments'",
                                         "null"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        buf b = pickle_of(others[i]);
        error err = {0};
        assert_null(trace_of_bytes(buf_str(&b), &err));
        assert_int_equal(err.status, ERR_FORMAT);
        assert_int_equal(err.message, MSG_PICKLE_NO_SNAPSHOT);
        buf_fini(&b);
    }
}

static void a_hostile_snapshot_is_refused(void **state) {
    error err = {0};
    str hostile = STR("\x80\x02}(X\x08\0\0\0segments](cposix\nsystem\n(S'true'\ntReu.");
    assert_null(trace_of_bytes(hostile, &err));
    assert_int_equal(err.status, ERR_UNSUPPORTED);
    assert_int_equal(err.message, MSG_PICKLE_CALLS);
    assert_true(str_eq(err.args[0].u.text, STR("posix.system")));
}

static void add_again(buf *b, char place, int n) {
    for (int i = 0; i < n; i++) {
        buf_add_byte(b, 'h');
        buf_add_byte(b, place);
    }
}

/* n times the same segment, which has n times the same block. */
static buf repeated(int n) {
    buf b = {0};
    buf_add_cstr(&b, "\x80\x02}(");
    (void)write_pickle(&b, "'segments'");
    buf_add_cstr(&b, "](}(");
    (void)write_pickle(&b, "'total_size'");
    (void)write_pickle(&b, "4096");
    (void)write_pickle(&b, "'blocks'");
    buf_add_cstr(&b, "](");
    (void)write_pickle(&b, "{'address': 16, 'size': 8, 'state': 'active_allocated'}");
    buf_add_cstr(&b, "q\x01");
    add_again(&b, 1, n - 1);
    buf_add_cstr(&b, "euq\x02");
    add_again(&b, 2, n - 1);
    buf_add_cstr(&b, "eu.");
    assert_true(buf_ok(&b));
    return b;
}

/* 4 KB that would be walked for hours with a few more zeros. */
static void a_list_of_what_comes_again_and_again_is_refused(void **state) {
    error err = {0};
    buf few = repeated(20), many = repeated(1000);
    trace *t = trace_of_bytes(buf_str(&few), &err);
    assert_non_null(t);
    trace_release(t);
    assert_null(trace_of_bytes(buf_str(&many), &err));
    assert_int_equal(err.status, ERR_LIMIT);
    assert_int_equal(err.message, MSG_PICKLE_TOO_LARGE);
    buf_fini(&few);
    buf_fini(&many);
}

/* A stack is found by its list, without looking into it again. */
static void events_share_a_list_of_frames(void **state) {
    buf b = {0};
    buf_add_cstr(&b, "\x80\x02}(");
    (void)write_pickle(&b, "'device_traces'");
    buf_add_cstr(&b, "](](");
    for (int i = 0; i < 3; i++) {
        buf_add_cstr(&b, "}(");
        (void)write_pickle(&b, "'action'");
        (void)write_pickle(&b, "'alloc'");
        (void)write_pickle(&b, "'addr'");
        buf_printf(&b, "L%d\n", 512 * (i + 1));
        (void)write_pickle(&b, "'size'");
        (void)write_pickle(&b, "512");
        (void)write_pickle(&b, "'frames'");
        if (i == 1) {
            (void)write_pickle(&b, "[{'name': 'f', 'filename': 'a.py', 'line': 3}]");
        } else if (i == 0) {
            (void)write_pickle(&b, "[{'name': 'g', 'filename': 'a.py', 'line': 4}]");
            buf_add_cstr(&b, "q\x01");
        } else {
            add_again(&b, 1, 1);
        }
        buf_add_cstr(&b, "u");
    }
    buf_add_cstr(&b, "eeu.");
    error err = {0};
    trace *t = trace_of_bytes(buf_str(&b), &err);
    assert_non_null(t);
    assert_int_equal(t->memory.n - 1, 3);
    assert_string_equal(frame_name(t, t->memory.frame[1]), "a.py(4): g");
    assert_string_equal(frame_name(t, t->memory.frame[2]), "a.py(3): f");
    assert_int_equal(t->memory.frame[3], t->memory.frame[1]);
    trace_release(t);
    buf_fini(&b);
}

static const char SMALL[] =
    "{'segments': [{'device': 0, 'address': 16, 'total_size': 64, 'blocks':"
    "   [{'address': 16, 'size': 8, 'requested_size': 5, 'state': 'active_allocated', 'frames':"
    "     [{'name': 'f', 'filename': 'a.py', 'line': 3}, {'name': 'g', 'filename': '?\?', "
    "'line': 0}]}]}],"
    " 'device_traces': [[{'action': 'alloc', 'addr': 32, 'size': 6, 'time_us': 1, "
    "'user_metadata': 'x'},"
    "   {'action': 'free_requested', 'addr': 32, 'size': 6, 'time_us': 2},"
    "   {'action': 'snapshot', 'addr': 0, 'size': 0, 'time_us': 3}]],"
    " 'external_annotations': [{'stage': 'START', 'name': 'a', 'device': 0, 'time_us': 1},"
    "   {'stage': 'END', 'name': 'a', 'device': 0, 'time_us': 2}], 'allocator_settings': {'b': "
    "1}}";

static void a_cut_snapshot_gives_its_contents(void **state) {
    buf b = pickle_of(SMALL);
    size_t n_read = 0;
    for (size_t n = 0; n < b.n; n++) {
        error err = {0};
        trace *t = trace_of_bytes(str_n(b.p, n), &err);
        n_read += t != NULL;
        if (!t) assert_int_equal(err.message, MSG_PICKLE_NO_SNAPSHOT);
        if (t) assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
        if (t && n + 1 == b.n) assert_int_equal(t->memory.n, 1 + 3);
        trace_release(t);
    }
    assert_true(n_read > b.n / 2);
    buf_add_cstr(&b, "garbage");
    trace *t = trace_of_bytes(buf_str(&b), NULL);
    assert_int_equal(trace_quality(t, CAUSE_TRAILING_GARBAGE), 1);
    assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 0);
    trace_release(t);
    buf_fini(&b);
}

static void every_failed_allocation_is_an_error(void **state) {
    buf b = pickle_of(SMALL);
    for (uint64_t n = 1;; n++) {
        source *s;
        error err = {0};
        builder *to = builder_new();
        assert_int_equal(source_open_memory(buf_str(&b), &s, NULL), OK);
        fault_arm(FAULT_ALLOC, n);
        status st = ingest_memory_snapshot(s, &(ingest_options){0}, to, &err);
        bool hit = fault_count(FAULT_ALLOC) >= n;
        fault_arm(FAULT_ALLOC, 0);
        source_close(s);
        builder_free(to);
        if (st != OK) assert_int_equal(err.message, MSG_OUT_OF_MEMORY);
        if (!hit) break;
        assert_true(n < 2000);
    }
    buf_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_have_running_totals_and_their_order),
        cmocka_unit_test(what_the_history_has_forgotten_is_found_again),
        cmocka_unit_test(of_what_existed_only_the_last_row_has_totals),
        cmocka_unit_test(segments_that_grow_in_pieces_are_found_as_they_were),
        cmocka_unit_test(completions_are_releases_where_requests_were_not_recorded),
        cmocka_unit_test(a_history_without_times_keeps_its_order),
        cmocka_unit_test(times_never_go_back),
        cmocka_unit_test(other_actions_are_points_and_oom_keeps_its_facts),
        cmocka_unit_test(events_that_say_too_little_are_counted),
        cmocka_unit_test(a_history_that_contradicts_the_end_is_reported),
        cmocka_unit_test(the_old_list_of_segments_tells_what_was_alive),
        cmocka_unit_test(devices_are_kept_apart),
        cmocka_unit_test(settings_are_metadata),
        cmocka_unit_test(annotations_become_slices_and_steps),
        cmocka_unit_test(another_pickle_gets_its_sentence),
        cmocka_unit_test(a_hostile_snapshot_is_refused),
        cmocka_unit_test(a_list_of_what_comes_again_and_again_is_refused),
        cmocka_unit_test(events_share_a_list_of_frames),
        cmocka_unit_test(a_cut_snapshot_gives_its_contents),
        cmocka_unit_test(every_failed_allocation_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
