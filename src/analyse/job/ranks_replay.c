/* ranks_replay.c: the replay of all ranks of a job; see ranks_replay.h.
 *
 * A collective of which a member never comes cannot be, unless calls were matched wrongly: then
 * no rank gets on, and the first collective that one waits for ends with those that have
 * come. */
#include "analyse/job/ranks_replay.h"

#include "base/num.h"

static bool applies(const ranks_replay *r, uint32_t change) {
    return r->on >> change & 1;
}

static void member_came(void *context, uint32_t member, int64_t time, double factor) {
    const job_player *p = context;
    ranks_replay *r = p->all;
    r->came[member - 1] = job_time(&r->jg->ranks[p->rank], time);
    r->factor[member - 1] = factor;
    r->count[r->jg->meeting_of[member - 1]]++;
}

/* What moving the data takes, with the changes of the network. */
static int64_t transfer_ns(const ranks_replay *r, uint32_t member, uint32_t meeting,
                           int64_t ns) {
    const scenario *s = &r->scenarios[r->jg->members[member].rank];
    double v = (double)ns;
    if (ns <= 0) return ns; /* clocks are not as exact */
    for (uint32_t c = 0; c < s->n; c++) {
        if (!applies(r, c)) continue;
        if (r->scope[c].fast_groups) v *= r->slow[meeting];
        if (s->v[c].kind != CHANGE_NETWORK) continue;
        double latency = (double)min_i64(s->network.latency_ns, ns);
        if (latency > v) latency = v;
        v = latency * s->v[c].latency + (v - latency) / s->v[c].bandwidth;
    }
    return real_i64(v * r->factor[member]);
}

static bool waits_for_others(const ranks_replay *r, const job_meeting *m) {
    for (uint32_t c = 0; c < r->n_changes; c++)
        if (applies(r, c) && r->scope[c].no_bubbles && m->source != ABSENT_I64) return false;
    return true;
}

/* It has waited for those that came before it left. */
static bool member_left(void *context, uint32_t member, int64_t *time) {
    const job_player *p = context;
    ranks_replay *r = p->all;
    const job_graph *jg = r->jg;
    const job_member *own = &jg->members[member - 1];
    uint32_t at = jg->meeting_of[member - 1];
    const job_meeting *m = &jg->meetings[at];
    bool waits = waits_for_others(r, m);
    int64_t last = own->came, replayed = r->came[member - 1];
    for (uint32_t i = m->first; i < m->first + m->n; i++) {
        if (jg->members[i].came > own->left || jg->members[i].rank == own->rank) continue;
        if (waits && r->came[i] == INT64_MIN) return false;
        last = max_i64(last, jg->members[i].came);
        if (waits) replayed = max_i64(replayed, r->came[i]);
    }
    int64_t moving = transfer_ns(r, member - 1, at, sub_i64(own->left, last));
    *time = job_time_of_rank(&jg->ranks[p->rank], add_i64(replayed, moving));
    return true;
}

/* Ends the meeting that a rank waits for although no other rank will come. */
static void force(ranks_replay *r) {
    for (uint32_t i = 0; i < r->jg->n_meetings; i++) {
        const job_meeting *m = &r->jg->meetings[i];
        if (!r->count[i] || r->count[i] >= m->n) continue;
        for (uint32_t k = m->first; k < m->first + m->n; k++)
            if (r->came[k] == INT64_MIN) r->came[k] = r->jg->members[k].came;
        r->count[i] = m->n;
        return;
    }
}

static void play_all(ranks_replay *r) {
    uint32_t n = r->jg->n_ranks, n_done = 0;
    for (bool moved = true; n_done < n; moved = true) {
        moved = false;
        n_done = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = r->ranks[i].how.at;
            n_done += why_replay_play(&r->ranks[i]);
            moved |= r->ranks[i].how.at != at;
        }
        if (!moved && n_done < n) force(r);
    }
}

/* Steps tile the time, as recorded ones do (job_graph.h). */
static void measure(ranks_replay *r) {
    const job_graph *jg = r->jg;
    for (uint32_t i = 0; i < jg->n_steps; i++) {
        r->start[i] = r->end[i] = INT64_MIN;
        for (uint32_t k = 0; k < jg->n_ranks; k++) {
            const job_rank *rank = &jg->ranks[k];
            const why_step *s =
                rank->clock.aligned ? job_rank_step(rank, jg->steps[i].number) : NULL;
            if (!s) continue;
            size_t at = (size_t)(s - rank->graph.steps);
            r->start[i] = max_i64(r->start[i], job_time(rank, r->ranks[k].step_start[at]));
            r->end[i] = max_i64(r->end[i], job_time(rank, r->ranks[k].step_end[at]));
        }
        bool follows = i && sub_i64(jg->steps[i].number, jg->steps[i - 1].number) == 1;
        if (follows) r->start[i] = r->end[i - 1];
        r->start[i] = min_i64(r->start[i], r->end[i]);
    }
}

void ranks_replay_run(ranks_replay *r, uint64_t changes) {
    const job_graph *jg = r->jg;
    r->on = changes & (((uint64_t)1 << r->n_changes) - 1);
    for (uint32_t i = 0; i < jg->n_members; i++) {
        r->came[i] = INT64_MIN;
        r->factor[i] = 1;
    }
    for (uint32_t i = 0; i < jg->n_meetings; i++) r->count[i] = 0;
    for (uint32_t i = 0; i < jg->n_ranks; i++) why_replay_start(&r->ranks[i], changes);
    play_all(r);
    for (uint32_t i = 0; i < jg->n_ranks; i++) why_replay_finish(&r->ranks[i]);
    measure(r);
}

/* Transfers of slow groups, as fast as those of their like. */
static void find_slow(ranks_replay *r) {
    for (uint32_t i = 0; i < r->jg->n_meetings; i++) {
        const job_meeting *m = &r->jg->meetings[i];
        r->slow[i] = 1;
        for (uint32_t k = 0; k < r->job->groups.n; k++) {
            const comm_group *g = &r->job->groups.v[k];
            bool link = m->source != ABSENT_I64;
            bool same = link ? g->source == m->source && g->target == m->target
                             : g->source == ABSENT_I64 && str_eq(g->name, m->group);
            if (g->slow && same && g->slower_by > 1) r->slow[i] = 1 / g->slower_by;
        }
    }
}

status ranks_replay_init(ranks_replay *r, arena *a, error *err) {
    const job_graph *jg = r->jg;
    r->ranks = ARENA_ARRAY(a, why_replay, (size_t)jg->n_ranks + 1);
    r->meets = ARENA_ARRAY(a, why_meets, (size_t)jg->n_ranks + 1);
    r->players = ARENA_ARRAY(a, job_player, (size_t)jg->n_ranks + 1);
    r->came = ARENA_ARRAY(a, int64_t, (size_t)jg->n_members + 1);
    r->factor = ARENA_ARRAY(a, double, (size_t)jg->n_members + 1);
    r->count = ARENA_ARRAY(a, uint32_t, (size_t)jg->n_meetings + 1);
    r->slow = ARENA_ARRAY(a, double, (size_t)jg->n_meetings + 1);
    r->start = ARENA_ARRAY(a, int64_t, (size_t)jg->n_steps + 1);
    r->end = ARENA_ARRAY(a, int64_t, (size_t)jg->n_steps + 1);
    if (!r->ranks || !r->meets || !r->players || !r->came || !r->factor || !r->count ||
        !r->slow || !r->start || !r->end)
        FAIL_MEMORY(err);
    find_slow(r);
    for (uint32_t i = 0; i < jg->n_ranks; i++) {
        const job_rank *rank = &jg->ranks[i];
        r->players[i] = (job_player){r, i};
        r->meets[i] = (why_meets){.of_work = rank->of_first,
                                  .of_before = rank->of_before,
                                  .of_after = rank->of_point,
                                  .came = member_came,
                                  .left = member_left,
                                  .context = &r->players[i]};
        TRY(why_replay_init(&r->ranks[i], &r->scenarios[i], a, err));
        r->ranks[i].meets = &r->meets[i];
    }
    return OK;
}
