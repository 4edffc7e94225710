/* sniff.c: asks the table of formats, and finds a sentence when none of them answers.
 *
 * The first 64 KiB decide nearly always. When a format says maybe (a large object stands in
 * front of the events) the first 4 MiB are looked at; when it is maybe still, its reader gets
 * the source and says itself what it found. Nothing is taken from the source, so a pipe can be
 * read afterwards.
 *
 * What no format wants is told apart as far as it helps: empty, JSON of another kind, text,
 * binary, a compressed stream that gives nothing. */
#include "session/sniff.h"

#include "base/json.h"
#include "ingest/paddle_head.h"

#define FIRST_LOOK ((size_t)64 << 10)
#define SECOND_LOOK ((size_t)4 << 20)
#define SPAN_LOOK ((size_t)4 << 10) /* the number is one of the first things in a file */

static uint16_t name_unknown(str head) {
    if (head.n == 0) return MSG_FOUND_EMPTY;
    const char *first = json_space(head.p, head.p + head.n);
    size_t n_control = 0, n = head.n < 4096 ? head.n : 4096;
    for (size_t i = 0; i < n; i++) {
        char c = head.p[i];
        n_control += (c < ' ' && !json_is_space(c) && c != '\f') || c == 0x7f;
        if (c == 0) return MSG_FOUND_BINARY;
    }
    if (n_control > n / 10) return MSG_FOUND_BINARY;
    if (first == head.p + head.n) return MSG_FOUND_EMPTY;
    return *first == '{' || *first == '[' ? MSG_FOUND_JSON : MSG_FOUND_TEXT;
}

/* The format that is certain, else the first that may be it. */
static const format *ask_formats(str head, bool whole, sniff_answer *answer) {
    const format *maybe = NULL;
    for (uint32_t i = 0; format_at(i); i++) {
        const format *f = format_at(i);
        *answer = f->sniff(head, whole);
        if (*answer == SNIFF_YES) return f;
        if (*answer == SNIFF_MAYBE && !maybe) maybe = f;
    }
    *answer = maybe ? SNIFF_MAYBE : SNIFF_NO;
    return maybe;
}

const format *sniff_bytes(str head, bool whole, uint16_t *found) {
    sniff_answer answer;
    const format *f = ask_formats(head, whole, &answer);
    if (f) *found = f->refused;
    if (!f) *found = name_unknown(head);
    return f && f->refused == MSG_NONE ? f : NULL;
}

static status look(source *s, const format **out, sniff_answer *answer, str *head, error *err) {
    TRY(source_peek(s, FIRST_LOOK, head, err));
    *out = ask_formats(*head, head->n < FIRST_LOOK, answer);
    if (*answer == SNIFF_MAYBE && head->n == FIRST_LOOK) {
        TRY(source_peek(s, SECOND_LOOK, head, err));
        *out = ask_formats(*head, head->n < SECOND_LOOK, answer);
    }
    return OK;
}

status sniff_source(source *s, const char *path, const format **out, error *err) {
    const format *f = NULL;
    sniff_answer answer = SNIFF_NO;
    str head = STR_NONE;
    TRY(look(s, &f, &answer, &head, err));
    if (f && f->refused != MSG_NONE)
        FAIL(err, ERR_UNSUPPORTED, 0, f->refused, arg_cstr("path", path));
    if (!f && head.n == 0 && source_codec(s) != CODEC_NONE && source_damaged(s))
        FAIL(err, ERR_FORMAT, 0, MSG_FOUND_BROKEN_STREAM, arg_cstr("path", path));
    if (!f) FAIL(err, ERR_FORMAT, 0, name_unknown(head), arg_cstr("path", path));
    *out = f;
    return OK;
}

bool sniff_is_torch_npu(source *s) {
    static const size_t looks[] = {FIRST_LOOK, SECOND_LOOK};
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        str head;
        if (source_peek(s, looks[i], &head, NULL) != OK) return false;
        const char *first = json_space(head.p, head.p + head.n);
        if (first == head.p + head.n || (*first != '[' && *first != '{')) return false;
        if (str_find(head, STR("\"aten::"), 0) != SIZE_MAX ||
            str_find(head, STR("\"torch_to_npu\""), 0) != SIZE_MAX)
            return true;
        if (head.n < looks[i]) return false;
    }
    return false;
}

bool sniff_is_trace(const char *path) {
    source *s = NULL;
    if (source_open(path, &s, NULL) != OK) return false;
    const format *f = NULL;
    sniff_answer answer = SNIFF_NO;
    str head;
    status st = look(s, &f, &answer, &head, NULL);
    source_close(s);
    return st == OK && f && answer == SNIFF_YES && f->refused == MSG_NONE;
}

bool sniff_span(const char *path, int64_t *number) {
    source *s = NULL;
    str head;
    if (source_open(path, &s, NULL) != OK) return false;
    bool found = source_peek(s, SPAN_LOOK, &head, NULL) == OK &&
                 (paddle_json_span(head, number) || paddle_pb_span(head, number));
    source_close(s);
    return found;
}
