/* metrics_test.c: every quantity of metrics.def has a function, columns that exist and words. */
#include "analyse/advise/advice.h"
#include "analyse/cost/op_work.h"
#include "analyse/cost/step_mfu.h"
#include "analyse/device/breakdown.h"
#include "analyse/device/device_metrics.h"
#include "analyse/device/exposed.h"
#include "analyse/device/idle_causes.h"
#include "analyse/memory/memory_view.h"
#include "analyse/operators/op_scan.h"
#include "analyse/registry.h"
#include "analyse/run/comm_resolve.h"
#include "base/message_ids_columns.h"
#include "fake_trace.h"
#include "text/text.h"

/* A function that is renamed, or a column that goes, does not compile here. */
static const struct {
    const char *id;
    void (*function)(void);
    uint16_t name, formula, covers;
} metrics[] = {
#define METRIC(id, header, function)                                            \
    {#id, (void (*)(void))function, MSG_METRIC_##id, MSG_METRIC_##id##_FORMULA, \
     MSG_METRIC_##id##_COVERS},
#include "analyse/metrics.def"
};

static const struct {
    const char *id, *analysis, *table, *column;
    uint32_t at;
} columns[] = {
#define AT(id, analysis, table, column) \
    {#id, #analysis, #table, #column, COL(analysis, table, column)},
#include "analyse/metrics.def"
};

static const struct {
    const char *id;
    uint16_t message;
    const char *value;
} sentences[] = {
#define MSG_ANY MSG_NONE
#define SAID(id, message, value) {#id, MSG_##message, #value},
#include "analyse/metrics.def"
};

static void every_metric_is_defined_once_in_words(void **state) {
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        assert_non_null(metrics[i].function);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(metrics[i].id, metrics[k].id);
        assert_true(metrics[i].name && metrics[i].formula && metrics[i].covers);
    }
}

/* By name as readers see it, and with a definition in its help. */
static void columns_are_those_of_the_registry(void **state) {
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const result_info *r = NULL;
        for (uint32_t k = 0; (r = registry_result(columns[i].analysis, k)) != NULL; k++)
            if (strcmp(r->name, columns[i].table) == 0) break;
        assert_non_null(r);
        const field_info *f = registry_field(r, columns[i].at);
        assert_string_equal(f->name, columns[i].column);
        assert_int_not_equal(f->help, MSG_NONE);
    }
}

static void sentences_have_the_value(void **state) {
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        char open[64];
        if (sentences[i].message == MSG_NONE) continue; /* all that have it */
        snprintf(open, sizeof open, "{%s", sentences[i].value);
        for (int l = 0; l < N_LANGS; l++)
            assert_non_null(strstr(text_get(sentences[i].message, (lang)l), open));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_metric_is_defined_once_in_words),
        cmocka_unit_test(columns_are_those_of_the_registry),
        cmocka_unit_test(sentences_have_the_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
