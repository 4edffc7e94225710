/* question.c: the one parser of questions. Lines are NAME=VALUE; each goes to two doors that spell
 * names in their own ways. Whatever the lines are, both doors understand the same question, or refuse
 * the same line; values that were understood are ones that analyses can work with, and a time
 * or a range that is written again from what was read is read as the same. */
#include "question/question.h"
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "text/text.h"

typedef struct {
    question question;
    bool flag;
    int64_t size, duration, time;
    step_range steps;
    str choice;
} asked;

static const term TERMS[] = {
#define ROW(field, name, kind, value, help, ...) \
    {name, VALUE_##kind, value, 1, 0, 0, offsetof(asked, question.field)},
    QUESTION_TERMS(ROW)
#define OWN(field, kind, value) {#field, VALUE_##kind, value, 1, 0, 0, offsetof(asked, field)},
        OWN(flag, FLAG, "") OWN(size, SIZE, "") OWN(duration, DURATION, "") OWN(time, TIME, "")
            OWN(steps, STEPS, "") OWN(choice, CHOICE, "a|b|c")};

static const param_info PARAMS[] = {
    {"x", "group_by", VALUE_CHOICE, "name", "name|name+shape|type", 0},
    {"x", "at", VALUE_TIME, "", "TIME", 0},
    {"x", "points", VALUE_COUNT, "0", "N", 0},
    {"x", "show_host", VALUE_FLAG, "no", "", 0},
    {"x", "type", VALUE_TEXT, "", "TYPE", 0},
};

static status ask_one(asked *a, const spelling *as, str name, str value, error *err) {
    const term *t = term_find(TERMS, N_OF(TERMS), 1, name);
    if (t) return term_set(t, as, value, a, err);
    for (size_t i = 0; i < N_OF(PARAMS); i++)
        if (value_same_name(str_of(PARAMS[i].name), name))
            return params_add(&a->question.params, &PARAMS[i], as, value, err);
    return OK;
}

/* All lines; *n is how many of them were taken. */
static status ask_all(asked *a, str lines, const spelling *how, uint32_t *n, error *err) {
    question_begin(&a->question);
    terms_clear(TERMS, N_OF(TERMS), a);
    for (*n = 0; lines.n; ++*n) {
        size_t end = str_find(lines, STR("\n"), 0);
        str line = end == SIZE_MAX ? lines : str_n(lines.p, end);
        lines = end == SIZE_MAX ? STR_NONE : str_from(lines, end + 1);
        size_t equals = str_find(line, STR("="), 0);
        str name = equals == SIZE_MAX ? line : str_n(line.p, equals);
        spelling as = {how->name.n ? how->name : name, how->joint};
        TRY(ask_one(a, &as, name, equals == SIZE_MAX ? STR("") : str_from(line, equals + 1),
                    err));
    }
    return question_end(&a->question, how->name.n ? "--" : "", err);
}

static void check_params(const params *p) {
    int64_t at = ABSENT_I64, points = ABSENT_I64;
    CHECK(p->from_ns < p->to_ns && p->first_step <= p->last_step);
    CHECK(p->n_extra <= N_OF(p->extra) && p->group < N_GROUPS);
    CHECK(param_time(p, STR("at"), &at, NULL) == OK && (at == ABSENT_I64 || at >= 0));
    CHECK(param_count(p, STR("points"), &points, NULL) == OK);
    CHECK(points == ABSENT_I64 || points >= 0);
    time_window w = window_at(params_window(p), 1000);
    CHECK(w.from_ns <= w.to_ns && window_is_open(w) == window_is_open(params_window(p)));
}

static void check_again(const asked *a) {
    char text[64];
    int64_t ns;
    step_range steps;
    if (a->time != ABSENT_I64) {
        snprintf(text, sizeof text, "%lld", (long long)a->time);
        CHECK(value_time(str_of(text), &ns) && ns == a->time);
        snprintf(text, sizeof text, "%lldns", (long long)a->time);
        CHECK(value_time(str_of(text), &ns) && ns == a->time);
    }
    if (!steps_are_all(a->steps)) {
        snprintf(text, sizeof text, "%lld..%lld", (long long)a->steps.first,
                 (long long)a->steps.last);
        CHECK(value_parse(VALUE_STEPS, NULL, str_of(text), &steps));
        CHECK(steps.first == a->steps.first && steps.last == a->steps.last);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static asked first, second;
    str lines = {(const char *)data, size};
    error err = {.status = OK}, other = {.status = OK};
    uint32_t n = 0, m = 0;
    buf words = {0};
    status s = ask_all(&first, lines, &(spelling){STR("--x"), " "}, &n, &err);
    CHECK(ask_all(&second, lines, &(spelling){STR(""), "="}, &m, &other) == s);
    CHECK(n == m && err.message == other.message);
    CHECK(s == OK ? err.message == MSG_NONE : s == ERR_ARG && err.message != MSG_NONE);
    if (s == OK) {
        check_params(&first.question.params);
        check_again(&first);
        arrangement how = question_arrangement(&first.question);
        CHECK(how.limit <= INT64_MAX && how.offset <= INT64_MAX);
    } else {
        text_error(&words, LANG_EN, &err);
        CHECK(buf_ok(&words) && words.n);
    }
    buf_fini(&words);
    return 0;
}
