/* diff_program.c: table program_changes, and its first row as a clause of the verdict. */
#include <math.h>

#include "analyse/compare/diff_int.h"
#include "analyse/kind_names.h"
#include "analyse/rows.h"
#include "base/message_ids_advice.h"
#include "base/message_ids_columns.h"

static const char *const STATUS[] = {
    [PROGRAM_NEW] = "added",       [PROGRAM_GONE] = "removed",    [PROGRAM_COUNT] = "changed",
    [PROGRAM_SHAPES] = "reshaped", [PROGRAM_KERNELS] = "kernels",
};

static uint16_t message_of(const program_change *c) {
    bool is_module = c->kind == KIND_MODULE;
    switch (c->form) {
    case PROGRAM_NEW:
        return c->is_compiled ? MSG_DIFF_PROGRAM_COMPILED
               : is_module    ? MSG_DIFF_PROGRAM_MODULE_NEW
                              : MSG_DIFF_PROGRAM_NEW;
    case PROGRAM_GONE:
        return c->is_compiled ? MSG_DIFF_PROGRAM_NOT_COMPILED
               : is_module    ? MSG_DIFF_PROGRAM_MODULE_GONE
                              : MSG_DIFF_PROGRAM_GONE;
    case PROGRAM_COUNT: return is_module ? MSG_DIFF_PROGRAM_MODULE : MSG_DIFF_PROGRAM_COUNT;
    case PROGRAM_SHAPES: return MSG_DIFF_PROGRAM_SHAPES;
    case PROGRAM_KERNELS: return MSG_DIFF_PROGRAM_KERNELS;
    }
    BUG("no such change");
}

/* Calls of a mean step: whole where each step has as many. */
static arg arg_calls(const char *name, double calls) {
    bool whole = fabs(calls - nearbyint(calls)) < 1e-9;
    return whole ? arg_int(name, round_i64(calls)) : arg_real(name, calls);
}

static str module_text(const diff *d, const program_change *c) {
    return c->module
               ? intern_get(d->tree.names, module_node_at(&d->tree.modules, c->module)->name)
               : STR_NONE;
}

static void add_change(const diff *d, const program_change *c, verdict *v) {
    str module = module_text(d, c),
        place = module.n ? module : call_tree_text(&d->tree, c->where);
    verdict_add(v, arg_text("changed", intern_get(d->tree.names, c->name)));
    if (place.n) verdict_add(v, arg_text("place", place));
    verdict_add(v, arg_calls("count_a", c->calls[SIDE_A]));
    verdict_add(v, arg_calls("count_b", c->calls[SIDE_B]));
}

void diff_say_change(const diff *d, const program_change *c, verdict *v) {
    verdict_add(v, arg_words("program", message_of(c)));
    add_change(d, c, v);
    if (d->program.n_counts > 1) verdict_add(v, arg_int("more", d->program.n_counts - 1));
}

void diff_say_program(const diff *d, verdict *v) {
    if (d->program.n_counts) diff_say_change(d, &d->program.v[0], v);
}

static void set_slices(const diff *d, row_diff_program_changes *row, const program_change *c) {
    int64_t *const slices[] = {&row->slice_a, &row->slice_b};
    str *const workers[] = {&row->worker_a, &row->worker_b};
    for (int s = 0; s < N_SIDES && c->most; s++) {
        const node_cost *cost = &call_tree_node(&d->tree, c->most)->cost[s];
        if (!cost->slowest) continue;
        *slices[s] = cost->slowest;
        *workers[s] = d->sides[s].v[cost->worker].from->worker;
    }
}

static status write_change(const diff *d, table *t, const program_change *c, error *err) {
    verdict *title = ARENA_NEW(d->arena, verdict);
    str inside = call_tree_text(&d->tree, c->where), module = module_text(d, c);
    if (!title) FAIL_MEMORY(err);
    *title = (verdict){.id = "program_change", .message = message_of(c)};
    add_change(d, c, title);
    if (c->parts) verdict_add(title, arg_int("parts", c->parts));
    row_diff_program_changes row = row_diff_program_changes_none();
    row.title = title;
    row.status = str_of(STATUS[c->form]);
    row.kind = kind_name(c->kind);
    row.name = intern_get(d->tree.names, c->name);
    if (module.n) row.module = module;
    if (inside.n) row.inside = inside;
    row.calls_a = c->calls[SIDE_A];
    row.calls_b = c->calls[SIDE_B];
    row.change = round_i64(program_change_ns(c));
    set_slices(d, &row, c);
    return put_diff_program_changes(t, &row, err);
}

status diff_write_program(diff *d, error *err) {
    table *t = answer_table(d->out, d->arena, "program_changes");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < d->program.n; i++) TRY(write_change(d, t, &d->program.v[i], err));
    return OK;
}
