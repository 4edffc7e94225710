/* text.c: the sentences of messages.def as one constant table, and putting values into them.
 *
 * messages.def is read twice: tools/generate numbers its ids for base/message_ids.h, the
 * compiler makes the table here in the same order, so an id is an index. A placeholder is
 * {name} with letters, digits and _ between the braces; anything else in braces is plain text.
 *
 * A text value comes from a file somebody else wrote (a path, a name): control characters in it
 * are shown as ?, so that a message cannot move the reader's cursor. A sentence of ours is
 * written as it is. Not here: tables and their layout (present/). */
#include "text/text.h"

#include "base/fmt.h"

static const char *const SENTENCES[N_MESSAGES][N_LANGS] = {
    {"", ""}, /* MSG_NONE */
#define MESSAGE(id, en, zh) [MSG_##id] = {en, zh},
#include "text/messages.def"
#undef MESSAGE
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

static void put_text(buf *out, str s) {
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        unsigned char next = i + 1 < s.n ? (unsigned char)s.p[i + 1] : 0;
        if (c == 0xc2 && next >= 0x80 && next < 0xa0)
            continue; /* U+0080…9F: shown by its 2nd byte */
        bool second = i != 0 && (unsigned char)s.p[i - 1] == 0xc2 && c >= 0x80 && c < 0xa0;
        buf_add_byte(out, c < 0x20 || c == 0x7f || second ? '?' : (char)c);
    }
}

void text_value(buf *out, const arg *a) {
    switch (a->type) {
    case ARG_NONE: break;
    case ARG_INT: fmt_count(out, a->u.i); break;
    case ARG_PLAIN: buf_add_i64(out, a->u.i); break;
    case ARG_TEXT: put_text(out, a->u.text); break;
    case ARG_BYTES: fmt_bytes(out, a->u.i); break;
    case ARG_TIME: fmt_duration(out, a->u.i); break;
    case ARG_SHARE: fmt_share(out, a->u.d); break;
    case ARG_REAL: fmt_real(out, a->u.d); break;
    }
}

static bool is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* The name when `s` starts with {name}, else an empty one. */
static str placeholder(str s) {
    size_t n = 1;
    if (s.n == 0 || s.p[0] != '{') return STR_NONE;
    while (n < s.n && is_name_byte(s.p[n])) n++;
    return n < s.n && n > 1 && s.p[n] == '}' ? str_n(s.p + 1, n - 1) : STR_NONE;
}

void text_format(buf *out, lang l, uint16_t message, const arg *args, uint32_t n_args) {
    str s = str_of(text_get(message, l));
    while (s.n != 0) {
        str name = placeholder(s);
        uint32_t i = 0;
        while (i < n_args && !(name.n != 0 && str_eq(str_of(args[i].name), name))) i++;
        if (i < n_args) {
            text_value(out, &args[i]);
            s = str_from(s, name.n + 2);
        } else {
            buf_add_byte(out, s.p[0]);
            s = str_from(s, 1);
        }
    }
}

void text_error(buf *out, lang l, const error *err) {
    text_format(out, l, err->message, err->args, err->n_args);
    if (err->offset == NOPOS || err->offset == 0)
        return; /* "at byte 0" tells nobody anything */
    text_put(out, l, MSG_ERROR_AT, arg_int("offset", (int64_t)(err->offset & INT64_MAX)));
}
