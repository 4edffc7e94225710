/* hang.c: which collective hangs, and which rank never reached it.
 *
 * Every rank counts the collectives of a group in the same way, so the same number on all
 * members is the same collective. The hang of a group is the first collective that a rank
 * called and that did not complete. What is wrong with it, the first that holds:
 *
 *   mismatch      members called different things under its number: those that differ from most
 *   missing       members have a dump, and their last number is smaller
 *   no_dump       members have no dump
 *   not_started   the device of some has started it and that of others has not
 *   stuck         all are in it
 *
 * A rank that is missing in one group may wait in another: then that hang is the cause and this
 * one follows. Transfers from one to one are identified by their ends, not by a number: both
 * must have one that did not complete. Older hangs come first; the verdict is the oldest that
 * follows from no other. A dump holds the last collectives only: what a member completed before
 * its first entry counts as completed. */
#include <stdlib.h>

#include "analyse/analysis.h"
#include "analyse/rules.h"
#include "base/message_ids_advice.h"
#include "base/num.h"

#define COL_H(name) COL(hang, hangs, name)
#define COL_M(name) COL(hang, members, name)
enum { MOST_RANKS = 1 << 16, MOST_SHOWN = 200 };

typedef enum {
    CAUSE_OF_MISMATCH,
    CAUSE_OF_MISSING,
    CAUSE_OF_NO_DUMP,
    CAUSE_OF_NOT_STARTED,
    CAUSE_OF_STUCK
} hang_cause;
static const char *const CAUSE_WORDS[] = {"mismatch", "missing", "no_dump", "not_started",
                                          "stuck"};

/* A collective as one rank called it. */
typedef struct {
    str group, ranks;
    int64_t sequence, rank, created; /* created: Unix ns */
    int32_t src, dst;                /* ABSENT_I32: all of the group take part */
    uint32_t trace, comm;
    bool done, started;
} call_row;

/* A member of a hang. */
typedef struct {
    int64_t rank;
    const call_row *call, *last; /* of the hang; its last one in the group. NULL: none */
    bool dumped, culprit;
} member;

typedef struct {
    const call_row *first; /* the oldest call of it */
    member *members;
    uint32_t n_members, follows; /* follows: row + 1 of the hang that is its cause */
    hang_cause cause;
    str name;
} hang;

typedef struct {
    const analysis_input *in;
    arena *a;
    call_row *calls;
    size_t n_calls;
    hang *hangs;
    uint32_t n_hangs;
} hang_ctx;

/* ---- calls ------------------------------------------------------------------------------- */

static int64_t rank_of(const hang_ctx *q, uint32_t i) {
    int64_t rank = q->in->traces[i].rank;
    return rank == ABSENT_I64 ? (int64_t)i : rank;
}

static call_row call_of(const hang_ctx *q, uint32_t i, uint32_t comm) {
    const trace *t = q->in->traces[i].trace;
    uint32_t slice = t->comm.slice[comm], group = t->comm.group[comm];
    str state = trace_str(t, t->category.name[t->slice.category[slice]]);
    int64_t base = t->base_unix_ns == ABSENT_I64 ? 0 : t->base_unix_ns;
    return (call_row){.group = trace_str(t, t->group.name[group]),
                      .ranks = trace_str(t, t->group.ranks[group]),
                      .sequence = t->comm.sequence[comm],
                      .rank = rank_of(q, i),
                      .created = add_i64(base, t->slice.start[slice]),
                      .src = t->comm.src[comm],
                      .dst = t->comm.dst[comm],
                      .trace = i,
                      .comm = comm,
                      .done = !(t->slice.flags[slice] & SLICE_UNFINISHED),
                      .started = str_eq(state, STR("started"))};
}

static int compare_group(const call_row *a, const call_row *b) {
    int c = str_cmp(a->group, b->group);
    if (c == 0) c = str_cmp(a->ranks, b->ranks);
    if (c == 0) c = (a->src > b->src) - (a->src < b->src);
    return c ? c : (a->dst > b->dst) - (a->dst < b->dst);
}

static int compare_calls(const void *pa, const void *pb) {
    const call_row *a = pa, *b = pb;
    int c = compare_group(a, b);
    if (c == 0) c = (a->sequence > b->sequence) - (a->sequence < b->sequence);
    if (c == 0) c = (a->rank > b->rank) - (a->rank < b->rank);
    if (c == 0) c = (a->created > b->created) - (a->created < b->created);
    return c ? c : (a->comm > b->comm) - (a->comm < b->comm);
}

static status collect(hang_ctx *q, error *err) {
    size_t n = 0;
    for (uint32_t i = 0; i < q->in->n_traces; i++) {
        const trace *t = q->in->traces[i].trace;
        if (t->summary) continue;
        TRY(trace_require(t,
                          TRACE_TABLE(comm) | TRACE_TABLE(slice) | TRACE_TABLE(group) |
                              TRACE_TABLE(category) | TRACE_TABLE(op) | TRACE_TABLE(frame),
                          err));
        n += t->comm.n ? t->comm.n - 1 : 0;
    }
    q->calls = ARENA_ARRAY(q->a, call_row, n + 1);
    if (!q->calls) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->in->n_traces; i++) {
        const trace *t = q->in->traces[i].trace;
        for (uint32_t c = 1; !t->summary && c < t->comm.n; c++) {
            call_row row = call_of(q, i, c);
            if (row.sequence != ABSENT_I64) q->calls[q->n_calls++] = row;
        }
    }
    qsort(q->calls, q->n_calls, sizeof *q->calls, compare_calls);
    return OK;
}

/* ---- members ----------------------------------------------------------------------------- */

/* The next number of a list of ranks as text. */
static bool next_rank(str *rest, int64_t *rank) {
    size_t at = 0, n = 0;
    while (at < rest->n && !(rest->p[at] >= '0' && rest->p[at] <= '9')) at++;
    while (at + n < rest->n && rest->p[at + n] >= '0' && rest->p[at + n] <= '9') n++;
    str digits = n ? str_n(rest->p + at, n) : STR_NONE;
    if (n) *rest = str_from(*rest, at + n);
    return n && str_to_i64(digits, rank);
}

static bool is_dumped(const hang_ctx *q, int64_t rank) {
    for (uint32_t i = 0; i < q->in->n_traces; i++)
        if (rank_of(q, i) == rank) return true;
    return false;
}

static member *member_of(hang *h, int64_t rank) {
    for (uint32_t i = 0; i < h->n_members; i++)
        if (h->members[i].rank == rank) return &h->members[i];
    return NULL;
}

static void add_member(const hang_ctx *q, hang *h, int64_t rank) {
    if (!member_of(h, rank))
        h->members[h->n_members++] = (member){.rank = rank, .dumped = is_dumped(q, rank)};
}

/* Those the group lists, or of a transfer its ends; where nothing is listed those that were
 * seen. */
static status find_members(const hang_ctx *q, hang *h, const call_row *from,
                           const call_row *end, error *err) {
    size_t most = (size_t)(end - from) + 2;
    str rest = from->ranks;
    int64_t rank;
    bool transfer = from->src != ABSENT_I32;
    for (str r = rest; most < MOST_RANKS && next_rank(&r, &rank);) most++;
    h->members = ARENA_ARRAY(q->a, member, most);
    if (!h->members) FAIL_MEMORY(err);
    for (int32_t local = 0; h->n_members + 2 < most && next_rank(&rest, &rank); local++)
        if (!transfer || local == from->src || local == from->dst) add_member(q, h, rank);
    for (const call_row *c = from; c < end && h->n_members < most; c++)
        add_member(q, h, c->rank);
    return OK;
}

static str call_name(const hang_ctx *q, const call_row *c) {
    const trace *t = q->in->traces[c->trace].trace;
    return trace_str(t, t->comm.name[c->comm]);
}

static str call_shapes(const hang_ctx *q, const call_row *c) {
    const trace *t = q->in->traces[c->trace].trace;
    uint32_t op = trace_op_of(t, t->comm.slice[c->comm]);
    return op ? trace_str(t, t->op.shapes[op]) : STR_NONE;
}

/* The innermost frame that is not PyTorch's own. */
static str called_from(const hang_ctx *q, const call_row *c) {
    const trace *t = q->in->traces[c->trace].trace;
    uint32_t op = trace_op_of(t, t->comm.slice[c->comm]);
    uint32_t frame = op ? t->op.frame[op] : 0;
    for (int n = 0; frame && n < 256; n++, frame = t->frame.parent[frame]) {
        str name = trace_str(t, t->frame.name[frame]);
        if (str_find(name, STR("/torch/"), 0) == SIZE_MAX && !str_starts(name, STR("torch/")))
            return name;
    }
    return STR_NONE;
}

/* The call of each member that is the hang, and its last one. */
static void place_calls(hang *h, const call_row *from, const call_row *end) {
    bool transfer = from->src != ABSENT_I32;
    for (const call_row *c = from; c < end; c++) {
        member *m = member_of(h, c->rank);
        if (!m) continue;
        m->last = c;
        if (transfer ? !c->done && !m->call : c->sequence == h->first->sequence) m->call = c;
    }
}

/* ---- what is wrong ----------------------------------------------------------------------- */

/* What most members called; of equally many the first. */
static str usual_name(const hang_ctx *q, const hang *h) {
    str best = call_name(q, h->first);
    uint32_t most = 0;
    for (uint32_t i = 0; i < h->n_members; i++) {
        uint32_t n = 0;
        if (!h->members[i].call) continue;
        str name = call_name(q, h->members[i].call);
        for (uint32_t k = 0; k < h->n_members; k++)
            n += h->members[k].call && str_eq(call_name(q, h->members[k].call), name);
        if (n > most) most = n, best = name;
    }
    return best;
}

static bool is_culprit(const hang_ctx *q, const hang *h, const member *m, hang_cause why) {
    switch (why) {
    case CAUSE_OF_MISMATCH:
        return h->first->src == ABSENT_I32 && m->call &&
               !str_eq(call_name(q, m->call), h->name);
    case CAUSE_OF_MISSING:
        return !m->call && m->dumped &&
               (!m->last || h->first->src != ABSENT_I32 ||
                m->last->sequence < h->first->sequence);
    case CAUSE_OF_NO_DUMP: return !m->dumped;
    case CAUSE_OF_NOT_STARTED: return m->call && !m->call->done && !m->call->started;
    default: return false;
    }
}

static void judge(const hang_ctx *q, hang *h) {
    bool any_started = false;
    h->name = usual_name(q, h);
    for (uint32_t i = 0; i < h->n_members; i++)
        any_started |=
            h->members[i].call && (h->members[i].call->started || h->members[i].call->done);
    for (int why = CAUSE_OF_MISMATCH; why < CAUSE_OF_STUCK; why++) {
        bool any = false;
        if (why == CAUSE_OF_NOT_STARTED && !any_started) continue;
        for (uint32_t i = 0; i < h->n_members; i++) {
            member *m = &h->members[i];
            m->culprit = is_culprit(q, h, m, (hang_cause)why);
            any |= m->culprit;
        }
        h->cause = (hang_cause)why;
        if (any) return;
    }
    h->cause = CAUSE_OF_STUCK;
}

static bool waits_in(hang *h, int64_t rank) {
    const member *m = member_of(h, rank);
    return m && m->call && !m->call->done && !m->culprit;
}

/* Do all that are missing here wait in another? */
static void find_causes(hang_ctx *q) {
    for (uint32_t i = 0; i < q->n_hangs; i++) {
        hang *h = &q->hangs[i];
        for (uint32_t k = 0; k < q->n_hangs && h->cause == CAUSE_OF_MISSING && !h->follows;
             k++) {
            bool all = k != i && q->hangs[k].follows != i + 1;
            for (uint32_t m = 0; all && m < h->n_members; m++)
                all = !h->members[m].culprit || waits_in(&q->hangs[k], h->members[m].rank);
            if (all) h->follows = k + 1;
        }
    }
}

static int compare_hangs(const void *pa, const void *pb) {
    const hang *a = pa, *b = pb;
    int c = (a->first->created > b->first->created) - (a->first->created < b->first->created);
    return c ? c : compare_calls(a->first, b->first);
}

/* The calls of one group, or of one transfer. */
static status look_at_group(hang_ctx *q, const call_row *from, const call_row *end,
                            error *err) {
    const call_row *first = NULL;
    for (const call_row *c = from; c < end && !first; c++)
        if (!c->done) first = c;
    if (!first) return OK;
    hang *h = &q->hangs[q->n_hangs];
    *h = (hang){.first = first};
    for (const call_row *c = first; c < end && c->sequence == first->sequence; c++)
        if (!c->done && c->created < h->first->created) h->first = c;
    TRY(find_members(q, h, from, end, err));
    place_calls(h, from, end);
    judge(q, h);
    q->n_hangs++;
    return OK;
}

static status find_hangs(hang_ctx *q, error *err) {
    size_t n_groups = 0;
    for (size_t i = 0; i < q->n_calls; i++)
        n_groups += i == 0 || compare_group(&q->calls[i - 1], &q->calls[i]) != 0;
    q->hangs = ARENA_ARRAY(q->a, hang, n_groups + 1);
    if (!q->hangs) FAIL_MEMORY(err);
    for (size_t from = 0, end; from < q->n_calls; from = end) {
        for (end = from + 1; end < q->n_calls; end++)
            if (compare_group(&q->calls[from], &q->calls[end]) != 0) break;
        TRY(look_at_group(q, q->calls + from, q->calls + end, err));
    }
    /* Sorted first: the numbers of causes are those of the table. */
    qsort(q->hangs, q->n_hangs, sizeof *q->hangs, compare_hangs);
    find_causes(q);
    return OK;
}

/* ---- the answer -------------------------------------------------------------------------- */

static bool is_waiting(const member *m) {
    return m->call && !m->call->done && !m->culprit;
}

/* 0-2, 5: the culprits, or those that wait. */
static str list_ranks(const hang_ctx *q, const hang *h, bool culprits, uint32_t *count) {
    str text = str_n("", 0);
    *count = 0;
    for (uint32_t i = 0; i < h->n_members; i++) {
        const member *m = &h->members[i];
        if (culprits ? !m->culprit : !is_waiting(m)) continue;
        uint32_t k = i;
        while (k + 1 < h->n_members &&
               sub_i64(h->members[k + 1].rank, h->members[k].rank) == 1 &&
               (culprits ? h->members[k + 1].culprit : is_waiting(&h->members[k + 1])))
            k++;
        *count += k - i + 1;
        if (text.n < MOST_SHOWN)
            text =
                k > i ? arena_printf(q->a, "%.*s%s%lld-%lld", STR_ARG(text), text.n ? ", " : "",
                                     (long long)m->rank, (long long)h->members[k].rank)
                      : arena_printf(q->a, "%.*s%s%lld", STR_ARG(text), text.n ? ", " : "",
                                     (long long)m->rank);
        i = k;
    }
    return text;
}

static const char *state_word(const member *m) {
    if (m->call)
        return m->call->done ? "completed" : m->call->started ? "started" : "scheduled";
    return !m->dumped ? "no_dump" : m->culprit ? "missing" : "completed";
}

static status write_member(const hang_ctx *q, table *out, const hang *h, const member *m,
                           error *err) {
    size_t row;
    const call_row *shown = m->call ? m->call : m->last;
    TRY(table_add_row(out, &row, err));
    table_set_text(out, row, COL_M(group), h->first->group);
    table_set_int(out, row, COL_M(sequence), h->first->sequence);
    table_set_int(out, row, COL_M(rank), m->rank);
    table_set_text(out, row, COL_M(state), str_of(state_word(m)));
    if (m->call) {
        table_set_text(out, row, COL_M(name), call_name(q, m->call));
        table_set_text(out, row, COL_M(shapes), call_shapes(q, m->call));
    }
    if (m->last) {
        table_set_int(out, row, COL_M(last_sequence), m->last->sequence);
        table_set_text(out, row, COL_M(last_name), call_name(q, m->last));
    }
    if (shown) table_set_text(out, row, COL_M(called_from), called_from(q, shown));
    return OK;
}

static status write_hang(const hang_ctx *q, table *out, const hang *h, error *err) {
    size_t row;
    uint32_t n;
    const trace *t = q->in->traces[h->first->trace].trace;
    uint32_t group = t->comm.group[h->first->comm];
    TRY(table_add_row(out, &row, err));
    table_set_text(out, row, COL_H(group), h->first->group);
    str description = trace_str(t, t->group.description[group]);
    if (description.n) table_set_text(out, row, COL_H(description), description);
    table_set_int(out, row, COL_H(sequence), h->first->sequence);
    table_set_text(out, row, COL_H(name), h->name);
    table_set_text(out, row, COL_H(cause), str_of(CAUSE_WORDS[h->cause]));
    str culprits = list_ranks(q, h, true, &n), waiting = list_ranks(q, h, false, &n);
    if (!culprits.p || !waiting.p) FAIL_MEMORY(err);
    if (culprits.n) table_set_text(out, row, COL_H(culprits), culprits);
    if (waiting.n) table_set_text(out, row, COL_H(waiting), waiting);
    if (h->follows) table_set_int(out, row, COL_H(follows), h->follows);
    return OK;
}

static const member *first_culprit(const hang *h) {
    for (uint32_t i = 0; i < h->n_members; i++)
        if (h->members[i].culprit) return &h->members[i];
    return NULL;
}

/* The hang that the others follow from. */
static const hang *root_of(const hang_ctx *q) {
    for (uint32_t i = 0; i < q->n_hangs; i++)
        if (!q->hangs[i].follows) return &q->hangs[i];
    return q->n_hangs ? q->hangs : NULL;
}

static bool match_cause(const hang_ctx *q, verdict *v, hang_cause why) {
    const hang *h = root_of(q);
    uint32_t n_culprits, n_waiting;
    if (!h || h->cause != why) return false;
    str culprits = list_ranks(q, h, true, &n_culprits),
        waiting = list_ranks(q, h, false, &n_waiting);
    const member *first = first_culprit(h);
    verdict_add(v, arg_text("name", h->name));
    verdict_add(v, arg_text("group", h->first->group));
    verdict_add(v, arg_id("sequence", h->first->sequence));
    verdict_add(v, arg_int("count", n_culprits));
    verdict_add(v, arg_text("culprits", culprits));
    verdict_add(v, arg_int("waiters", n_waiting));
    verdict_add(v, arg_text("waiting", waiting));
    if (first && first->call) verdict_add(v, arg_text("other", call_name(q, first->call)));
    if (first) verdict_add(v, arg_id("first", first->rank));
    if (first && why == CAUSE_OF_MISSING && first->last && !first->call)
        verdict_add(v, arg_text("last", arena_printf(q->a, "%.*s %lld",
                                                     STR_ARG(call_name(q, first->last)),
                                                     (long long)first->last->sequence)));
    return true;
}

static bool match_none(const void *facts, verdict *v) {
    (void)v;
    return ((const hang_ctx *)facts)->n_calls == 0;
}
static bool match_mismatch(const void *facts, verdict *v) {
    return match_cause(facts, v, CAUSE_OF_MISMATCH);
}
static bool match_missing(const void *facts, verdict *v) {
    return match_cause(facts, v, CAUSE_OF_MISSING);
}
static bool match_no_dump(const void *facts, verdict *v) {
    return match_cause(facts, v, CAUSE_OF_NO_DUMP);
}
static bool match_not_started(const void *facts, verdict *v) {
    return match_cause(facts, v, CAUSE_OF_NOT_STARTED);
}
static bool match_stuck(const void *facts, verdict *v) {
    return match_cause(facts, v, CAUSE_OF_STUCK);
}
static bool match_done(const void *facts, verdict *v) {
    verdict_add(v, arg_int("count", (int64_t)((const hang_ctx *)facts)->n_calls));
    return true;
}

static const rule HANG_RULES[] = {
    {"hang_none", MSG_VERDICT_HANG_NONE, SEVERITY_INFO, match_none},
    {"hang_mismatch", MSG_VERDICT_HANG_MISMATCH, SEVERITY_CRITICAL, match_mismatch},
    {"hang_missing", MSG_VERDICT_HANG_MISSING, SEVERITY_CRITICAL, match_missing},
    {"hang_no_dump", MSG_VERDICT_HANG_NO_DUMP, SEVERITY_CRITICAL, match_no_dump},
    {"hang_not_started", MSG_VERDICT_HANG_NOT_STARTED, SEVERITY_CRITICAL, match_not_started},
    {"hang_stuck", MSG_VERDICT_HANG_STUCK, SEVERITY_CRITICAL, match_stuck},
    {"hang_done", MSG_VERDICT_HANG_DONE, SEVERITY_GOOD, match_done},
};

status analyse_hang(const analysis_input *in, const params *p, arena *a, answer *out,
                    error *err) {
    hang_ctx q = {.in = in, .a = a};
    TRY(answer_begin("hang", in, a, out, err));
    TRY(collect(&q, err));
    TRY(find_hangs(&q, err));
    table *hangs = answer_table(out, a, "hangs"), *members = answer_table(out, a, "members");
    if (!hangs || !members) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q.n_hangs; i++) {
        const hang *h = &q.hangs[i];
        TRY(write_hang(&q, hangs, h, err));
        for (uint32_t m = 0; m < h->n_members; m++)
            TRY(write_member(&q, members, h, &h->members[m], err));
    }
    rules_apply(HANG_RULES, sizeof HANG_RULES / sizeof *HANG_RULES, &q, &out->verdict);
    answer_finish(out, p);
    return OK;
}
