/* modules.c: which layer costs the time.
 *
 * Calls of modules are ranges on the host (range_scan); they are added up by instance or,
 * grouped by type, by class. Self times leave out the modules called inside, both on the host
 * and on the device. Backward work belongs to the module of the matching forward op
 * (backward_owner.c) and, in the totals, to all modules around that call. Where the producer
 * says of an operator that it is backward work (a program compiled as a whole), it is moved
 * from the modules around it to their backward work.
 *
 * Rows come in the order of the tree: a module, then those it calls, most device time first
 * (host time without device work), ties by name. The parent of an instance is the module
 * that called it first; a class has no parent. */
#include "analyse/group.h"
#include "analyse/operators/backward_owner.h"
#include "analyse/operators/module_work.h"
#include "analyse/operators/range_scan.h"
#include "analyse/rules.h"
#include "base/intern.h"
#include "base/message_ids_advice.h"
#include "base/num.h"
#include "base/sort.h"

#define COL_MOD(name) COL(modules, modules, name)

enum { MAX_AROUND = 4096 }; /* ranges around one: a hostile file has more */

typedef struct {
    int64_t calls, host, host_self, device, device_self, backward_host, backward_device;
    uint32_t worst;                   /* slice of the call that costs most, 0 = none */
    int64_t worst_device, worst_host; /* its times */
} sums;

typedef struct {
    const trace *t;
    selection select;
    arena *arena;
    bool by_class;
    sums *row;             /* by module, or by first module of the class */
    uint32_t *row_of;      /* module → row */
    uint32_t *call_around; /* module call → the one around it (row), 0 = none */
    sums *call; /* by module call: its backward work, then with that of its children */
} question;

/* Without the number at the end: Linear. */
static str class_name(const trace *t, uint32_t module) {
    str name = module_short_name(t, module);
    size_t n = name.n;
    while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9') n--;
    return n > 1 && n < name.n && name.p[n - 1] == '_' ? str_n(name.p, n - 1) : name;
}

/* Device work decides; between calls without any, the host's time. */
static void note_worst(sums *s, const range_call *c) {
    int64_t device = add_i64(c->device_self, c->device_children);
    if (s->worst &&
        (device < s->worst_device || (device == s->worst_device && c->ns <= s->worst_host)))
        return;
    s->worst = c->slice;
    s->worst_device = device;
    s->worst_host = c->ns;
}

static status add_call(void *context, const range_call *c, error *err) {
    question *q = context;
    (void)err;
    uint32_t call = trace_module_call_of(q->t, c->slice);
    if (!call) return OK;
    if (c->parent) q->call_around[call] = trace_module_call_of(q->t, c->parent);
    sums *s = &q->row[q->row_of[q->t->module_call.module[call]]];
    s->calls += select_counts(&q->select, c->slice);
    s->host = add_i64(s->host, c->ns);
    s->host_self = add_i64(s->host_self, sub_i64(c->ns, c->child_ns));
    s->device = add_i64(s->device, add_i64(c->device_self, c->device_children));
    s->device_self = add_i64(s->device_self, c->device_self);
    note_worst(s, c);
    return OK;
}

/* Backward work to the calls it belongs to, from there outwards, then to the rows. */
static status add_backward(question *q, error *err) {
    const trace *t = q->t;
    backward_nodes nodes;
    TRY(backward_find(t, &q->select, q->arena, &nodes, err));
    for (uint32_t i = 0; i < nodes.n; i++) {
        sums *s = &q->call[nodes.v[i].module_call];
        s->backward_host = add_i64(s->backward_host, nodes.v[i].ns);
        s->backward_device = add_i64(s->backward_device, nodes.v[i].device);
    }
    for (uint32_t i = t->module_call.n;
         i-- > 1;) { /* a call around another has a smaller row */
        const sums *s = &q->call[i];
        sums *row = &q->row[q->row_of[t->module_call.module[i]]];
        row->backward_host = add_i64(row->backward_host, s->backward_host);
        row->backward_device = add_i64(row->backward_device, s->backward_device);
        if (!q->call_around[i]) continue;
        sums *around = &q->call[q->call_around[i]];
        around->backward_host = add_i64(around->backward_host, s->backward_host);
        around->backward_device = add_i64(around->backward_device, s->backward_device);
    }
    return OK;
}

/* Is it an operator that the producer says is backward work? */
static bool is_recorded_backward(const trace *t, uint32_t slice) {
    uint32_t op = t->slice.kind[slice] == KIND_OP ? trace_op_of(t, slice) : 0;
    return op && t->op.phase[op] == PHASE_BACKWARD;
}

/* What of a backward operator is neither in a module nor in another one inside of it. */
static int64_t own_ns(const question *q, uint32_t slice) {
    const trace *t = q->t;
    int64_t ns = select_ns(&q->select, slice);
    uint32_t end = trace_subtree_end(t, slice);
    for (uint32_t i = slice + 1; i < end;) {
        bool counted = t->slice.kind[i] == KIND_MODULE || is_recorded_backward(t, i);
        if (counted) ns = sub_i64(ns, select_ns(&q->select, i));
        i = counted ? trace_subtree_end(t, i) : i + 1;
    }
    return ns;
}

typedef struct {
    int64_t host, host_self, device;
} moved;

/* Moves time from the modules around a slice to their backward work; with host time up to the
 * next backward operator, which moves its own. */
static void move_backward(question *q, uint32_t slice, moved by) {
    const trace *t = q->t;
    bool innermost = true, host = by.host != 0;
    uint32_t up = t->slice.parent[slice];
    for (int i = 0; up && i < MAX_AROUND; i++, up = t->slice.parent[up]) {
        if (host && is_recorded_backward(t, up)) by.host = 0;
        if (t->slice.kind[up] != KIND_MODULE) continue;
        sums *s = &q->row[q->row_of[t->module_call.module[trace_module_call_of(t, up)]]];
        s->host = sub_i64(s->host, by.host);
        s->device = sub_i64(s->device, by.device);
        s->backward_host = add_i64(s->backward_host, by.host);
        s->backward_device = add_i64(s->backward_device, by.device);
        if (innermost) s->host_self = sub_i64(s->host_self, by.host_self);
        if (innermost) s->device_self = sub_i64(s->device_self, by.device);
        innermost = false;
    }
}

static void move_recorded_backward(question *q) {
    const trace *t = q->t;
    for (uint32_t i = 1; i < t->op.n; i++) {
        uint32_t slice = t->op.slice[i];
        if (t->op.phase[i] != PHASE_BACKWARD || t->slice.kind[slice] != KIND_OP) continue;
        move_backward(q, slice, (moved){select_ns(&q->select, slice), own_ns(q, slice), 0});
    }
    for (uint32_t i = 1; i < t->kernel.n; i++)
        if (t->kernel.op[i] && is_recorded_backward(t, t->kernel.op[i]))
            move_backward(q, t->kernel.op[i], (moved){0, 0, select_work_ns(&q->select, i)});
}

typedef struct {
    str name;
    uint32_t row;
} class_row;

static bool same_class(const void *row, const void *key) {
    return str_eq(((const class_row *)row)->name, *(const str *)key);
}

/* Which row each module counts in: its own, or that of the first module of its class. */
static status assign_rows(question *q, error *err) {
    const trace *t = q->t;
    groups classes;
    TRY(groups_init(&classes, q->arena, sizeof(class_row), err));
    for (uint32_t i = 1; i < t->module.n; i++) {
        q->row_of[i] = i;
        if (!q->by_class) continue;
        bool is_new;
        str name = class_name(t, i);
        uint32_t at = groups_at(&classes, intern_hash(name), same_class, &name, &is_new);
        if (at == GROUP_NONE) FAIL_MEMORY(err);
        class_row *c = GROUP_ROW(&classes, class_row, at);
        if (is_new) *c = (class_row){name, i};
        q->row_of[i] = c->row;
    }
    return OK;
}

/* ---- the tree ---------------------------------------------------------------------------- */

static int compare_rows(uint32_t a, uint32_t b, const void *context) {
    const question *q = context;
    uint32_t x = q->by_class ? 0 : q->t->module.parent[a],
             y = q->by_class ? 0 : q->t->module.parent[b];
    if (x != y) return x < y ? -1 : 1;
    const sums *r = &q->row[a], *s = &q->row[b];
    int64_t device = add_i64(r->device, r->backward_device),
            other = add_i64(s->device, s->backward_device);
    if (device != other) return device > other ? -1 : 1;
    if (r->host != s->host) return r->host > s->host ? -1 : 1;
    int names = str_cmp(module_short_name(q->t, a), module_short_name(q->t, b));
    if (names) return names;
    return q->t->module.id[a] < q->t->module.id[b] ? -1
                                                   : q->t->module.id[a] > q->t->module.id[b];
}

static status write_row(question *q, table *out, uint32_t module, uint32_t depth, error *err) {
    const trace *t = q->t;
    const sums *s = &q->row[module];
    size_t row;
    TRY(table_add_row(out, &row, err));
    table_set_text(out, row, COL_MOD(module),
                   q->by_class ? class_name(t, module) : module_short_name(t, module));
    if (!q->by_class) {
        uint32_t parent = t->module.parent[module];
        if (parent) table_set_text(out, row, COL_MOD(parent), module_short_name(t, parent));
        table_set_int(out, row, COL_MOD(depth), depth);
    }
    table_set_int(out, row, COL_MOD(calls), s->calls);
    table_set_int(out, row, COL_MOD(host_total), s->host);
    table_set_int(out, row, COL_MOD(host_self), s->host_self);
    table_set_int(out, row, COL_MOD(backward_host), s->backward_host);
    if (s->worst) {
        table_set_int(out, row, COL_MOD(slice), s->worst);
        table_set_int(out, row, COL_MOD(at), sub_i64(t->slice.start[s->worst], t->start_ns));
    }
    if (t->kernel.n < 2) return OK;
    table_set_int(out, row, COL_MOD(device_total), s->device);
    table_set_int(out, row, COL_MOD(device_self), s->device_self);
    table_set_int(out, row, COL_MOD(backward_device), s->backward_device);
    return OK;
}

static bool is_shown(const question *q, uint32_t module) {
    const sums *s = &q->row[module];
    return s->calls || s->host || s->device || s->backward_host;
}

/* Rows sorted by parent, each parent's children in the reader's order: walked depth first
 * with the place reached on each level. A module's parent was met before it, so its row is
 * smaller. */
static status write_tree(question *q, table *out, error *err) {
    const trace *t = q->t;
    uint32_t n = 0, depth = 0;
    uint32_t *sorted = ARENA_ARRAY(q->arena, uint32_t, (size_t)t->module.n + 1);
    uint32_t *scratch = ARENA_ARRAY(q->arena, uint32_t, (size_t)t->module.n + 1);
    uint32_t *first =
        ARENA_ARRAY(q->arena, uint32_t, (size_t)t->module.n + 2); /* children of a module */
    uint32_t *place = ARENA_ARRAY(q->arena, uint32_t, (size_t)t->module.n + 2); /* by depth */
    uint32_t *owner = ARENA_ARRAY(q->arena, uint32_t, (size_t)t->module.n + 2);
    if (!sorted || !scratch || !first || !place || !owner) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->module.n; i++)
        if (q->row_of[i] == i) sorted[n++] = i;
    sort_index(sorted, scratch, n, compare_rows, q);
    for (uint32_t i = n; COUNT_DOWN(i);)
        first[q->by_class ? 0 : t->module.parent[sorted[i]]] = i + 1;
    place[0] = first[0];
    for (;;) {
        uint32_t at = place[depth];
        uint32_t parent = at && at <= n && !q->by_class ? t->module.parent[sorted[at - 1]] : 0;
        if (!at || at > n || parent != owner[depth]) {
            if (!depth) return OK;
            depth--;
            continue;
        }
        uint32_t module = sorted[at - 1];
        place[depth]++;
        if (is_shown(q, module)) TRY(write_row(q, out, module, depth, err));
        if (q->by_class || !first[module]) continue;
        depth++;
        place[depth] = first[module];
        owner[depth] = module;
    }
}

/* ---- verdict ----------------------------------------------------------------------------- */

typedef struct {
    str name;
    int64_t self, n;
    /* Its instance with most self time, and the most expensive call of that. */
    str largest;
    int64_t largest_self;
    uint32_t slice;
} class_sum;

typedef struct {
    const trace *t;
    bool has_device;
    int64_t whole; /* Σ self time of all modules with their backward work */
    str module;    /* with most self time */
    int64_t self;
    uint32_t n;
    uint32_t slice; /* of the module's most expensive call */
    /* The class with most self time; of a table of instances. */
    class_sum class;
} module_facts;

static bool no_modules(const void *facts, verdict *v) {
    const module_facts *f = facts;
    if (f->n) return false;
    verdict_add_recorder(v, f->t);
    return true;
}

/* One of many equal modules says little: their sum does, where it is clearly more than any
 * single module takes. */
static bool class_leads(const void *facts, verdict *v) {
    const module_facts *f = facts;
    const class_sum *c = &f->class;
    if (f->whole <= 0 || c->n < 2 || c->self <= 0 || c->self / 2 < f->self) return false;
    verdict_add(v, arg_int("count", c->n));
    verdict_add(v, arg_text("class", c->name));
    verdict_add(v, arg_share("share", (double)c->self / (double)f->whole));
    verdict_add(v, arg_time("time", c->self));
    verdict_add(v, arg_text("module", c->largest));
    verdict_add(v, arg_share("largest", (double)c->largest_self / (double)f->whole));
    if (f->has_device) verdict_add(v, arg_int("device", 1));
    if (c->slice) verdict_add(v, arg_id("slice", c->slice));
    return true;
}

static bool one_leads(const void *facts, verdict *v) {
    const module_facts *f = facts;
    if (f->whole <= 0 || !f->has_device) return false;
    verdict_add(v, arg_text("module", f->module));
    verdict_add(v, arg_share("share", (double)f->self / (double)f->whole));
    verdict_add(v, arg_time("time", f->self));
    if (f->slice) verdict_add(v, arg_id("slice", f->slice));
    return true;
}

static bool one_leads_on_host(const void *facts, verdict *v) {
    const module_facts *f = facts;
    if (f->whole <= 0) return false;
    verdict_add(v, arg_text("module", f->module));
    verdict_add(v, arg_share("share", (double)f->self / (double)f->whole));
    verdict_add(v, arg_time("time", f->self));
    if (f->slice) verdict_add(v, arg_id("slice", f->slice));
    return true;
}

static const rule rules[] = {
    {"modules_not_recorded", MSG_VERDICT_MODULES_NONE, SEVERITY_INFO, no_modules},
    {"module_class_leads", MSG_VERDICT_MODULE_CLASS, SEVERITY_INFO, class_leads},
    {"module_leads_device", MSG_VERDICT_MODULE_DEVICE, SEVERITY_INFO, one_leads},
    {"module_leads_host", MSG_VERDICT_MODULE_HOST, SEVERITY_INFO, one_leads_on_host},
};

static bool same_sum(const void *row, const void *key) {
    return str_eq(((const class_sum *)row)->name, *(const str *)key);
}

static void add_instance(const question *q, class_sum *c, uint32_t module, int64_t self) {
    c->n++;
    c->self = add_i64(c->self, self);
    str name = module_short_name(q->t, module);
    if (c->largest.p &&
        (self < c->largest_self || (self == c->largest_self && str_cmp(name, c->largest) >= 0)))
        return;
    c->largest = name;
    c->largest_self = self;
    c->slice = q->row[module].worst;
}

/* The class whose instances take most self time; of equal ones the first by name. */
static status find_class(const question *q, module_facts *f, error *err) {
    groups classes;
    TRY(groups_init(&classes, q->arena, sizeof(class_sum), err));
    for (uint32_t i = 1; i < q->t->module.n; i++) {
        bool is_new;
        if (!is_shown(q, i)) continue;
        str name = class_name(q->t, i);
        uint32_t at = groups_at(&classes, intern_hash(name), same_sum, &name, &is_new);
        if (at == GROUP_NONE) FAIL_MEMORY(err);
        class_sum *c = GROUP_ROW(&classes, class_sum, at);
        if (is_new) *c = (class_sum){.name = name};
        add_instance(q, c, i, f->has_device ? q->row[i].device_self : q->row[i].host_self);
    }
    for (uint32_t i = 0; i < classes.n; i++) {
        const class_sum *c = GROUP_ROW(&classes, class_sum, i);
        if (c->self > f->class.self ||
            (c->self == f->class.self &&
             (!f->class.name.p || str_cmp(c->name, f->class.name) < 0)))
            f->class = *c;
    }
    return OK;
}

static status judge(const question *q, answer *out, error *err) {
    const trace *t = q->t;
    module_facts f = {.t = t};
    for (uint32_t i = 1; i < t->module.n; i++) f.has_device |= q->row[i].device_self > 0;
    for (uint32_t i = 1; i < t->module.n; i++) {
        int64_t self = f.has_device ? q->row[i].device_self : q->row[i].host_self;
        f.n += q->row_of[i] == i && is_shown(q, i);
        f.whole = add_i64(f.whole, self);
        str name = q->by_class ? class_name(t, i) : module_short_name(t, i);
        if (self < f.self || (self == f.self && f.module.p && str_cmp(name, f.module) >= 0))
            continue;
        f.self = self;
        f.module = name;
        f.slice = q->row[i].worst;
    }
    if (!q->by_class) TRY(find_class(q, &f, err));
    rules_apply(rules, sizeof rules / sizeof *rules, &f, &out->verdict);
    return OK;
}

static status add_up(question *q, error *err) {
    const trace *t = q->t;
    q->row = ARENA_ARRAY(q->arena, sums, (size_t)t->module.n + 1);
    q->row_of = ARENA_ARRAY(q->arena, uint32_t, (size_t)t->module.n + 1);
    q->call = ARENA_ARRAY(q->arena, sums, (size_t)t->module_call.n + 1);
    q->call_around = ARENA_ARRAY(q->arena, uint32_t, (size_t)t->module_call.n + 1);
    if (!q->row || !q->row_of || !q->call || !q->call_around) FAIL_MEMORY(err);
    TRY(assign_rows(q, err));
    if (t->module_call.n < 2) return OK;
    range_scan scan = {.t = t,
                       .select = &q->select,
                       .arena = q->arena,
                       .kinds = 1u << KIND_MODULE,
                       .visit = add_call,
                       .context = q};
    TRY(range_scan_run(&scan, err));
    move_recorded_backward(q);
    return add_backward(q, err);
}

status analyse_modules(const analysis_input *in, const params *p, arena *a, answer *out,
                       error *err) {
    question q = {.t = in->traces[0].trace, .arena = a, .by_class = p->group == GROUP_TYPE};
    TRY(answer_begin("modules", in, a, out, err));
    TRY(trace_require(
        q.t, SELECT_TABLES | TRACE_TABLE(module) | TRACE_TABLE(module_call) | TRACE_TABLE(flow),
        err));
    select_init(&q.select, q.t, p);
    TRY(add_up(&q, err));
    table *t = answer_table(out, a, "modules");
    if (!t) FAIL_MEMORY(err);
    TRY(write_tree(&q, t, err));
    TRY(judge(&q, out, err));
    answer_finish(out, p);
    return OK;
}
