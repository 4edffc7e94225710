/* advice_advisor.c: rules that pass on what another program advised about the run: msadvisor, CANN's
 * expert system, whose answer lies beside the files of MindSpore's profiler (mindspore_advisor.c).
 *
 * Its model of the AI CPU is known: what it says to do is said here in both languages, beside the
 * operators it names. Of its other models the words of the file are shown as they are. What it found was
 * not measured here, so no saving is estimated. */
#include "analyse/advise/advice.h"
#include "base/buf.h"
#include "base/json.h"

enum { MOST_TEXT = 600 };

static str findings_of(const advice_facts *f) {
    return f->t ? trace_meta(f->t, STR("msadvisor")) : STR_NONE;
}

static bool is_ai_cpu(str finding) {
    return str_eq(json_text(json_member(finding, STR("model"))), STR("AICPUModel"));
}

/* How many findings are of the AI CPU, or are not. */
static int count_findings(const advice_facts *f, bool ai_cpu) {
    json_iter it = json_open(findings_of(f));
    str key, one;
    int n = 0;
    while (json_next(&it, &key, &one)) n += is_ai_cpu(one) == ai_cpu;
    return n;
}

bool advice_advisor_names_ai_cpu(const advice_facts *f) {
    return count_findings(f, true) >= advice_limit.advisor_ai_cpu;
}

/* Adds a text of the file behind what is there. */
static void add_text(buf *out, const char *separator, str json) {
    size_t before = out->n;
    if (out->n) buf_add_cstr(out, separator);
    (void)json_decode(json_text(json), out);
    if (out->n > MOST_TEXT) out->n = before;
}

/* TopK × 12 (30.5 %), … */
static void add_operators(buf *out, str list, str *first, arena *a) {
    json_iter it = json_open(list);
    str key, one;
    while (json_next(&it, &key, &one)) {
        double calls = 0, share = 0;
        (void)!json_f64(json_member(one, STR("calls")), &calls);
        (void)!json_f64(json_member(one, STR("share")), &share);
        if (!out->n) {
            add_text(out, "", json_member(one, STR("name")));
            *first = arena_str(a, buf_str(out));
        } else {
            add_text(out, ", ", json_member(one, STR("name")));
        }
        buf_printf(out, " × %.0f (%.1f %%)", calls, share * 100);
    }
}

/* The texts of a rule as its values; an empty one is a dash. */
static bool add_words(const advice_facts *f, advice *out, const char *name, buf *text) {
    if (!text->n) buf_add_cstr(text, "–");
    str kept = buf_ok(text) ? arena_str(f->arena, buf_str(text)) : STR_NONE;
    buf_fini(text);
    if (!kept.p) return false;
    verdict_add(&out->words, arg_text(name, kept));
    return true;
}

bool advice_advisor_ai_cpu(const advice_facts *f, double limit, advice *out) {
    json_iter it = json_open(findings_of(f));
    str key, one;
    buf conclusion = {0}, operators = {0};
    if (count_findings(f, true) < limit) return false;
    while (json_next(&it, &key, &one)) {
        if (!is_ai_cpu(one)) continue;
        add_text(&conclusion, "; ", json_member(one, STR("summary")));
        add_operators(&operators, json_member(one, STR("operators")), &out->name, f->arena);
    }
    out->severity = SEVERITY_WARNING;
    bool ok = add_words(f, out, "summary", &conclusion);
    ok &= add_words(f, out, "operators", &operators);
    return ok;
}

bool advice_advisor_model(const advice_facts *f, double limit, advice *out) {
    json_iter it = json_open(findings_of(f));
    str key, one;
    buf models = {0}, conclusion = {0}, words = {0};
    if (count_findings(f, false) < limit) return false;
    while (json_next(&it, &key, &one)) {
        if (is_ai_cpu(one)) continue;
        add_text(&models, ", ", json_member(one, STR("model")));
        add_text(&conclusion, "; ", json_member(one, STR("summary")));
        add_text(&words, "; ", json_member(one, STR("advice")));
    }
    out->severity = SEVERITY_INFO;
    bool ok = add_words(f, out, "models", &models);
    ok &= add_words(f, out, "summary", &conclusion);
    ok &= add_words(f, out, "advice", &words);
    return ok;
}
