/* seal_given.c: tables a producer had already added up, and its input pipeline.
 *
 * Rows are copied column by column in the order they were added; nothing is sorted or joined, since
 * the producer's order is all there is (a pipeline is listed from its end, a step trace by step). Ids
 * come from our own readers, but what they read is hostile: a parent or an operator that is not there
 * becomes none, and a pipeline that would make a circle is cut where the circle closes. */
#include "base/mem.h"
#include "store/builder_int.h"

static status seal_given_ops(seal_ctx *s, error *err) {
    size_t n = s->b->given_ops.n;
    TRY(seal_table(s, TABLE_given_op, n + 1, err));
    for (size_t i = 0; i < n; i++) {
        const raw_given_op *r = &VEC(&s->b->given_ops, raw_given_op)[i];
#define COPY(column) s->given_op.column[i + 1] = r->column
        COPY(name), COPY(type), COPY(side), COPY(full_name), COPY(info), COPY(subgraph);
        COPY(calls), COPY(total), COPY(max), COPY(min), COPY(self), COPY(dispatch), COPY(bytes);
        COPY(flops), COPY(flops_per_s), COPY(vector_flops), COPY(vector_flops_per_s);
        COPY(level);
#undef COPY
    }
    return OK;
}

static status seal_given_steps(seal_ctx *s, error *err) {
    size_t n = s->b->given_steps.n;
    TRY(seal_table(s, TABLE_given_step, n + 1, err));
    for (size_t i = 0; i < n; i++) {
        const raw_given_step *r = &VEC(&s->b->given_steps, raw_given_step)[i];
        s->given_step.number[i + 1] = r->number;
        s->given_step.stage[i + 1] = r->stage;
        s->given_step.start[i + 1] = r->start;
        s->given_step.duration[i + 1] = r->duration;
        s->given_step.name[i + 1] = r->name;
        s->given_step.track[i + 1] = r->track;
    }
    return OK;
}

/* Every operator is visited once: its way up ends at the root, at one already seen to end there, or
 * at itself, and then the last link is taken away. */
static status cut_circles(seal_ctx *s, error *err) {
    uint32_t n = s->pipe_op.n, *seen = seal_scratch(s, n, sizeof(uint32_t));
    if (!seen) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t at = i, last = 0;
        while (at && !seen[at]) {
            seen[at] = i;
            last = at;
            at = s->pipe_op.parent[at];
        }
        if (at && seen[at] == i && last) s->pipe_op.parent[last] = 0;
    }
    return OK;
}

static status seal_pipeline(seal_ctx *s, error *err) {
    size_t n = s->b->pipe_ops.n;
    TRY(seal_table(s, TABLE_pipe_op, n + 1, err));
    for (size_t i = 0; i < n; i++) {
        const raw_pipe_op *r = &VEC(&s->b->pipe_ops, raw_pipe_op)[i];
        s->pipe_op.name[i + 1] = r->name;
        s->pipe_op.parent[i + 1] = r->parent <= n ? r->parent : 0;
        s->pipe_op.workers[i + 1] = r->workers;
        s->pipe_op.capacity[i + 1] = r->capacity;
        s->pipe_op.id[i + 1] = r->id;
        s->pipe_op.interval[i + 1] = r->interval;
        s->pipe_op.role[i + 1] = r->role;
    }
    TRY(cut_circles(s, err));
    size_t n_samples = s->b->queue_samples.n;
    TRY(seal_table(s, TABLE_queue_sample, n_samples + 1, err));
    for (size_t i = 0; i < n_samples; i++) {
        const raw_queue_sample *r = &VEC(&s->b->queue_samples, raw_queue_sample)[i];
#define COPY(column) s->queue_sample.column[i + 1] = r->column
        COPY(time), COPY(step), COPY(size), COPY(capacity), COPY(get), COPY(push), COPY(total);
#undef COPY
        s->queue_sample.pipe_op[i + 1] = r->pipe_op <= n ? r->pipe_op : 0;
    }
    return OK;
}

status seal_given(seal_ctx *s, error *err) {
    TRY(seal_given_ops(s, err));
    TRY(seal_given_steps(s, err));
    return seal_pipeline(s, err);
}
