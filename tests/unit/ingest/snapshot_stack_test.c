/* snapshot_stack_test.c: lists of frames become frames of one tree. */
#include "unit/ingest/snapshot_helper.h"

static void a_stack_is_a_path_of_the_tree(void **state) {
    trace *t = trace_of("{'device_traces': [[{'action': 'alloc', 'addr': 1, 'size': 1, "
                        "'time_us': 1, 'frames': ["
                        "   {'name': 'malloc', 'filename': '?\?', 'line': 0},"
                        "   {'name': 'forward', 'filename': '/m/model.py', 'line': 12},"
                        "   {'name': 'main', 'filename': '/m/train.py', 'line': 5}]},"
                        "  {'action': 'alloc', 'addr': 2, 'size': 1, 'time_us': 2, 'frames': ["
                        "   {'name': 'other', 'filename': '', 'line': 4},"
                        "   {'name': 'forward', 'filename': '/m/model.py', 'line': 12},"
                        "   {'name': 'main', 'filename': '/m/train.py', 'line': 5}]}]]}");
    uint32_t a = t->memory.frame[1], b = t->memory.frame[2];
    assert_string_equal(frame_name(t, a), "malloc");
    assert_string_equal(frame_name(t, b), "other");
    assert_int_equal(t->frame.n, 1 + 4);
    assert_int_equal(t->frame.parent[a], t->frame.parent[b]);
    uint32_t forward = t->frame.parent[a], outer = t->frame.parent[forward];
    assert_string_equal(frame_name(t, forward), "/m/model.py(12): forward");
    assert_true(str_eq(trace_str(t, t->frame.file[forward]), STR("/m/model.py")));
    assert_int_equal(t->frame.line[forward], 12);
    assert_string_equal(frame_name(t, outer), "/m/train.py(5): main");
    assert_int_equal(t->frame.parent[outer], 0);
    trace_release(t);
}

static void equal_lists_are_one_stack_and_shared_ones_too(void **state) {
    /* The same list by the memo, an equal list of the same frame, and one that is longer. */
    static const char frame[] = "}(X\x04\0\0\0nameX\x01\0\0\0fX\x08\0\0\0filenameX\x04\0\0\0a."
                                "pyX\x04\0\0\0lineK\x07uq\x05";
    buf b = {0};
    buf_add(&b, "\x80\x02}(", 4);
    (void)write_pickle(&b, "'device_traces'");
    buf_add_cstr(&b, "](](");
    for (int i = 0; i < 4; i++) {
        buf_add_cstr(&b, "}(");
        (void)write_pickle(&b, "'action'");
        (void)write_pickle(&b, "'alloc'");
        (void)write_pickle(&b, "'size'");
        (void)write_pickle(&b, "1");
        (void)write_pickle(&b, "'addr'");
        buf_add_byte(&b, 'K');
        buf_add_byte(&b, (char)(i + 1));
        (void)write_pickle(&b, "'frames'");
        if (i == 0) {
            buf_add_byte(&b, ']');
            buf_add(&b, "q\x06(", 3);
            buf_add(&b, frame, sizeof frame - 1);
            buf_add_byte(&b, 'e');
        }
        if (i == 1) buf_add(&b, "h\x06", 2);
        if (i == 2)
            buf_add(&b,
                    "](h\x05"
                    "e",
                    5);
        if (i == 3)
            buf_add(&b,
                    "](h\x05h\x05"
                    "e",
                    7);
        buf_add_byte(&b, 'u');
    }
    buf_add_cstr(&b, "eeu.");
    error err = {0};
    trace *t = trace_of_bytes(buf_str(&b), &err);
    assert_non_null(t);
    assert_int_equal(t->memory.n, 1 + 4);
    assert_int_equal(t->memory.frame[1], t->memory.frame[2]);
    assert_int_equal(t->memory.frame[1], t->memory.frame[3]);
    assert_int_equal(t->frame.parent[t->memory.frame[4]], t->memory.frame[1]);
    assert_string_equal(frame_name(t, t->memory.frame[1]), "a.py(7): f");
    trace_release(t);
    buf_fini(&b);
}

static void odd_frames_do_no_harm(void **state) {
    trace *t = trace_of(
        "{'device_traces': [[{'action': 'alloc', 'addr': 1, 'size': 1, 'frames': 'none'},"
        "  {'action': 'alloc', 'addr': 2, 'size': 1, 'frames': []},"
        "  {'action': 'alloc', 'addr': 3, 'size': 1, 'frames': [1, null, {}, 'x', []]},"
        "  {'action': 'alloc', 'addr': 4, 'size': 1, 'frames': [{'filename': 'only.py'}]}]]}");
    assert_int_equal(t->memory.frame[1], 0);
    assert_int_equal(t->memory.frame[2], 0);
    assert_int_equal(t->memory.frame[3], 0);
    assert_string_equal(frame_name(t, t->memory.frame[4]), "only.py");
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_is_a_path_of_the_tree),
        cmocka_unit_test(equal_lists_are_one_stack_and_shared_ones_too),
        cmocka_unit_test(odd_frames_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
