/* registry_test.c: the registry is whole, and every answer starts with what it is based on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "analyse/registry.h"
#include "text/text.h"

static void every_analysis_has_help_tables_and_columns(void **state) {
    const analysis_info *a;
    const result_info *r;
    const field_info *f;
    for (uint32_t i = 0; (a = registry_analysis(i)) != NULL; i++) {
        assert_ptr_equal(registry_find(str_of(a->name)), a);
        assert_int_not_equal(a->help, MSG_NONE);
        assert_non_null(a->run);
        assert_non_null(registry_result(a->name, 0));
        for (uint32_t k = 0; (r = registry_result(a->name, k)) != NULL; k++) {
            assert_true(r->n_fields > 0);
            for (uint32_t c = 0; (f = registry_field(r, c)) != NULL; c++)
                assert_int_not_equal(f->help, MSG_NONE);
        }
    }
    assert_null(registry_find(STR("nothing")));
}

static void assert_screen_names_columns(const table *t) {
    str rest = str_of(t->screen.columns ? t->screen.columns : "");
    while (rest.n != 0) {
        size_t blank = str_find(rest, STR(" "), 0);
        str one = blank == SIZE_MAX ? rest : str_n(rest.p, blank);
        if (table_column(t, one) == UINT32_MAX) fail_msg("%s: %s", t->name, one.p);
        rest = blank == SIZE_MAX ? STR_NONE : str_from(rest, blank + 1);
    }
}

/* Words are found for a copy of the name: equal texts of a program may share one place. */
static bool has_words(const char *(*find)(const char *, lang), const char *name) {
    char copy[64];
    snprintf(copy, sizeof copy, "%s", name);
    return find(copy, LANG_ZH) != copy;
}

static void every_analysis_has_a_screen_and_words_for_eyes(void **state) {
    const analysis_info *a;
    const result_info *r;
    const field_info *f;
    arena memory;
    arena_init(&memory, 0);
    for (uint32_t i = 0; (a = registry_analysis(i)) != NULL; i++) {
        answer x = {.analysis = a->name};
        uint32_t on_screen = 0;
        for (uint32_t k = 0; (r = registry_result(a->name, k)) != NULL; k++) {
            const table *t = answer_table(&x, &memory, r->name);
            assert_non_null(t);
            on_screen += t->screen.place != 0;
            assert_screen_names_columns(t);
            if (!has_words(text_title, r->name)) fail_msg("no title: %s", r->name);
            for (uint32_t c = 0; (f = registry_field(r, c)) != NULL; c++)
                if (!has_words(text_header, f->name)) fail_msg("no header: %s", f->name);
        }
        assert_true(on_screen > 0);
    }
    arena_fini(&memory);
}

static void fields_belong_to_their_table(void **state) {
    const result_info *r = registry_result("info", 1);
    assert_string_equal(r->name, "events");
    assert_string_equal(registry_field(r, 0)->name, "kind");
    assert_string_equal(registry_field(r, 1)->name, "count");
    assert_null(registry_field(r, 2));
    const result_info *k = registry_result("kernels", 0);
    assert_string_equal(registry_field(k, COL(kernels, kernels, total))->name, "total");
    assert_string_equal(registry_field(k, COL(kernels, kernels, shared_memory))->name,
                        "shared_memory");
}

static void parameters_allow_what_they_list(void **state) {
    const param_info *p = registry_find_param("operators", STR("group_by"));
    assert_ptr_equal(p, registry_param("operators", 0));
    assert_ptr_equal(p, registry_find_param("operators", STR("group-by")));
    assert_int_equal(p->kind, VALUE_CHOICE);
    assert_true(value_in_list(p->values, str_of(p->fallback)));
    assert_null(registry_find_param("info", STR("group_by")));
    for (int g = 0; g < N_GROUPS; g++) {
        group_by back = N_GROUPS;
        assert_true(group_by_of(str_of(group_by_name((group_by)g)), &back));
        assert_int_equal(back, g);
    }
}

/* A trace without rows but for a few quality counts. */
typedef struct {
    uint16_t cause[3];
    int64_t count[3];
    trace t;
} damaged;

static void make_damaged(damaged *d) {
    *d = (damaged){.cause = {0, CAUSE_NEGATIVE_DURATION, CAUSE_TRUNCATED}, .count = {0, 2, 0}};
    d->t.quality.n = 3;
    d->t.quality.cause = d->cause;
    d->t.quality.count = d->count;
    d->t.events_read = 10;
    d->t.format = STR("kineto");
    d->t.start_ns = 100;
    d->t.end_ns = 350;
    d->t.base_unix_ns = ABSENT_I64;
}

static void an_answer_begins_with_its_source_and_damage(void **state) {
    damaged d;
    arena a;
    answer x;
    make_damaged(&d);
    arena_init(&a, 0);
    analysis_trace at = {.trace = &d.t, .worker = STR("w"), .path = STR("p"), .rank = 3};
    analysis_input in = {.traces = &at, .n_traces = 1};
    assert_int_equal(answer_begin("info", &in, &a, &x, NULL), OK);
    assert_int_equal(x.source.duration_ns, 250);
    assert_int_equal(x.source.start_unix_ns, INT64_MIN);
    assert_true(str_eq(x.source.worker, STR("w")));
    assert_int_equal(x.quality.events_read, 10);
    assert_int_equal(x.quality.n_dropped, 1); /* a cause that never happened is not named */
    assert_string_equal(x.quality.dropped[0].cause, "negative_duration");
    assert_int_equal(x.quality.dropped[0].message, MSG_CAUSE_NEGATIVE_DURATION);
    assert_int_equal(x.quality.n_links, 0);
    arena_fini(&a);
}

static void columns_whose_condition_does_not_hold_go(void **state) {
    arena a;
    arena_init(&a, 0);
    for (int g = 0; g < 3; g++) {
        answer x = {.analysis = "kernels"};
        params p = {.group = g == 0 ? GROUP_NAME : GROUP_LAUNCH};
        if (g == 2) {
            p.extra[0].name = STR("roofline");
            p.extra[0].value = STR("yes");
            p.n_extra = 1;
        }
        table *t = answer_table(&x, &a, "kernels");
        assert_non_null(t);
        assert_int_equal(t->n_columns, N_COL_kernels_kernels);
        assert_int_equal(t->columns[COL(kernels, kernels, name)].rank, 1);
        answer_finish(&x, &p);
        assert_int_equal(t->n_columns, N_COL_kernels_kernels - (g == 0 ? 14 : g == 1 ? 10 : 2));
        assert_int_equal(table_column(t, STR("grid")) == UINT32_MAX, g == 0);
        assert_int_equal(table_column(t, STR("bound")) == UINT32_MAX, g < 2);
        assert_int_not_equal(table_column(t, STR("occupancy")), UINT32_MAX);
    }
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_analysis_has_help_tables_and_columns),
        cmocka_unit_test(every_analysis_has_a_screen_and_words_for_eyes),
        cmocka_unit_test(fields_belong_to_their_table),
        cmocka_unit_test(parameters_allow_what_they_list),
        cmocka_unit_test(an_answer_begins_with_its_source_and_damage),
        cmocka_unit_test(columns_whose_condition_does_not_hold_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
