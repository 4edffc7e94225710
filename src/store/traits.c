/* traits.c: the rows of formats.def by name, those of facts.def by what they mean. */
#include "store/traits.h"

#include "base/json.h"
#include "store/summary.h"

typedef struct {
    str name;
    framework framework;
    uint32_t traits;
} format_row;

static const format_row *find_format(str name) {
    static const format_row rows[] = {
#define FORMAT(name, framework, traits) {STR(name), FRAMEWORK_##framework, traits},
#include "store/formats.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_eq(rows[i].name, name)) return &rows[i];
    return NULL;
}

uint32_t format_traits(str format) {
    const format_row *row = find_format(format);
    return row ? row->traits : 0;
}

framework format_framework(str format) {
    const format_row *row = find_format(format);
    return row ? row->framework : FRAMEWORK_NONE;
}

typedef struct {
    str key, shown;
    fact fact;
} fact_row;

static const fact_row FACTS[] = {
#define FACT(fact, key, shown) {STR(key), STR(shown), FACT_##fact},
#include "store/facts.def"
};

str trace_fact(const trace *t, fact f) {
    for (size_t i = 0; i < sizeof FACTS / sizeof *FACTS; i++) {
        if (FACTS[i].fact != f) continue;
        str value = str_trim(trace_meta(t, FACTS[i].key));
        if (value.n >= 2 && value.p[0] == '"') value = str_n(value.p + 1, value.n - 2);
        if (value.n) return value;
    }
    return STR_NONE;
}

str fact_shown(fact f) {
    for (size_t i = 0; i < sizeof FACTS / sizeof *FACTS; i++)
        if (FACTS[i].fact == f) return FACTS[i].shown;
    return STR_NONE;
}

int64_t trace_rank(const trace *t) {
    int64_t rank;
    if (t->summary && SUMMARY_N(t->summary, worker) == 1)
        return SUMMARY_ROWS(t->summary, worker)[0].rank;
    return json_i64(json_member(trace_fact(t, FACT_RANK), STR("rank")), &rank) ? rank
                                                                               : ABSENT_I64;
}
