/* advice_evidence.c: an advice without its sentences, as text and back.
 *
 *     severity FS dialect FS from FS to FS step FS name   { RS name FS type FS value }
 *
 * FS and RS are the ASCII separators made for this; in a text they become blanks. Numbers are
 * decimal; a number that is not known is empty. The reader makes the sentences again, in the
 * user's language. */
#include "analyse/advise/advice_evidence.h"

#include "base/num.h"

#define FS '\x1f'
#define RS '\x1e'

static void add_text(buf *out, str text) {
    for (size_t i = 0; i < text.n; i++)
        buf_add_byte(out, text.p[i] == FS || text.p[i] == RS ? ' ' : text.p[i]);
}

static void add_number(buf *out, int64_t v) {
    if (v != ABSENT_I64) buf_add_i64(out, v);
    buf_add_byte(out, FS);
}

static void add_value(buf *out, const arg *v) {
    buf_add_byte(out, RS);
    add_text(out, str_of(v->name));
    buf_add_byte(out, FS);
    buf_add_i64(out, v->type);
    buf_add_byte(out, FS);
    if (v->type == ARG_TEXT)
        add_text(out, v->u.text);
    else if (v->type == ARG_SHARE || v->type == ARG_REAL)
        buf_add_f64(out, v->u.d);
    else
        buf_add_i64(out, v->u.i);
}

void evidence_write(buf *out, const advice_evidence *e) {
    add_number(out, e->words.severity);
    add_number(out, e->dialect);
    add_number(out, e->from);
    add_number(out, e->to);
    add_number(out, e->step);
    add_text(out, e->name);
    for (uint32_t i = 0; i < e->words.n_args; i++) add_value(out, &e->words.args[i]);
}

/* ---- reading ----------------------------------------------------------------------------- */

/* What comes before the next separator, which is taken, too. */
static str take_until(str *rest, char separator) {
    size_t n = 0;
    while (n < rest->n && rest->p[n] != separator) n++;
    str part = str_n(rest->p, n);
    *rest = n < rest->n ? str_from(*rest, n + 1) : str_n(rest->p + n, 0);
    return part;
}

static int64_t take_number(str *rest) {
    int64_t v;
    return str_to_i64(take_until(rest, FS), &v) ? v : ABSENT_I64;
}

/* A named value; ARG_NONE when it is not one. */
static status read_value(str row, arena *a, arg *out, error *err) {
    str name = take_until(&row, FS);
    int64_t type = take_number(&row);
    arg v = {.type = ARG_NONE};
    *out = v;
    if (!name.n || type <= ARG_NONE || type > ARG_PLAIN) return OK;
    name = arena_str(a, name);
    v.u.text = arena_str(a, row);
    if (!name.p || !v.u.text.p) FAIL_MEMORY(err);
    v.name = name.p;
    if (type == ARG_SHARE || type == ARG_REAL) {
        if (!str_to_f64(row, &v.u.d)) return OK;
    } else if (type != ARG_TEXT && !str_to_i64(row, &v.u.i)) {
        return OK;
    }
    v.type = (arg_type)type;
    *out = v;
    return OK;
}

status evidence_read(str text, arena *a, advice_evidence *out, error *err) {
    advice_evidence e = {.name = STR_NONE};
    str head = take_until(&text, RS);
    int64_t how = take_number(&head);
    e.words.severity = SEVERITY_INFO;
    if (how >= 0 && how <= SEVERITY_CRITICAL) e.words.severity = (severity)how;
    int64_t dialect = take_number(&head);
    if (dialect >= 0 && dialect < N_DIALECTS) e.dialect = (advice_dialect)dialect;
    e.from = take_number(&head);
    e.to = take_number(&head);
    e.step = take_number(&head);
    e.name = arena_str(a, head);
    if (!e.name.p) FAIL_MEMORY(err);
    while (text.n && e.words.n_args < MAX_ARGS) {
        arg v;
        TRY(read_value(take_until(&text, RS), a, &v, err));
        if (v.type != ARG_NONE) e.words.args[e.words.n_args++] = v;
    }
    *out = e;
    return OK;
}
