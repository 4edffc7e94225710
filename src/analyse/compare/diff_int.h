/* diff_int.h: what the files of a comparison share. */
#ifndef ANALYSE_DIFF_INT_H
#define ANALYSE_DIFF_INT_H

#include "analyse/compare/changes.h"
#include "analyse/compare/program_changes.h"
#include "analyse/compare/rank_changes.h"

typedef struct {
    const analysis_input *in;
    compared_side sides[N_SIDES];
    call_tree tree;
    change_causes causes;
    program_changes program;
    int64_t change_ns; /* of the means */
    measured_change measured[N_CHANGED];
    rank_changes ranks;
    call_tree alone_tree; /* of the rank that changed alone: causes of its own step */
    change_causes alone;
    arena *arena;
    answer *out;
} diff;

/* The words for a cause. */
typedef struct {
    const char *id;
    uint16_t title, what; /* what: for the verdict, before a name */
} cause_words;
const cause_words *diff_cause_words(const change_cause *c);

/* The name of a cause, from the tree it was found in; none for what changed in several
 * places. */
str diff_cause_name(const call_tree *tree, const change_cause *c);

/* Table program_changes. */
status diff_write_program(diff *d, error *err) MUST_USE;
/* A change of the program, or the first, as a clause of the verdict: its words are the argument
 * `program`, and `more` counts the others. Nothing where calls did not change. */
void diff_say_change(const diff *d, const program_change *c, verdict *v);
void diff_say_program(const diff *d, verdict *v);

/* Tables causes, steps, breakdown, operators and kernels. */
status diff_write_causes(diff *d, error *err) MUST_USE;
status diff_write_steps(diff *d, error *err) MUST_USE;
status diff_write_breakdown(diff *d, error *err) MUST_USE;
status diff_write_operators(diff *d, error *err) MUST_USE;
status diff_write_kernels(diff *d, error *err) MUST_USE;
/* Table graph_nodes, where a run replays graphs. */
status diff_write_graphs(diff *d, error *err) MUST_USE;
/* same, changed, added or removed: by calls and ns of a step. */
str diff_status_word(const double calls[N_SIDES], const int64_t ns[N_SIDES]);

/* The sentence. */
void diff_judge(const diff *d, verdict *out);

#endif
