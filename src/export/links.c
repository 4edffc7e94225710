/* links.c: what the store found out about a slice's links: the operator of a call or of device
 * work is the one that was found, not the one that the producer named. */
#include "export/links_int.h"

link_facts links_find(const trace *t, link_cursor *c, uint32_t slice) {
    link_facts f = {.external = ABSENT_I64,
                    .correlation = ABSENT_I64,
                    .device = ABSENT_I64,
                    .stream = ABSENT_I64,
                    .sequence = ABSENT_I64};
    uint32_t op = 0;
    while (c->kernel < t->kernel.n && t->kernel.slice[c->kernel] < slice) c->kernel++;
    while (c->call < t->call.n && t->call.slice[c->call] < slice) c->call++;
    while (c->op < t->op.n && t->op.slice[c->op] < slice) c->op++;
    if (c->kernel < t->kernel.n && t->kernel.slice[c->kernel] == slice) {
        f.is_work = true;
        f.correlation = t->kernel.correlation[c->kernel];
        f.stream = t->kernel.stream[c->kernel];
        if (t->kernel.device[c->kernel] != ABSENT_I32) f.device = t->kernel.device[c->kernel];
        f.launch = t->kernel.launch[c->kernel];
        op = trace_own_op(t, c->kernel);
        f.inferred = op ? 0 : t->kernel.op[c->kernel];
        f.confidence = t->kernel.confidence[c->kernel];
    } else if (c->call < t->call.n && t->call.slice[c->call] == slice) {
        f.is_call = true;
        f.correlation = t->call.correlation[c->call];
        op = t->call.op[c->call];
    }
    uint32_t row = op ? trace_op_of(t, op) : 0;
    if (row) f.external = t->op.external[row];
    if (!f.is_work && !f.is_call && c->op < t->op.n && t->op.slice[c->op] == slice) {
        f.is_op = true;
        f.external = t->op.external[c->op];
        f.sequence = t->op.sequence[c->op];
    }
    return f;
}

int64_t links_number(str key, const link_facts *f) {
    if (str_eq(key, STR("correlation"))) return f->correlation;
    if (f->is_op && str_eq(key, STR("Sequence number"))) return f->sequence;
    if (f->is_op && str_eq_nocase(key, STR("External id"))) return f->external;
    if (f->is_work && str_eq(key, STR("device"))) return f->device;
    return ABSENT_I64;
}
