/* sniff.c: asks the table of formats, and finds a sentence when none of them answers.
 *
 * The first 64 KiB decide nearly always. When a format says maybe (a large object is in
 * front of the events) the first 4 MiB are looked at; when it is maybe still, its reader gets
 * the source and says itself what it found. Nothing is taken from the source, so a pipe can be
 * read afterwards.
 *
 * What no format accepts is classified as far as it helps: a file of another tool (foreign.c),
 * empty, JSON of another kind, text, binary, a compressed stream that gives nothing. */
#include "session/sniff.h"

#include <stdio.h>

#include "base/json.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "ingest/paddle/paddle_head.h"
#include "session/foreign.h"
#include "store/file.h"
#include "store/trace.h"
#include "store/traits.h"

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

/* What no format is sure of: a file of another tool, by its bytes; when no format wants it at
 * all also by its name. */
static const foreign *find_foreign(str head, const format *f, str path) {
    if (!head.n) return NULL;
    return foreign_of(head, f ? STR_NONE : path);
}

const format *sniff_bytes(str head, bool whole, uint16_t *found) {
    sniff_answer answer;
    const format *f = ask_formats(head, whole, &answer);
    const foreign *other = answer == SNIFF_YES ? NULL : find_foreign(head, f, STR_NONE);
    *found = other ? other->message : f ? MSG_NONE : name_unknown(head);
    return other ? NULL : f;
}

/* The text of a database's tables may be anywhere in its first pages. */
static bool needs_more(str head, sniff_answer answer) {
    return head.n == FIRST_LOOK &&
           (answer == SNIFF_MAYBE || str_starts(head, STR("SQLite format 3")));
}

static status look(source *s, const format **out, sniff_answer *answer, str *head, error *err) {
    TRY(source_peek(s, FIRST_LOOK, head, err));
    *out = ask_formats(*head, head->n < FIRST_LOOK, answer);
    if (needs_more(*head, *answer)) {
        TRY(source_peek(s, SECOND_LOOK, head, err));
        *out = ask_formats(*head, head->n < SECOND_LOOK, answer);
    }
    return OK;
}

static bool is_broken(const source *s, str head) {
    return head.n == 0 && source_codec(s) != CODEC_NONE && source_damaged(s);
}

status sniff_source(source *s, const char *path, const format **out, error *err) {
    const format *f = NULL;
    sniff_answer answer = SNIFF_NO;
    str head = STR_NONE;
    TRY(look(s, &f, &answer, &head, err));
    const foreign *other = answer == SNIFF_YES ? NULL : find_foreign(head, f, str_of(path));
    if (other) FAIL(err, ERR_UNSUPPORTED, 0, other->message, arg_cstr("path", path));
    if (!f && is_broken(s, head))
        FAIL(err, ERR_FORMAT, 0, MSG_FOUND_BROKEN_STREAM, arg_cstr("path", path));
    if (!f) FAIL(err, ERR_FORMAT, 0, name_unknown(head), arg_cstr("path", path));
    *out = f;
    return OK;
}

static sniff_result name_it(const source *s, str head, const format *f, str path) {
    const foreign *other = find_foreign(head, f, path);
    if (other) return (sniff_result){.what = other->what, .message = other->message};
    uint16_t found = is_broken(s, head) ? MSG_FOUND_BROKEN_STREAM : name_unknown(head);
    return (sniff_result){.what = foreign_noun(found)}; /* the sentence would say no more */
}

status sniff_torch_npu(source *s, bool *is, error *err) {
    static const size_t looks[] = {FIRST_LOOK, SECOND_LOOK};
    *is = false;
    for (size_t i = 0; i < sizeof looks / sizeof *looks && !*is; i++) {
        str head;
        TRY(source_peek(s, looks[i], &head, err));
        if (!head.n) return OK;
        const char *first = json_space(head.p, head.p + head.n);
        if (first == head.p + head.n || (*first != '[' && *first != '{')) return OK;
        *is = str_find(head, STR("\"aten::"), 0) != SIZE_MAX ||
              str_find(head, STR("\"torch_to_npu\""), 0) != SIZE_MAX;
        if (head.n < looks[i]) return OK;
    }
    return OK;
}

sniff_result sniff_file(const char *path) {
    source *s = NULL;
    const format *f = NULL;
    sniff_answer answer = SNIFF_NO;
    str head = STR_NONE;
    if (source_open(path, &s, NULL) != OK) return (sniff_result){.what = MSG_WHAT_UNREADABLE};
    status st = look(s, &f, &answer, &head, NULL);
    sniff_result out = {.what = MSG_WHAT_UNREADABLE};
    if (st == OK && f && answer == SNIFF_YES)
        out = (sniff_result){.trace = true};
    else if (st == OK)
        out = name_it(s, head, f, str_of(path));
    source_close(s);
    return out;
}

sniff_result sniff_name(str name) {
    const foreign *other = foreign_of_name(name);
    return other ? (sniff_result){.what = other->what, .message = other->message}
                 : (sniff_result){.what = MSG_WHAT_OTHER};
}

bool sniff_is_trace(const char *path) {
    return sniff_file(path).trace;
}

/* A sealed file has it among its facts. */
static int64_t sealed_rank(const source *s, const char *path) {
    trace *t = NULL;
    if (file_open_fd(source_descriptor(s), path, &t, NULL) != OK) return INT64_MIN;
    int64_t rank = trace_rank(t);
    trace_release(t);
    return rank;
}

int64_t sniff_rank(const char *path) {
    source *s = NULL;
    str head = STR_NONE;
    int64_t rank = INT64_MIN;
    if (source_open(path, &s, NULL) != OK) return rank;
    status st = source_peek(s, FIRST_LOOK, &head, NULL);
    size_t at = st == OK ? str_find(head, STR("\"distributedInfo\""), 0) : SIZE_MAX;
    if (at != SIZE_MAX) {
        str rest = str_from(head, at + sizeof "\"distributedInfo\"" - 1);
        size_t open = str_find(rest, STR("{"), 0);
        str object = open == SIZE_MAX || open > 16 ? STR_NONE : str_from(rest, open);
        if (!object.n || !json_i64(json_member(object, STR("rank")), &rank)) rank = INT64_MIN;
    }
    bool sealed = st == OK && file_is_ours(head) && source_codec(s) == CODEC_NONE;
    if (sealed && rank == INT64_MIN) rank = sealed_rank(s, path);
    source_close(s);
    return rank;
}

static bool sealed_origin(const source *s, const char *path, recording_origin *out) {
    trace *t = NULL;
    if (file_open_fd(source_descriptor(s), path, &t, NULL) != OK) return false;
    int64_t base = trace_base_unix_ns(t);
    str run = trace_fact(t, FACT_RECORDING);
    bool is_ours = trace_has(t, TRAIT_OWN_RECORDER) && base != ABSENT_I64;
    snprintf(out->run, sizeof out->run, "%.*s", STR_ARG(run));
    out->start_unix_ns = add_i64(base, t->start_ns);
    out->end_unix_ns = add_i64(base, t->end_ns);
    trace_release(t);
    return is_ours;
}

/* Its Chrome form has the name near the start, and no time there. */
static bool chrome_origin(str head, recording_origin *out) {
    static const str key = STR("\"recording_run\"");
    size_t at = str_find(head, key, 0);
    if (at == SIZE_MAX) return false;
    str rest = str_from(head, at + key.n);
    size_t open = str_find(rest, STR("\""), 0);
    size_t close = open == SIZE_MAX ? open : str_find(rest, STR("\""), open + 1);
    if (open > 8 || close == SIZE_MAX) return false;
    str run = str_n(rest.p + open + 1, close - open - 1);
    *out = (recording_origin){.start_unix_ns = ABSENT_I64, .end_unix_ns = ABSENT_I64};
    snprintf(out->run, sizeof out->run, "%.*s", STR_ARG(run));
    return out->run[0] != 0;
}

bool sniff_recording(const char *path, recording_origin *out) {
    source *s = NULL;
    str head = STR_NONE;
    if (source_open(path, &s, NULL) != OK) return false;
    status st = source_peek(s, FIRST_LOOK, &head, NULL);
    bool found = st == OK && recording_read_origin(head, out);
    bool sealed = st == OK && !found && file_is_ours(head) && source_codec(s) == CODEC_NONE;
    if (st == OK && !found && !sealed) found = chrome_origin(head, out);
    if (sealed) found = sealed_origin(s, path, out);
    source_close(s);
    return found;
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
