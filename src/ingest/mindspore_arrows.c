/* mindspore_arrows.c: the arrows of a timeline by which a task of the device finds who launched it.
 *
 *   MindSpore        s▐──── KernelLaunch ────▌
 *                    └┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄ mindspore_to_npu ┄┄┄┄┐
 *   CANN                 s▐ Node@launch ▌                    ┊   the operator
 *                        └┄┄┄┄┄┄┄┄┄┄┄┄┄ HostToDevice ┄┄┄┄┄┄┄┐┊   the call
 *   Ascend Hardware                                        ff▐ MatMul ▌
 *
 * Both ends of an arrow stand where their events start, on the same row: that place tells which events are
 * meant. HostToDevice has ids of its own, and a call may launch several tasks. The id of mindspore_to_npu
 * is the start of the task, which tasks of two streams may share: its end is written behind its beginning,
 * so the last one with that id is meant. */
#include "ingest/mindspore_int.h"

void ms_arrows_fini(ms_arrows *a) {
    map *const all[] = {&a->ids, &a->calls, &a->tasks, &a->begun, &a->ops, &a->task_ops};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) map_fini(all[i]);
}

static status put(map *to, uint64_t key, uint32_t value, error *err) {
    uint32_t *at = map_at(to, key);
    if (!at) FAIL_MEMORY(err);
    *at = value;
    return OK;
}

static uint32_t found(const map *in, uint64_t key) {
    uint32_t value = map_get(in, key);
    return value == MAP_NONE ? 0 : value;
}

/* Connections are numbered on from file to file. */
static status take_launch(ms *m, ms_arrows *a, bool begins, uint64_t id, uint64_t place,
                          error *err) {
    uint32_t number = found(&a->ids, id);
    if (!number) {
        if (m->n_connections >= MAP_NONE - 1) FAIL_MEMORY(err);
        number = ++m->n_connections;
        TRY(put(&a->ids, id, number, err));
    }
    return put(begins ? &a->calls : &a->tasks, place, number, err);
}

static status take_owner(ms *m, ms_arrows *a, bool begins, uint64_t id, uint64_t place,
                         error *err) {
    if (!begins) {
        uint32_t row = found(&a->begun, id);
        if (row) return put(&a->task_ops, place, row, err);
        ms_lost(m, CAUSE_DANGLING_FLOW, NOPOS, STR_NONE);
        return OK;
    }
    uint32_t row = found(&a->ops, place);
    if (!row) {
        uint32_t *op = m->launchers.n < MAP_NONE - 1 ? vec_push(&m->launchers) : NULL;
        if (!op) FAIL_MEMORY(err);
        *op = 0;
        row = (uint32_t)m->launchers.n;
        TRY(put(&a->ops, place, row, err));
    }
    return put(&a->begun, id, row, err);
}

status ms_take_arrow(ms *m, ms_arrows *a, const ms_arrow *arrow, error *err) {
    bool launch = str_eq(arrow->category, STR("HostToDevice"));
    if (!launch && !str_eq(arrow->category, STR("async_npu"))) return OK;
    a->any = true;
    uint64_t id = intern_hash(arrow->id);
    return launch ? take_launch(m, a, arrow->begins, id, arrow->place, err)
                  : take_owner(m, a, arrow->begins, id, arrow->place, err);
}

/* The event about to be added is the operator arrows begin at; of several the innermost. */
static void claim_arrows(ms *m, uint32_t row, ms_exec *e) {
    uint32_t *op = row ? &VEC(&m->launchers, uint32_t)[row - 1] : NULL;
    ms_exec *other = op && *op ? &VEC(&m->execs, ms_exec)[*op - 1] : NULL;
    if (!op || m->execs.n >= UINT32_MAX || (other && other->dur < e->dur)) return;
    if (other) other->kind = KIND_OTHER;
    *op = (uint32_t)m->execs.n + 1;
    e->kind = KIND_OP;
}

void ms_join_arrows(ms *m, const ms_arrows *a, uint64_t place, ms_exec *e, ms_more *more) {
    switch (e->lane) {
    case LANE_CALL: more->connection = found(&a->calls, place); break;
    case LANE_HOST:
        if (e->kind == KIND_OTHER) claim_arrows(m, found(&a->ops, place), e);
        break;
    case LANE_AICORE:
    case LANE_MEMCPY:
    case LANE_COMM:
        more->connection = found(&a->tasks, place);
        more->launcher = found(&a->task_ops, place);
        break;
    default: break;
    }
}
