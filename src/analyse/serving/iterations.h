/* iterations.h: the steps of a program that serves a language model: prefill, decode, or both
 * at once.
 *
 * A server says what is in a batch in the name of the step (vLLM, SGLang, ATOM). Where it does
 * not, the shape of what is looked up in the largest embedding tells: [batch, tokens]; one
 * token for each request is a decode. Every iteration makes one token for each request whose
 * prompt is done. */
#ifndef ANALYSE_ITERATIONS_H
#define ANALYSE_ITERATIONS_H

#include "analyse/intervals.h"
#include "analyse/steps/step_spans.h"

typedef enum {
    ITERATION_UNKNOWN = 0,
    ITERATION_PREFILL,
    ITERATION_DECODE,
    ITERATION_MIXED,
    N_ITERATIONS
} iteration_kind;

typedef struct {
    iteration_kind kind;
    int64_t batch, tokens; /* requests; tokens of all of them; ABSENT_I64: not known */
    /* Of them: requests in prefill with their tokens, and those that decode one each;
     * ABSENT_I64 where a mixed batch does not say. */
    int64_t prompts, prompt_tokens, decodes;
} iteration;

/* "prefill", "decode", "mixed", "unknown". */
const char *iteration_kind_name(iteration_kind kind);
static inline bool iteration_prefills(const iteration *one) {
    return one->kind == ITERATION_PREFILL || one->kind == ITERATION_MIXED;
}
static inline bool iteration_decodes(const iteration *one) {
    return one->kind == ITERATION_DECODE || one->kind == ITERATION_MIXED;
}

/* What each step is, by row of table step, all UNKNOWN when the program does not serve; *n: how
 * many are known. */
status iterations_find(const trace *t, arena *a, iteration **by_step, uint32_t *n,
                       error *err) MUST_USE;

/* What a step's name says; UNKNOWN when it says nothing. */
iteration iteration_of_name(str name);
/* What the shapes of an embedding's inputs say, and the rows of its table. */
iteration iteration_of_shapes(str shapes, int64_t *table_rows);

typedef struct {
    const trace *t;
    const step_span **spans; /* by row of table step; NULL: not there */
    intervals busy;          /* when the device did anything */
    bool *shown;             /* by row of table step */
} iterations_question;

/* Does the program serve a language model, as far as its steps tell? */
status iterations_serve(const trace *t, arena *a, bool *serves, error *err) MUST_USE;
/* Does it, and are the iterations different work: prompts are among them, or batches twice as
 * large as others? Then their lengths differ without a cause that one could remove. */
status iterations_differ(const trace *t, arena *a, bool *differ, error *err) MUST_USE;

/* What the verdict of an analysis says of the iterations, without tables. */
status iterations_judge(const iterations_question *q, arena *a, verdict *v, bool *serves,
                        error *err) MUST_USE;

/* Adds the tables `iterations` and `serving` of the analysis steps, both empty when the program
 * does not serve, and then the values of the verdict to *v. True in *serves when it does. */
status iterations_write(const iterations_question *q, arena *a, answer *out, verdict *v,
                        bool *serves, error *err) MUST_USE;

#endif
