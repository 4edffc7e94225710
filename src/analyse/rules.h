/* rules.h: verdicts: the first rule of an analysis' table that matches its facts. */
#ifndef ANALYSE_RULES_H
#define ANALYSE_RULES_H

#include "store/trace.h"
#include "table/table.h"

/* Fills in v->args and returns true when the rule holds for the facts (a struct of the
 * analysis). */
typedef bool (*rule_match)(const void *facts, verdict *v);

typedef struct {
    const char *id; /* stable: "gpu_idle_data_loader" */
    uint16_t message;
    severity severity;
    rule_match match;
} rule;

/* The verdict of the first rule that matches; `out` stays without an id when none does. The
 * values are in the order in which the rule added them. */
void rules_apply(const rule *rules, size_t n, const void *facts, verdict *out);
/* Adds a named value; more than MAX_ARGS are left out. */
void verdict_add(verdict *v, arg value);
/* The named value; NULL when it has none. */
const arg *verdict_value(const verdict *v, const char *name);
/* Whose options a sentence may name: adds `torch` for a trace of torch.profiler, `own` for one
 * of `tacho record`, else nothing. */
void verdict_add_recorder(verdict *v, const trace *t);
/* A sentence about what the answer is based on. */
status answer_note(answer *out, arena *a, const verdict *note, error *err) MUST_USE;

/* How much of something could be joined to its cause. */
status answer_link(answer *out, arena *a, const quality_link *link, error *err) MUST_USE;

#endif
