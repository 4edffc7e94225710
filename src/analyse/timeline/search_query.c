/* search_query.c: what a search asks for, read from its text and tested on names and slices.
 *
 * A regular expression comes from a reader of the page: it is short and has neither repetition
 * counts nor back references, which can cost memory and time without limit. */
#include <regex.h>
#include <string.h>

#include "analyse/kind_names.h"
#include "analyse/select.h"
#include "analyse/timeline/search.h"
#include "base/num.h"
#include "question/value.h"

enum { PATTERN_BYTES = 128, NAME_BYTES = 2048 };

/* ---- reading ----------------------------------------------------------------------------- */

typedef struct {
    str text; /* without its sign and its quotes */
    bool not, quoted;
} search_token;

/* Up to the next blank that is not in quotes. */
static size_t token_length(str rest) {
    bool quoted = false;
    for (size_t i = 0; i < rest.n; i++) {
        if (rest.p[i] == '"') quoted = !quoted;
        if (rest.p[i] == ' ' && !quoted) return i;
    }
    return rest.n;
}

static str without_quotes(str s) {
    if (s.n == 0 || s.p[0] != '"') return s;
    str body = str_from(s, 1);
    size_t end = str_find(body, STR("\""), 0);
    return end == SIZE_MAX ? body : str_n(body.p, end);
}

/* The next word of the text; false at the end. */
static bool next_token(str *rest, search_token *out) {
    *rest = str_trim(*rest);
    if (rest->n == 0) return false;
    out->not = rest->n > 1 && rest->p[0] == '-';
    if (out->not ) *rest = str_from(*rest, 1);
    out->quoted = rest->p[0] == '"';
    size_t n = token_length(*rest);
    out->text = out->quoted ? without_quotes(str_n(rest->p, n)) : str_n(rest->p, n);
    *rest = str_from(*rest, n);
    return true;
}

static status add_kind(search_query *q, str name, bool not, error *err) {
    for (uint8_t k = 0; k < N_KINDS; k++) {
        if (!str_eq(kind_name(k), name) || (k == KIND_OTHER) != str_eq(name, STR("other")))
            continue;
        uint32_t bit = 1u << k;
        q->kinds = not ? (q->kinds ? q->kinds : (1u << N_KINDS) - 1) & ~bit : q->kinds | bit;
        return OK;
    }
    FAIL(err, ERR_ARG, NOPOS, MSG_SEARCH_KIND, arg_text("kind", name));
}

/* `>5ms`, `<=1us`: what follows the field, if there is one. */
static status add_limit(search_query *q, str word, error *err) {
    int64_t ns;
    bool equal = word.n > 1 && word.p[1] == '=';
    if (!value_time(str_from(word, equal ? 2 : 1), &ns))
        FAIL(err, ERR_ARG, NOPOS, MSG_SEARCH_DURATION, arg_text("value", word));
    if (word.p[0] == '>')
        q->least_ns = equal ? ns : add_i64(ns, 1);
    else
        q->most_ns = equal ? ns : sub_i64(ns, 1);
    return OK;
}

static status add_word(search_query *q, str text, search_how how, bool not, error *err) {
    if (q->n_words == SEARCH_WORDS)
        FAIL(err, ERR_ARG, NOPOS, MSG_SEARCH_WORDS, arg_int("most", SEARCH_WORDS));
    q->words[q->n_words].text = text;
    q->words[q->n_words].how = how;
    q->words[q->n_words++].not = not ;
    return OK;
}

static bool is_cheap(str pattern) {
    for (size_t i = 0; i < pattern.n; i++) {
        bool escaped = i > 0 && pattern.p[i - 1] == '\\';
        if (pattern.p[i] == '{' || pattern.p[i] == 0) return false;
        if (escaped && pattern.p[i] >= '0' && pattern.p[i] <= '9') return false;
    }
    return pattern.n > 0 && pattern.n < PATTERN_BYTES;
}

static status compile(str pattern, regex_t *out, error *err) {
    char text[PATTERN_BYTES];
    if (!is_cheap(pattern))
        FAIL(err, ERR_ARG, NOPOS, MSG_SEARCH_PATTERN, arg_text("pattern", pattern));
    memcpy(text, pattern.p, pattern.n);
    text[pattern.n] = 0;
    int failed = regcomp(out, text, REG_EXTENDED | REG_NOSUB | REG_ICASE);
    if (failed == REG_ESPACE) FAIL_MEMORY(err);
    if (failed) FAIL(err, ERR_ARG, NOPOS, MSG_SEARCH_PATTERN, arg_text("pattern", pattern));
    return OK;
}

static status add_pattern(search_query *q, str pattern, bool not, error *err) {
    regex_t regex;
    TRY(compile(pattern, &regex, err)); /* a mistake is the reader's: said before the search */
    regfree(&regex);
    return add_word(q, pattern, SEARCH_PATTERN, not, err);
}

static status add_track(search_query *q, str field, str value, error *err) {
    int64_t number;
    bool good = str_to_i64(value, &number);
    if (!good || q->n_tracks == SEARCH_TRACKS)
        FAIL(err, ERR_ARG, NOPOS, MSG_SEARCH_NUMBER, arg_text("field", field),
             arg_text("value", value));
    q->tracks[q->n_tracks].number = number;
    q->tracks[q->n_tracks++].stream = str_eq(field, STR("stream"));
    return OK;
}

static status add_steps(search_query *q, str value, error *err) {
    if (!value_parse(VALUE_STEPS, NULL, value, &q->steps))
        FAIL(err, ERR_ARG, NOPOS, MSG_SEARCH_NUMBER, arg_text("field", STR("step")),
             arg_text("value", value));
    return OK;
}

/* A word that is a field; *is_field is false when it is only a word. */
static status add_field(search_query *q, const search_token *w, bool *is_field, error *err) {
    size_t at = 0;
    while (at < w->text.n && w->text.p[at] >= 'a' && w->text.p[at] <= 'z') at++;
    *is_field = at > 0 && at + 1 < w->text.n && !w->quoted;
    if (!*is_field) return OK;
    str field = str_n(w->text.p, at), value = without_quotes(str_from(w->text, at + 1));
    char sign = w->text.p[at];
    bool equals = sign == '=' || sign == ':';
    if (equals && str_eq(field, STR("kind"))) return add_kind(q, value, w->not, err);
    if (sign == '~' && str_eq(field, STR("name"))) return add_pattern(q, value, w->not, err);
    if (sign == '=' && str_eq(field, STR("name")))
        return add_word(q, value, SEARCH_WHOLE, w->not, err);
    *is_field = !w->not ;
    if (w->not ) return OK;
    if (sign == '=' && (str_eq(field, STR("stream")) || str_eq(field, STR("thread"))))
        return add_track(q, field, value, err);
    if (sign == '=' && str_eq(field, STR("step"))) return add_steps(q, value, err);
    if ((sign == '>' || sign == '<') && str_eq(field, STR("dur")))
        return add_limit(q, str_from(w->text, at), err);
    *is_field = false;
    return OK;
}

status search_parse(str text, search_query *out, error *err) {
    search_query q = {.least_ns = 0, .most_ns = INT64_MAX, .steps = STEPS_ALL};
    search_token w;
    while (next_token(&text, &w)) {
        bool is_field;
        if (w.text.n == 0) continue;
        TRY(add_field(&q, &w, &is_field, err));
        if (is_field) continue;
        bool limit = w.text.n > 1 && (w.text.p[0] == '>' || w.text.p[0] == '<');
        bool number =
            limit && (w.text.p[1] == '=' || (w.text.p[1] >= '0' && w.text.p[1] <= '9'));
        if (number && !w.quoted && !w.not )
            TRY(add_limit(&q, w.text, err));
        else
            TRY(add_word(&q, w.text, SEARCH_WORD, w.not, err));
    }
    *out = q;
    return OK;
}

bool search_is_empty(const search_query *q) {
    return q->n_words == 0 && q->kinds == 0 && q->least_ns == 0 && q->most_ns == INT64_MAX &&
           q->n_tracks == 0 && steps_are_all(q->steps);
}

/* ---- testing ----------------------------------------------------------------------------- */

struct search_filter {
    search_query q;
    const lod *l;
    uint32_t n_compiled; /* of the words, in order */
    regex_t compiled[SEARCH_WORDS];
    selection steps;
    bool by_step;
};

void search_filter_fini(search_filter *f) {
    for (uint32_t i = 0; f && i < f->n_compiled; i++)
        if (f->q.words[i].how == SEARCH_PATTERN) regfree(&f->compiled[i]);
}

static status compile_words(search_filter *f, error *err) {
    for (; f->n_compiled < f->q.n_words; f->n_compiled++)
        if (f->q.words[f->n_compiled].how == SEARCH_PATTERN)
            TRY(compile(f->q.words[f->n_compiled].text, &f->compiled[f->n_compiled], err));
    return OK;
}

status search_filter_make(const search_query *q, const lod *l, arena *a, search_filter **out,
                          error *err) {
    search_filter *f = ARENA_ARRAY(a, search_filter, 1);
    if (!f) FAIL_MEMORY(err);
    *f = (search_filter){0};
    f->q = *q;
    f->l = l;
    f->by_step = !steps_are_all(q->steps);
    f->steps = select_all(l->t);
    f->steps.by_step = f->by_step;
    f->steps.first_step = q->steps.first;
    f->steps.last_step = q->steps.last;
    status s = f->by_step ? trace_require(l->t, SELECT_TABLES, err) : OK;
    if (s == OK) s = compile_words(f, err);
    if (s != OK) search_filter_fini(f);
    *out = f;
    return s;
}

static bool fits_pattern(const regex_t *regex, str name) {
    char text[NAME_BYTES];
    size_t n = name.n < NAME_BYTES - 1 ? name.n : NAME_BYTES - 1;
    memcpy(text, name.p, n);
    text[n] = 0;
    return regexec(regex, text, 0, NULL, 0) == 0;
}

bool search_fits_name(const search_filter *f, str name) {
    for (uint32_t i = 0; i < f->q.n_words; i++) {
        str text = f->q.words[i].text;
        search_how how = f->q.words[i].how;
        bool found = how == SEARCH_WORD    ? str_find_nocase(name, text, 0) != SIZE_MAX
                     : how == SEARCH_WHOLE ? str_eq(name, text)
                                           : fits_pattern(&f->compiled[i], name);
        if (found == f->q.words[i].not ) return false;
    }
    return true;
}

static bool fits_track(const search_filter *f, uint32_t slice) {
    if (f->q.n_tracks == 0) return true;
    const trace *t = f->l->t;
    uint32_t track = trace_track_of(t, slice);
    bool stream = t->track.kind[track] == TRACK_STREAM;
    for (uint32_t i = 0; i < f->q.n_tracks; i++)
        if (f->q.tracks[i].stream == stream && f->q.tracks[i].number == t->track.tid[track])
            return true;
    return false;
}

bool search_fits_slice(const search_filter *f, uint32_t slice) {
    const trace *t = f->l->t;
    int64_t dur = t->slice.dur[slice];
    if (dur < f->q.least_ns || dur > f->q.most_ns) return false;
    if (f->q.kinds && !(f->q.kinds & 1u << t->slice.kind[slice])) return false;
    if (f->by_step && !select_counts(&f->steps, slice)) return false;
    return fits_track(f, slice);
}
