/* memory_flow_test.c: MegEngine's memory picture: quantities, names that are not XML,
 * damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/megengine/megengine.h"
#include "unit/ingest/read_helper.h"

#define HEAD                                                                              \
    "<?xml version=\"1.0\"?>\n<svg xmlns:tag=\"https://megengine.org.cn\" width=\"5\">\n" \
    "<rect x=\"0\" y=\"0\" width=\"5\" height=\"1\" fill=\"blue\">\n</rect>\n"
#define RECT(name, address, size, produced, erased)                                       \
    "<rect x=\"0.0\" y=\"0.0\" fill=\"#AAAAAA\" tag:type=\"tensor\" tag:name=\"" name     \
    "\" tag:address=\"" address "\" tag:size=\"" size                                     \
    "\" tag:layout=\"{2(1) Float32}\" tag:produced=\"" produced "\" tag:erased=\"" erased \
    "\" tag:duration=\"\" tag:group=\"7\">\n</rect>\n"

static trace *read_picture(const char *text, read_how how) {
    error err;
    return read_with(ingest_memory_flow, str_of(text), how, &err);
}

static void a_rectangle_is_an_allocation_and_its_release(void **state) {
    trace *t = read_picture(
        HEAD RECT("w", "0x7f00", "1GB 2MB 3KB 4B ", "1s 2ms 3us 4ns ", "2s ") "</svg>",
        (read_how){0});
    assert_int_equal(t->memory.n, 3);
    assert_int_equal(t->memory.kind[1], MEMORY_ALLOC);
    assert_int_equal(t->memory.time[1], 1002003004);
    assert_int_equal(t->memory.time[2], 2000000000);
    assert_int_equal(t->memory.bytes[1], 1073741824 + 2097152 + 3072 + 4);
    assert_int_equal(t->memory.address[1], 0x7f00);
    assert_int_equal(t->memory.partner[1], 2);
    assert_int_equal(t->memory.allocated[2], 0);
    const char *args = args_text(t, t->memory.args[1]);
    assert_non_null(strstr(args, "\"name\": \"w\""));
    assert_non_null(strstr(args, "\"layout\": \"{2(1) Float32}\""));
    assert_non_null(strstr(args, "\"group\": \"7\""));
    assert_int_equal(t->events_read, 1); /* the background is not an event */
    assert_true(str_eq(t->format, STR("memory_flow")));
    trace_release(t);
}

static void a_block_is_called_by_its_name(void **state) {
    trace *t = read_picture(HEAD RECT("conv1.ADD:0", "0x10", "4B ", "", "3us ")
                                RECT("", "0x20", "4B ", "1us ", "3us ")
                                    RECT("a &lt; b", "0x30", "4B ", "2us ", "3us "),
                            (read_how){0});
    assert_int_equal(t->memory.n, 7);
    assert_string_equal(text_of_id(t, t->frame.name[t->memory.frame[1]]), "conv1.ADD:0");
    assert_int_equal(t->memory.frame[2], 0);
    assert_string_equal(text_of_id(t, t->frame.name[t->memory.frame[3]]), "a < b");
    trace_release(t);
}

static void a_name_may_hold_anything(void **state) {
    trace *t =
        read_picture(HEAD RECT("quote\" back\\slash <tag> & >\n x=1", "0x10", "4B ", "", "1us ")
                         RECT("&lt;a&quot;&amp;", "0x20", "4B ", "", "1us "),
                     (read_how){0});
    assert_int_equal(t->memory.n, 5);
    assert_non_null(
        strstr(args_text(t, t->memory.args[1]), "quote\\\" back\\\\slash <tag> & >"));
    assert_non_null(strstr(args_text(t, t->memory.args[2]), "<a\\\"&"));
    trace_release(t);
}

static void tensors_that_share_an_address_are_distinguished(void **state) {
    trace *t = read_picture(HEAD RECT("a", "0x10", "4B ", "", "3us ")
                                RECT("b", "0x10", "4B ", "1us ", "2us ")
                                    RECT("c", "0x10", "4B ", "2us ", "2us "),
                            (read_how){0});
    assert_int_equal(t->memory.n, 7);
    for (uint32_t i = 1; i < t->memory.n; i++) {
        uint32_t partner = t->memory.partner[i];
        assert_true(partner && t->memory.args[partner] == t->memory.args[i]);
        assert_true(t->memory.allocated[i] >= 0);
    }
    trace_release(t);
}

static void a_block_is_on_the_device_it_tells(void **state) {
    trace *t = read_picture(
        HEAD "<rect x=\"0\" tag:address=\"0x10\" tag:size=\"1KB \" tag:produced=\"\" "
             "tag:erased=\"1us \" tag:place=\"1:3\" tag:device=\"GPU\">\n</rect>\n"
             "<rect x=\"0\" tag:address=\"0x10\" tag:size=\"2KB \" tag:produced=\"\" "
             "tag:erased=\"2us \" tag:place=\"129:0\" tag:device=\"a&amp;b\">\n</rect>\n"
             "<rect x=\"0\" tag:address=\"0x10\" tag:size=\"4KB \" tag:produced=\"\" "
             "tag:erased=\"3us \" tag:place=\"9999:x\">\n</rect>\n</svg>",
        (read_how){0});
    assert_int_equal(t->memory.n, 7);
    static const struct {
        uint8_t type;
        int32_t id;
        int64_t allocated;
    } want[] = {{DEVICE_CUDA, 3, 1024}, {DEVICE_NAMED + 1, 0, 2048}, {DEVICE_UNKNOWN, 0, 4096}};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(t->memory.device_type[i + 1], want[i].type);
        assert_int_equal(t->memory.device[i + 1], want[i].id);
        assert_int_equal(t->memory.allocated[i + 1], want[i].allocated);
    }
    assert_int_equal(t->device_word.n, 2);
    assert_int_equal(t->device_word.type[1], DEVICE_NAMED + 1);
    assert_true(str_eq(trace_str(t, t->device_word.name[1]), STR("a&b")));
    trace_release(t);
}

static void a_damaged_rectangle_costs_itself(void **state) {
    trace *t = read_picture(HEAD RECT("a", "7f", "4B ", "", "3us ")
                                RECT("b", "0x10", "4X ", "", "2us ")
                                    RECT("c", "0x10", "4B ", "3us ", "2us ")
                                        RECT("d", "0x10", "4B ", "", "2us ") "<rect x=\"1",
                            (read_how){0});
    assert_int_equal(t->memory.n, 3);
    assert_int_equal(trace_quality(t, CAUSE_BAD_SYNTAX), 2);
    assert_int_equal(trace_quality(t, CAUSE_NEGATIVE_DURATION), 1);
    assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
    trace_release(t);
}

static void a_picture_without_tensors_is_refused(void **state) {
    assert_null(read_picture(HEAD "</svg>", (read_how){0}));
    assert_null(read_picture("", (read_how){0}));
}

static void cut_anywhere_it_is_read_or_refused(void **state) {
    static const char text[] =
        HEAD RECT("a", "0x10", "4B ", "", "3us ") RECT("b", "0x20", "4B ", "", "2us ") "</svg>";
    for (size_t n = 0; n < sizeof text; n++) {
        error err;
        trace *t = read_with(ingest_memory_flow, str_n(text, n), (read_how){0}, &err);
        trace_release(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rectangle_is_an_allocation_and_its_release),
        cmocka_unit_test(a_block_is_called_by_its_name),
        cmocka_unit_test(a_name_may_hold_anything),
        cmocka_unit_test(tensors_that_share_an_address_are_distinguished),
        cmocka_unit_test(a_block_is_on_the_device_it_tells),
        cmocka_unit_test(a_damaged_rectangle_costs_itself),
        cmocka_unit_test(a_picture_without_tensors_is_refused),
        cmocka_unit_test(cut_anywhere_it_is_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
