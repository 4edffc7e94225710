/* megengine_static_read_test.c: a static graph's profile as records, whatever the order of its parts
 * and however it is damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/megengine/megengine_static_int.h"
#include "io/source.h"

static char room[4096]; /* the text and the bytes that may be read after it */
static intern *strings;

static void read_text(static_profile *p, const char *text) {
    size_t n = strlen(text);
    assert_true(n + SOURCE_PAD < sizeof room);
    memset(room, '7', sizeof room); /* digits: a number at the end must not go on there */
    memcpy(room, text, n);
    static_profile_init(p, strings, str_n(room, n));
    static_profile_read(p);
    assert_false(p->failed);
}

static const static_operator *operator_at(const static_profile *p, size_t i) {
    assert_true(i < p->operators.n);
    return &VEC(&p->operators, static_operator)[i];
}

static const static_facts *facts_of(const static_profile *p, size_t i) {
    return &VEC(&p->facts, static_facts)[operator_at(p, i)->facts];
}

static const static_sample *sample_of(const static_profile *p, size_t i, int side) {
    const static_facts *f = facts_of(p, i);
    assert_true(f->n[side] > 0);
    return &VEC(&p->samples, static_sample)[f->first[side]];
}

static void assert_text(uint32_t id, const char *expected) {
    assert_true(str_eq(intern_get(strings, id), str_of(expected)));
}

static void facts_meet_whatever_comes_first(void **state) {
    static const char *const texts[] = {
        "{\"profiler\":{\"host\":{\"5\":{\"t\":{\"start\":1,\"end\":2}},\"6\":{}},"
        "\"opr_footprint\":{\"6\":{\"memory\":9},\"5\":{\"memory\":8}}},"
        "\"graph_exec\":{\"operator\":{\"6\":{\"name\":\"b\"},\"5\":{\"name\":\"a\"}}}}",
        "{\"graph_exec\":{\"operator\":{\"6\":{\"name\":\"b\"},\"5\":{\"name\":\"a\"}}},"
        "\"profiler\":{\"opr_footprint\":{\"5\":{\"memory\":8},\"6\":{\"memory\":9}},"
        "\"host\":{\"6\":{},\"5\":{\"t\":{\"end\":2,\"start\":1}}}}}"};
    for (size_t i = 0; i < 2; i++) {
        static_profile p;
        read_text(&p, texts[i]);
        assert_true(p.whole && p.has_profiler);
        assert_int_equal(p.operators.n, 2);
        assert_text(operator_at(&p, 0)->name, "b");
        assert_int_equal(facts_of(&p, 0)->n[SIDE_HOST], 0);
        const static_sample *s = sample_of(&p, 1, SIDE_HOST);
        assert_true(s->timed && s->start_ns == 1000000000 && s->end_ns == 2000000000);
        const static_footprint *f =
            &VEC(&p.footprints, static_footprint)[facts_of(&p, 1)->footprint];
        assert_int_equal(f->bytes, 8);
        static_profile_fini(&p);
    }
}

static void of_a_key_that_comes_twice_the_last_counts(void **state) {
    static_profile p;
    read_text(&p, "{\"profiler\":{\"device\":{\"5\":{\"g\":{\"start\":1,\"end\":2}},"
                  "\"5\":{\"g\":{\"start\":3,\"end\":4}}}},"
                  "\"graph_exec\":{\"operator\":{\"5\":{}}}}");
    assert_int_equal(facts_of(&p, 0)->n[SIDE_DEVICE], 1);
    assert_int_equal(sample_of(&p, 0, SIDE_DEVICE)->start_ns, 3000000000);
    static_profile_fini(&p);
}

/* Numbers that are their own keys, and texts that are none. */
static void ids_are_the_same_only_when_their_texts_are(void **state) {
    static const char *const ids[] = {
        "0",  "00", "7",     "07", "12345678",         "123456789",
        "1 ", "",   "x\\\"", "-7", "1234567890123456", "12345678901234567890123"};
    size_t n = sizeof ids / sizeof *ids;
    char text[2048];
    int at = snprintf(text, sizeof text, "{\"profiler\":{\"opr_footprint\":{");
    for (size_t i = 0; i < n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s\"%s\":{\"memory\":%zu}",
                       i ? "," : "", ids[i], i);
    at += snprintf(text + at, sizeof text - (size_t)at, "}},\"graph_exec\":{\"operator\":{");
    for (size_t i = n; i-- > 0;)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s\"%s\":{}", i + 1 < n ? "," : "",
                       ids[i]);
    snprintf(text + at, sizeof text - (size_t)at, "}}}");
    static_profile p;
    read_text(&p, text);
    assert_int_equal(p.operators.n, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t row = facts_of(&p, n - 1 - i)->footprint;
        assert_int_equal(VEC(&p.footprints, static_footprint)[row].bytes, i);
    }
    static_profile_fini(&p);
}

static void a_time_is_taken_as_it_was_written(void **state) {
    static const struct {
        const char *text;
        int64_t ns;
        bool timed;
    } rows[] = {{"0.173605", 173605000, true},
                {"1e-3", 1000000, true},
                {"\"0.5\"", 500000000, true},
                {"-1", -1000000000, true},
                {"0.0000000005", 1, true},
                {"5000000.000000001", 5000000000000001, true},
                {"null", 0, false},
                {"1e30", 0, false},
                {"12x", 0, false},
                {"[1]", 0, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"profiler\":{\"host\":{\"5\":{\"t\":{\"end\":9, \"start\":%s}}}},"
                 "\"graph_exec\":{\"operator\":{\"5\":{}}}}",
                 rows[i].text);
        static_profile p;
        read_text(&p, text);
        const static_sample *s = sample_of(&p, 0, SIDE_HOST);
        if (s->timed != rows[i].timed) fail_msg("%s", rows[i].text);
        if (s->timed) assert_int_equal(s->start_ns, rows[i].ns);
        static_profile_fini(&p);
    }
}

static void a_type_is_known_of_variables_with_a_place_in_memory(void **state) {
    static_profile p;
    read_text(&p,
              "{\"graph_exec\":{\"var\":{\"1\":{\"a\":[{\"mem_plan\":{\"layout\":{\"dtype\":"
              "\"no\"}}}],\"mem_plan\":{\"x\":1,\"layout\":{\"dtype\":\"Int8\"}},\"b\":{}},"
              "\"2\":{\"mem_plan\":null},\"3\":7,\"4\":{\"mem_plan\":{\"layout\":{}}},"
              "\"6\":{\"mem_plan\":{\"layout\":{\"dtype\":\"Int16\"}}},\"6\":{}},"
              "\"operator\":{\"5\":{\"input\":[\"1\",\"2\"]}}},\"profiler\":{}}");
    assert_true(p.whole);
    assert_text(map_get(&p.type_of, 1), "\"Int8\"");
    assert_int_equal(map_get(&p.type_of, 2), MAP_NONE);
    assert_int_equal(map_get(&p.type_of, 4), MAP_NONE);
    assert_int_equal(map_get(&p.type_of, 6), 0);
    assert_int_equal(operator_at(&p, 0)->n_inputs, 2);
    static_profile_fini(&p);
}

/* Its brackets match, so that its end is known. */
static void a_member_that_is_not_json_costs_only_itself(void **state) {
    static_profile p;
    read_text(
        &p, "{\"profiler\":{\"host\":{\"4\":{\"t\":{\"start\" 1,\"end\":2},\"u\":{\"start\":1,"
            "\"end\":2}},\"5\":{\"t\":,\"u\":3},\"6\":{\"t\":{\"start\":1,\"end\":2}}},"
            "\"opr_footprint\":{\"6\":{\"memory\" 5}}},"
            "\"graph_exec\":{\"var\":{\"1\":{\"mem_plan\"}},\"operator\":{\"4\":{},\"5\":{},"
            "\"6\":{\"name\":\"a\",}}}}");
    assert_true(p.whole);
    assert_int_equal(facts_of(&p, 0)->n[SIDE_HOST], 2);
    assert_false(sample_of(&p, 0, SIDE_HOST)->timed);
    assert_int_equal(facts_of(&p, 1)->n[SIDE_HOST], 0);
    assert_true(sample_of(&p, 2, SIDE_HOST)->timed);
    assert_text(operator_at(&p, 2)->name, "a");
    static_profile_fini(&p);
}

static void what_is_cut_is_not_taken(void **state) {
    static_profile p;
    read_text(&p, "{\"profiler\":{},\"graph_exec\":{\"operator\":{\"4\":{\"name\":\"a\"},\"5\":"
                  "{\"name\":\"b\"");
    assert_false(p.whole);
    assert_int_equal(p.operators.n, 1);
    static_profile_fini(&p);
    read_text(&p, "{\"graph_exec\":{\"operator\":{\"4\":{}}},\"profiler\":{\"host\":{\"4\":{"
                  "\"t\":{\"start\":1,\"end\":2");
    assert_int_equal(facts_of(&p, 0)->n[SIDE_HOST], 0);
    static_profile_fini(&p);
}

static int make_strings(void **state) {
    strings = intern_new();
    return strings ? 0 : -1;
}

static int free_strings(void **state) {
    intern_free(strings);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_meet_whatever_comes_first),
        cmocka_unit_test(of_a_key_that_comes_twice_the_last_counts),
        cmocka_unit_test(ids_are_the_same_only_when_their_texts_are),
        cmocka_unit_test(a_time_is_taken_as_it_was_written),
        cmocka_unit_test(a_type_is_known_of_variables_with_a_place_in_memory),
        cmocka_unit_test(a_member_that_is_not_json_costs_only_itself),
        cmocka_unit_test(what_is_cut_is_not_taken),
    };
    return cmocka_run_group_tests(tests, make_strings, free_strings);
}
