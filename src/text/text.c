/* text.c: the sentences of messages.def as one constant table, and putting values into them.
 *
 * messages.def is read twice: tools/generate numbers its ids for base/message_ids.h, the
 * compiler makes the table here in the same order, so an id is an index. A placeholder begins
 * with {name, of letters, digits and _, and a sign that says what to do (messages.def lists
 * them); anything else in braces is plain text.
 *
 * A text value comes from a file we did not write (a path, a name): control characters in it
 * are written out (\x1b), so that a message cannot move the reader's cursor. A sentence of ours
 * is written as it is. Not here: tables and their layout (present/). */
#include "text/text.h"

#include <string.h>

#include "base/fmt.h"
#include "base/message_ids_all.h"

static const char *const SENTENCES[N_MESSAGES][N_LANGS] = {
    {"", ""}, /* MSG_NONE */
#define MESSAGE(id, en, zh) [MSG_##id] = {en, zh},
#include "text/messages.def"
#undef MESSAGE
};

typedef struct {
    const char *name;
    const char *words[N_LANGS];
} named_words;

static const named_words HEADERS[] = {
#define HEADER(name, en, zh) {#name, {en, zh}},
#define TITLE(name, en, zh)
#define VALUE(column, value, zh)
#include "text/headers.def"
#undef HEADER
#undef TITLE
#undef VALUE
    {NULL, {NULL, NULL}},
};

static const named_words TITLES[] = {
#define HEADER(name, en, zh)
#define TITLE(name, en, zh) {#name, {en, zh}},
#define VALUE(column, value, zh)
#include "text/headers.def"
#undef HEADER
#undef TITLE
#undef VALUE
    {NULL, {NULL, NULL}},
};

static const struct {
    const char *column, *value, *zh;
} VALUES[] = {
#define HEADER(name, en, zh)
#define TITLE(name, en, zh)
#define VALUE(column, value, zh) {#column, #value, zh},
#include "text/headers.def"
#undef HEADER
#undef TITLE
#undef VALUE
};

static const char *const LANG_NAMES[N_LANGS] = {"en", "zh"};

const char *lang_name(lang l) {
    return LANG_NAMES[l];
}

bool lang_of(str name, lang *out) {
    for (int l = 0; l < N_LANGS; l++) {
        if (!str_eq(str_of(LANG_NAMES[l]), name)) continue;
        *out = (lang)l;
        return true;
    }
    return false;
}

lang lang_of_locale(const char *locale) {
    str s = str_of(locale);
    bool zh = str_starts(s, STR("zh")) && (s.n == 2 || s.p[2] == '_' || s.p[2] == '.');
    return zh ? LANG_ZH : LANG_EN;
}

const char *text_get(uint16_t message, lang l) {
    return message < N_MESSAGES ? SENTENCES[message][l] : "";
}

static const char *find_words(const named_words *list, const char *name, lang l) {
    for (; list->name; list++)
        if (strcmp(list->name, name) == 0) return list->words[l];
    return name;
}

const char *text_header(const char *column, lang l) {
    return find_words(HEADERS, column, l);
}

str text_value_word(const char *column, str value, lang l) {
    for (size_t i = 0; l == LANG_ZH && i < sizeof VALUES / sizeof *VALUES; i++)
        if (str_eq(value, str_of(VALUES[i].value)) && strcmp(column, VALUES[i].column) == 0)
            return str_of(VALUES[i].zh);
    return value;
}

const char *text_title(const char *table, lang l) {
    return find_words(TITLES, table, l);
}

/* 5.3, not 5.30: a sentence is not a column of figures. */
static void put_real(buf *out, double v) {
    size_t from = out->n;
    fmt_real(out, v);
    if (!buf_ok(out) || !memchr(out->p + from, '.', out->n - from) ||
        memchr(out->p + from, 'e', out->n - from))
        return;
    while (out->p[out->n - 1] == '0') out->n--;
    if (out->p[out->n - 1] == '.') out->n--;
}

/* A column of figures may round to nothing and to all; a sentence that did would be false. */
static void put_share(buf *out, double share) {
    if (share > 0 && share < 0.0005) {
        buf_add_str(out, STR("<0.1 %"));
    } else if (share >= 0.9995 && share < 1 - 1e-9) {
        buf_add_str(out, STR(">99.9 %"));
    } else {
        fmt_share(out, share);
    }
}

void text_value(buf *out, const arg *a) {
    switch (a->type) {
    case ARG_NONE: break;
    case ARG_INT: fmt_count(out, a->u.i); break;
    case ARG_PLAIN: buf_add_i64(out, a->u.i); break;
    case ARG_TEXT: fmt_safe(out, a->u.text, ""); break;
    case ARG_BYTES: fmt_bytes(out, a->u.i); break;
    case ARG_TIME: fmt_duration(out, a->u.i); break;
    case ARG_SHARE: put_share(out, a->u.d); break;
    case ARG_REAL: put_real(out, a->u.d); break;
    case ARG_WORDS: break; /* of a sentence around it: put_words */
    }
}

/* ---- placeholders ------------------------------------------------------------------------ */

#define NAME_CHARACTERS 64 /* of a name inside a sentence; kernels have several hundred */

typedef struct {
    buf *out;
    lang lang;
    const arg *args;
    uint32_t n_args;
} format;

/* One placeholder: {name}, {name~}, {name#}, {name|one|many}, {name?clause} or {name!clause}.
 */
typedef struct {
    str name, rest; /* rest: what follows the sign, without the last brace */
    char sign;      /* } ~ # | ? ! */
    size_t bytes;   /* of the whole placeholder; 0 when it is not one */
} hole;

static bool is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* Where the brace that opens s closes; 0 when it does not. */
static size_t closing_brace(str s) {
    size_t depth = 0;
    for (size_t i = 0; i < s.n; i++) {
        depth += s.p[i] == '{';
        if (s.p[i] == '}' && --depth == 0) return i;
    }
    return 0;
}

static hole hole_at(str s) {
    hole none = {.bytes = 0};
    size_t n = 1, end;
    if (s.n == 0 || s.p[0] != '{' || (end = closing_brace(s)) == 0) return none;
    while (is_name_byte(s.p[n])) n++;
    if (n == 1 || !strchr("}~#|?!", s.p[n])) return none;
    size_t from = n < end ? n + 1 : end;
    return (hole){.name = str_n(s.p + 1, n - 1),
                  .rest = str_n(s.p + from, end - from),
                  .sign = s.p[n],
                  .bytes = end + 1};
}

static const arg *value_of(const format *f, str name) {
    for (uint32_t i = 0; i < f->n_args; i++)
        if (str_eq(str_of(f->args[i].name), name)) return &f->args[i];
    return NULL;
}

static bool is_known(const arg *a) {
    return a && a->type != ARG_NONE && !(a->type == ARG_TEXT && a->u.text.n == 0);
}

static bool is_one(const arg *a) {
    if (a->type == ARG_INT) return a->u.i == 1;
    return a->type == ARG_REAL && a->u.d == 1.0;
}

/* The byte after the next `characters` of s. */
static size_t after_characters(str s, size_t at, size_t characters) {
    for (; at < s.n && characters > 0; characters--) do
            at++;
        while (at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80);
    return at;
}

static size_t characters_of(str s) {
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

/* A name in at most NAME_CHARACTERS: a longer one loses its middle, since namespaces and
 * functors tell names apart at both ends. */
static void put_name(buf *out, const arg *a) {
    size_t n = a->type == ARG_TEXT ? characters_of(a->u.text) : 0;
    if (n <= NAME_CHARACTERS) {
        text_value(out, a);
        return;
    }
    str s = a->u.text;
    size_t tail = NAME_CHARACTERS / 3, head = NAME_CHARACTERS - 1 - tail;
    arg first = arg_text(a->name, str_n(s.p, after_characters(s, 0, head))),
        last = arg_text(a->name, str_from(s, after_characters(s, 0, n - tail)));
    text_value(out, &first);
    buf_add_cstr(out, "…");
    text_value(out, &last);
}

static void put_sentence(const format *f, str s);

static char lower_byte(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Another sentence as a clause of this one: it begins small, unless its first word is a
 * name. */
static void put_words(const format *f, const arg *a) {
    str s = str_of(text_get((uint16_t)a->u.i, f->lang));
    bool is_name = false;
    for (size_t i = 1; i < s.n && s.p[i] != ' '; i++) is_name |= lower_byte(s.p[i]) != s.p[i];
    if (s.n && !is_name && lower_byte(s.p[0]) != s.p[0]) {
        buf_add_byte(f->out, lower_byte(s.p[0]));
        s = str_from(s, 1);
    }
    put_sentence(f, s);
}

/* False when the value is missing and the placeholder stays visible. */
static bool put_hole(const format *f, const hole *h) {
    const arg *a = value_of(f, h->name);
    size_t bar = str_find(h->rest, STR("|"), 0);
    switch (h->sign) {
    case '?':
        if (is_known(a)) put_sentence(f, h->rest);
        return true;
    case '!':
        if (!is_known(a)) put_sentence(f, h->rest);
        return true;
    default: break;
    }
    if (!a) return false;
    if (h->sign == '|' && bar < h->rest.n)
        put_sentence(f, is_one(a) ? str_n(h->rest.p, bar) : str_from(h->rest, bar + 1));
    else if (a->type == ARG_WORDS)
        put_words(f, a);
    else if (h->sign == '~')
        put_name(f->out, a);
    else if (h->sign == '#' && a->type == ARG_INT)
        buf_add_i64(f->out, a->u.i);
    else
        text_value(f->out, a);
    return true;
}

static void put_sentence(const format *f, str s) {
    while (s.n != 0) {
        hole h = hole_at(s);
        if (h.bytes != 0 && put_hole(f, &h)) {
            s = str_from(s, h.bytes);
        } else {
            buf_add_byte(f->out, s.p[0]);
            s = str_from(s, 1);
        }
    }
}

void text_format(buf *out, lang l, uint16_t message, const arg *args, uint32_t n_args) {
    format f = {.out = out, .lang = l, .args = args, .n_args = n_args};
    put_sentence(&f, str_of(text_get(message, l)));
}

void text_fill(buf *out, str sentence, const arg *args, uint32_t n_args) {
    format f = {.out = out, .args = args, .n_args = n_args};
    put_sentence(&f, sentence);
}

void text_error(buf *out, lang l, const error *err) {
    for (int i = 0; i < err->n_args; i++)
        if (strcmp(err->args[i].name, "of_file") == 0)
            text_format(out, l, MSG_ERROR_OF, &err->args[i], 1);
    text_reason(out, l, err);
}

void text_reason(buf *out, lang l, const error *err) {
    text_format(out, l, err->message, err->args, err->n_args);
    if (err->offset == NOPOS || err->offset == 0) return; /* "at byte 0" says nothing */
    text_put(out, l, MSG_ERROR_AT, arg_int("offset", (int64_t)(err->offset & INT64_MAX)));
}
