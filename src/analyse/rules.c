/* rules.c: verdicts: the first rule of an analysis' table that matches its facts.
 *
 * An analysis first computes its tables, then puts what its rules look at into a struct of
 * facts; the rules are in a table, most severe cause first, and each is a small function
 * of the facts alone. The sentence is made elsewhere, from the message and the named values,
 * in the reader's language. */
#include "analyse/rules.h"

#include "base/num.h"
#include "store/traits.h"

void rules_apply(const rule *rules, size_t n, const void *facts, verdict *out) {
    for (size_t i = 0; i < n; i++) {
        verdict v = {
            .id = rules[i].id, .message = rules[i].message, .severity = rules[i].severity};
        if (!rules[i].match(facts, &v)) continue;
        *out = v;
        return;
    }
}

void verdict_add(verdict *v, arg value) {
    if (v->n_args < MAX_ARGS) v->args[v->n_args++] = value;
}

void verdict_add_recorder(verdict *v, const trace *t) {
    if (trace_has(t, TRAIT_TORCH_PROFILER)) verdict_add(v, arg_int("torch", 1));
    if (trace_has(t, TRAIT_OWN_RECORDER)) verdict_add(v, arg_int("own", 1));
}

status answer_note(answer *out, arena *a, const verdict *note, error *err) {
    quality *q = &out->quality;
    verdict *grown =
        arena_grow(a, q->notes, q->n_notes * sizeof *grown, (q->n_notes + 1) * sizeof *grown);
    if (!grown) FAIL_MEMORY(err);
    q->notes = grown;
    q->notes[q->n_notes++] = *note;
    return OK;
}

status answer_link(answer *out, arena *a, const quality_link *link, error *err) {
    quality *q = &out->quality;
    quality_link *grown = arena_array(a, (size_t)q->n_links + 1, sizeof *grown);
    if (!grown) FAIL_MEMORY(err);
    if (q->n_links) memcpy(grown, q->links, q->n_links * sizeof *grown);
    grown[q->n_links++] = *link;
    q->links = grown;
    return OK;
}

const arg *verdict_value(const verdict *v, const char *name) {
    for (uint32_t i = 0; i < v->n_args; i++)
        if (strcmp(v->args[i].name, name) == 0) return &v->args[i];
    return NULL;
}
