/* advice_advisor.c: rules that pass on what another program advised about the run: msadvisor,
 * CANN's expert system, whose answer is next to the files of MindSpore's profiler
 * (mindspore_advisor.c).
 *
 * Its model of the AI CPU is known: its suggestion is given here in both languages, with the
 * operators it names. For its other models the words of the file are shown unchanged. What it
 * found was not measured here, so no saving is estimated. */
#include "analyse/advise/advice.h"
#include "base/buf.h"

enum { MOST_TEXT = 600 };

static uint32_t n_findings(const advice_facts *f) {
    return f->t ? f->t->finding.n : 0;
}

static bool is_ai_cpu(const trace *t, uint32_t finding) {
    return t->finding.topic[finding] == FINDING_AI_CPU;
}

/* How many findings are of the AI CPU, or are not. */
static int count_findings(const advice_facts *f, bool ai_cpu) {
    int n = 0;
    for (uint32_t i = 1; i < n_findings(f); i++) n += is_ai_cpu(f->t, i) == ai_cpu;
    return n;
}

bool advice_advisor_names_ai_cpu(const advice_facts *f) {
    return count_findings(f, true) >= advice_limit.advisor_ai_cpu;
}

/* Adds a text after what is there. */
static void add_text(buf *out, const char *separator, str text) {
    size_t before = out->n;
    if (out->n) buf_add_cstr(out, separator);
    buf_add_str(out, text);
    if (out->n > MOST_TEXT) out->n = before;
}

/* TopK × 12 (30.5 %), … of all findings of the AI CPU; the first one's name. */
static str add_operators(buf *out, const trace *t, arena *a) {
    buf one = {0};
    str first = STR_NONE;
    for (uint32_t i = 1; i < t->finding_op.n; i++) {
        uint32_t finding = t->finding_op.finding[i];
        if (finding >= t->finding.n || !is_ai_cpu(t, finding)) continue;
        str name = trace_str(t, t->finding_op.name[i]);
        if (!first.p) first = arena_str(a, name);
        buf_clear(&one);
        buf_add_str(&one, name);
        buf_printf(&one, " × %lld (%.1f %%)", (long long)t->finding_op.calls[i],
                   t->finding_op.share[i] * 100);
        if (buf_ok(&one)) add_text(out, ", ", buf_str(&one));
    }
    buf_fini(&one);
    return first;
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
    buf conclusion = {0}, operators = {0};
    if (count_findings(f, true) < limit) return false;
    for (uint32_t i = 1; i < n_findings(f); i++) {
        if (!is_ai_cpu(f->t, i)) continue;
        add_text(&conclusion, "; ", trace_str(f->t, f->t->finding.summary[i]));
    }
    out->name = add_operators(&operators, f->t, f->arena);
    out->severity = SEVERITY_WARNING;
    bool ok = add_words(f, out, "summary", &conclusion);
    ok &= add_words(f, out, "operators", &operators);
    return ok;
}

bool advice_advisor_model(const advice_facts *f, double limit, advice *out) {
    buf models = {0}, conclusion = {0}, words = {0};
    if (count_findings(f, false) < limit) return false;
    for (uint32_t i = 1; i < n_findings(f); i++) {
        if (is_ai_cpu(f->t, i)) continue;
        add_text(&models, ", ", trace_str(f->t, f->t->finding.model[i]));
        add_text(&conclusion, "; ", trace_str(f->t, f->t->finding.summary[i]));
        add_text(&words, "; ", trace_str(f->t, f->t->finding.advice[i]));
    }
    out->severity = SEVERITY_INFO;
    bool ok = add_words(f, out, "models", &models);
    ok &= add_words(f, out, "summary", &conclusion);
    ok &= add_words(f, out, "advice", &words);
    return ok;
}
