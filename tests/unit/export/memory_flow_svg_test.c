/* memory_flow_svg_test.c: time × address as a picture: rectangles on their grid, escaped names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "export/export.h"
#include "store/builder.h"
#include "store/trace.h"

typedef struct {
    int64_t time, bytes;
    uint64_t address;
    int32_t device;
} event;

static trace *make(const event *events, size_t n) {
    builder *b = builder_new();
    part *p = builder_part(b);
    uint32_t args = intern_add(builder_strings(b), STR("{\"name\":\"a<b\\\"&\"}"));
    uint32_t track = part_track(p, (ident){0, false}, (ident){0, false});
    for (size_t i = 0; i < n; i++) {
        raw_memory m = {.time = events[i].time,
                        .address = events[i].address,
                        .bytes = events[i].bytes,
                        .allocated = ABSENT_I64,
                        .reserved = ABSENT_I64,
                        .track = track,
                        .args = part_args_raw(p, args),
                        .tie = (uint32_t)i + 1,
                        .device = events[i].device,
                        .device_type = DEVICE_CUDA,
                        .kind = events[i].bytes > 0 ? MEMORY_ALLOC : MEMORY_FREE};
        assert_int_equal(part_memory(p, &m), OK);
    }
    part_finish(p);
    builder_set_format(b, "test");
    trace *t;
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static char *draw(const event *events, size_t n, status expected) {
    trace *t = make(events, n);
    int fd = memfd_create("svg", 0);
    error err = {0};
    export_options o = {.form = STR("memory_flow.svg")};
    assert_int_equal(export_trace(t, &o, fd, &err), expected);
    char *text = calloc(1, 1 << 16);
    assert_true(pread(fd, text, (1 << 16) - 1, 0) >= 0);
    close(fd);
    trace_release(t);
    return text;
}

static void a_block_is_a_rectangle_on_the_grid(void **state) {
    static const event events[] = {{150000, 1500000, 0x1000000, 0},
                                   {250000, 500000, 0x1000000 + 2000000, 0},
                                   {449999, -1500000, 0x1000000, 0},
                                   {450000, -500000, 0x1000000 + 2000000, 0}};
    char *text = draw(events, 4, OK);
    assert_non_null(strstr(text, "width=\"3\" height=\"2.500000\""));
    assert_non_null(strstr(text, "<rect x=\"0.000000\" y=\"0.000000\" height=\"1.500000\" "
                                 "width=\"2.000000\" fill=\"#BBBBBB\""));
    assert_non_null(strstr(text, "<rect x=\"1.000000\" y=\"2.000000\" height=\"0.500000\" "
                                 "width=\"2.000000\" fill=\"#BBBBBB\""));
    assert_non_null(strstr(text, "tag:produced=\"\" tag:erased=\"299us 999ns \""));
    assert_non_null(strstr(text, "tag:name=\"a&lt;b&quot;&amp;\""));
    free(text);
}

static void devices_are_below_each_other(void **state) {
    static const event events[] = {{0, 1000000, 0x10, 0}, {0, 2000000, 0x99999999, 1}};
    char *text = draw(events, 2, OK);
    assert_non_null(strstr(text, "height=\"3.000000\">"));
    assert_non_null(strstr(text, "y=\"1.000000\" height=\"2.000000\""));
    assert_non_null(strstr(text, "tag:place=\"1:0\" tag:device=\"GPU\""));
    assert_non_null(strstr(text, "tag:place=\"1:1\" tag:device=\"GPU\""));
    free(text);
}

static void a_trace_without_addresses_is_refused(void **state) {
    static const event events[] = {{0, 1000000, 0, 0}};
    free(draw(events, 1, ERR_ARG));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_a_rectangle_on_the_grid),
        cmocka_unit_test(devices_are_below_each_other),
        cmocka_unit_test(a_trace_without_addresses_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
