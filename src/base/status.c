/* status.c: filling an error, and dying of our own mistakes.
 *
 * An error outlives the values it was made from: a path on a caller's stack, a name inside a
 * mapped file. So text values are copied into the error's own 1 KiB. When several do not fit
 * together, each gets an equal share of what is left, so a long path cannot push out the reason
 * after it. A cut never splits a UTF-8 character.
 *
 * The arguments may point into the very error that is being filled (a caller that adds to an
 * error it received), so everything is assembled in a separate buffer and copied over at the
 * end.
 *
 * Nothing here makes a sentence: that is text/. */
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>

/* Largest length ≤ max at which s can be cut without splitting a character. */
static size_t cut_at_border(str s, size_t max) {
    if (s.n <= max) return s.n;
    size_t n = max;
    /* At most three continuation bytes belong to one character; more are not UTF-8 anyway. */
    while (n > 0 && max - n < 3 && ((unsigned char)s.p[n] & 0xC0) == 0x80) n--;
    return ((unsigned char)s.p[n] & 0xC0) == 0x80 ? max : n;
}

static size_t count_texts(const arg *args, int n) {
    size_t texts = 0;
    for (int i = 0; i < n; i++) texts += args[i].type == ARG_TEXT;
    return texts;
}

status error_set(error *err, status code, uint64_t offset, uint16_t message, int n,
                 const arg *args) {
    if (n < 0 || n > MAX_ARGS) BUG("more values than a message can have");
    if (!err) return code;
    char text[sizeof err->text];
    arg copy[MAX_ARGS];
    size_t used = 0, texts_left = count_texts(args, n);
    for (int i = 0; i < n; i++) {
        copy[i] = args[i];
        if (args[i].type != ARG_TEXT) continue;
        str s = args[i].u.text;
        size_t fits = cut_at_border(s, (sizeof text - used) / texts_left--);
        if (fits) memcpy(text + used, s.p, fits);
        copy[i].u.text = str_n(err->text + used, fits);
        used += fits;
    }
    err->status = code;
    err->offset = offset;
    err->message = message;
    err->n_args = (uint8_t)n;
    if (n) memcpy(err->args, copy, (size_t)n * sizeof(arg));
    if (used) memcpy(err->text, text, used);
    err->text_used = (uint32_t)used;
    return code;
}

void error_add_file(error *err, str path) {
    if (!err || err->n_args == MAX_ARGS) return;
    arg args[MAX_ARGS];
    for (int i = 0; i < err->n_args; i++) {
        str name = str_of(err->args[i].name);
        if (str_eq(name, STR("path")) || str_eq(name, STR("url")) ||
            str_eq(name, STR("of_file")))
            return;
        args[i] = err->args[i];
    }
    args[err->n_args] = arg_text("of_file", path);
    (void)error_set(err, err->status, err->offset, err->message, err->n_args + 1, args);
}

void bug_at(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: BUG: %s\n", file, line, what);
    abort();
}
