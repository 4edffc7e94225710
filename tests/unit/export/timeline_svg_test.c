/* timeline_svg_test.c: the timeline as a picture: what is on it, where, and within which size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/timeline_svg.h"
#include "store/builder.h"
#include "unit/export/export_helper.h"

static void add(builder *b, part *p, int64_t tid, const char *name, slice_kind kind,
                int64_t start, int64_t dur) {
    raw_slice row = {.name = intern_add(builder_strings(b), str_of(name)),
                     .kind = kind,
                     .start = start,
                     .dur = dur};
    row.track = part_track(p, (ident){1, false}, (ident){tid, false});
    assert_int_equal(part_slice(p, &row), OK);
}

static trace *seal(builder *b, part *p) {
    trace *t;
    part_finish(p);
    builder_set_format(b, "test");
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static char *draw(const trace *t, timeline_svg_options o, timeline_svg_facts *facts) {
    lod *l;
    buf out = {0};
    error err = {0};
    if (!o.to_ns) o.from_ns = t->start_ns, o.to_ns = t->end_ns;
    assert_int_equal(lod_new(t, NULL, &l, &err), OK);
    assert_int_equal(timeline_svg(l, &o, &out, facts, &err), OK);
    lod_free(l);
    buf_add_byte(&out, '\0');
    assert_true(buf_ok(&out));
    return out.p;
}

static trace *two_threads(void) {
    builder *b = builder_new();
    part *p = builder_part(b);
    add(b, p, 5, "outer", KIND_OP, 0, 1000000);
    add(b, p, 5, "inner<T>&", KIND_OP, 0, 500000);
    add(b, p, 6, "late", KIND_DATA, 900000, 100000);
    return seal(b, p);
}

/* A file may hold any number: the length of the whole is more than a number holds. */
static void test_the_longest_time_there_is(void **state) {
    (void)state;
    builder *b = builder_new();
    part *p = builder_part(b);
    timeline_svg_facts facts;
    add(b, p, 5, "early", KIND_OP, -5000000000, 10);
    add(b, p, 5, "late", KIND_OP, INT64_MAX - 10, 10);
    trace *t = seal(b, p);
    char *svg = draw(t, (timeline_svg_options){.width_px = 1000}, &facts);
    assert_non_null(strstr(svg, "</svg>"));
    free(svg);
    trace_release(t);
}

static void test_boxes_are_at_their_times(void **state) {
    (void)state;
    trace *t = two_threads();
    timeline_svg_facts facts;
    char *svg = draw(t, (timeline_svg_options){.width_px = 1224, .title = STR("a<b")}, &facts);
    assert_int_equal(facts.width_px, 1224); /* 1000 of them for the time */
    assert_int_equal(facts.n_tracks, 2);
    assert_non_null(strstr(svg, "<title>a&lt;b</title>"));
    assert_non_null(strstr(svg, "x=\"210.0\" y=\"98\" width=\"999.0\" height=\"17\""));
    assert_non_null(strstr(svg, "x=\"210.0\" y=\"116\" width=\"499.0\" height=\"17\""));
    assert_non_null(strstr(svg, "<title>inner&lt;T&gt;&amp; \xC2\xB7 500 \xC2\xB5s</title>"));
    assert_non_null(strstr(svg, "thread 5"));
    assert_non_null(strstr(svg, "data loading")); /* of the legend */
    assert_null(strstr(svg, "kernels"));
    assert_non_null(strstr(svg, "prefers-color-scheme:dark"));
    free(svg);
    trace_release(t);
}

static void test_tracks_without_anything_in_the_window_are_left_out(void **state) {
    (void)state;
    trace *t = two_threads();
    timeline_svg_facts facts;
    char *svg = draw(t, (timeline_svg_options){.from_ns = 100, .to_ns = 800000}, &facts);
    assert_int_equal(facts.n_tracks, 1);
    assert_null(strstr(svg, "thread 6"));
    free(svg);
    trace_release(t);
}

/* More threads than are drawn, deeper than is drawn, with names as long as they come. */
static trace *crowd(void) {
    builder *b = builder_new();
    part *p = builder_part(b);
    char name[400];
    for (int tid = 0; tid < 90; tid++)
        for (int depth = 0; depth < 40; depth++)
            for (int i = 0; i < 4; i++) {
                int n = snprintf(name, sizeof name, "%d_%d_%d_", tid, depth, i);
                memset(name + n, '"', sizeof name - 1 - (size_t)n);
                name[sizeof name - 1] = '\0';
                add(b, p, tid, name, KIND_OP, i * 1000000, 1000000 - depth * 1000);
            }
    return seal(b, p);
}

static void test_a_crowd_stays_within_its_bytes(void **state) {
    (void)state;
    static const size_t limits[] = {24 << 10, 64 << 10, 300000};
    trace *t = crowd();
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        timeline_svg_facts facts;
        timeline_svg_options o = {.max_bytes = limits[i], .width_px = 100};
        char *svg = draw(t, o, &facts);
        assert_true(strlen(svg) <= limits[i]);
        assert_int_equal(facts.width_px, TIMELINE_SVG_LEAST_PX);
        assert_true(facts.n_tracks > 0 && facts.n_left_out > 0);
        assert_true(facts.height_px < 12000);
        assert_int_equal(count_of(svg, "<g>"), count_of(svg, "</g>"));
        free(svg);
    }
    trace_release(t);
}

static void test_words_are_those_of_the_reader(void **state) {
    (void)state;
    trace *t = two_threads();
    timeline_svg_facts facts;
    timeline_svg_options o = {.words = LANG_ZH};
    char *svg = draw(t, o, &facts);
    buf said = {0};
    o.to_ns = t->end_ns;
    timeline_svg_describe(&said, t, &o, &facts);
    buf_add_byte(&said, '\0');
    assert_non_null(strstr(svg, "\xE7\xBA\xBF\xE7\xA8\x8B 5"));
    assert_non_null(strstr(said.p, "2 \xE6\x9D\xA1\xE8\xBD\xA8\xE9\x81\x93"));
    buf_fini(&said);
    free(svg);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes_are_at_their_times),
        cmocka_unit_test(test_the_longest_time_there_is),
        cmocka_unit_test(test_tracks_without_anything_in_the_window_are_left_out),
        cmocka_unit_test(test_a_crowd_stays_within_its_bytes),
        cmocka_unit_test(test_words_are_those_of_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
