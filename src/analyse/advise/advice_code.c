/* advice_code.c: the change a rule suggests, as code to copy: a row of advice_code.def. */
#include "analyse/advise/advice_code.h"

#include "base/buf.h"

enum { ANY_DIALECT = N_DIALECTS };

static const struct {
    const char *rule;
    int dialect;
    const char *needs, *text;
} codes[] = {
#define CODE(rule, dialect, needs, text) {#rule, dialect, needs, text},
#include "analyse/advise/advice_code.def"
};

static const arg *find_value(const verdict *values, str name) {
    for (uint32_t i = 0; i < values->n_args; i++)
        if (str_eq(str_of(values->args[i].name), name)) return &values->args[i];
    return NULL;
}

/* As code has it: whole numbers without separators. */
static void put_value(buf *b, const arg *v) {
    if (v->type == ARG_TEXT)
        buf_add_str(b, v->u.text);
    else
        buf_add_i64(b, v->u.i);
}

/* {name} by its value; braces around anything else are the code's own. */
static void fill(buf *b, str text, const verdict *values) {
    while (text.n) {
        size_t open = str_find(text, STR("{"), 0);
        size_t close = open == SIZE_MAX ? SIZE_MAX : str_find(text, STR("}"), open);
        const arg *v = NULL;
        if (close != SIZE_MAX)
            v = find_value(values, str_n(text.p + open + 1, close - open - 1));
        size_t plain = open == SIZE_MAX ? text.n : v ? open : open + 1;
        buf_add_str(b, str_n(text.p, plain));
        if (v) put_value(b, v);
        text = str_from(text, v ? close + 1 : plain);
    }
}

status advice_code(const char *rule, advice_dialect dialect, const verdict *values, arena *a,
                   str *out, error *err) {
    *out = STR_NONE;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (strcmp(codes[i].rule, rule) != 0 ||
            (codes[i].dialect != ANY_DIALECT && codes[i].dialect != (int)dialect) ||
            (codes[i].needs[0] && !find_value(values, str_of(codes[i].needs))))
            continue;
        buf b = {0};
        fill(&b, str_of(codes[i].text), values);
        *out = buf_ok(&b) ? arena_str(a, buf_str(&b)) : STR_NONE;
        bool failed = !out->p;
        buf_fini(&b);
        if (failed) FAIL_MEMORY(err);
        return OK;
    }
    return OK;
}
