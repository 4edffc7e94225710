/* advice_serving.c: rules about servers of language models, each only where the iterations, the
 * requests or the names of kernels prove it (server_load.h). None of them estimates a saving:
 * what a server gains depends on the requests that come. */
#include "analyse/advise/advice.h"
#include "analyse/serving/server_load.h"

/* How much longer than a decode an iteration must be, for the prompts in it to be too long. */
#define STALL_FACTOR 3
/* How much longer a decode without a graph is than one that is replayed. */
#define EAGER_FACTOR 1.2
enum { LEAST_FULL = 4, LEAST_DECODES_OF_A_SORT = 2 };

/* From the first iteration to the end of the last one; 0 where there are not two. */
static int64_t served_wall_ns(const served *s) {
    return s->n < 2 ? 0 : sub_i64(s->v[s->n - 1].end, s->v[0].start);
}

static void show_iteration(const served_iteration *one, advice *out) {
    out->place = (interval){sub_i64(one->start, one->gap), one->end};
}

static severity severity_of_share(double share) {
    return share >= 0.4 ? SEVERITY_CRITICAL : SEVERITY_WARNING;
}

bool advice_scheduler_gap(const advice_facts *f, double limit, advice *out) {
    const served *s = &f->served;
    server_gaps gaps;
    int64_t wall = served_wall_ns(s);
    interval longest = {0, 0};
    if (wall <= 0 ||
        server_gaps_find(s, f->t->kernel.n > 1 ? &f->ranges.device : NULL, f->arena, &gaps,
                         NULL) != OK ||
        (double)gaps.ns < limit * (double)wall || gaps.n < 2)
        return false;
    double share = (double)gaps.ns / (double)wall;
    for (size_t i = 0; i < gaps.at.n; i++) {
        interval at = gaps.at.v[i];
        int64_t ns = sub_i64(at.end, at.start);
        event_list_add(&out->events,
                       (advice_event){.range = at, .cost_ns = ns, .is_gap = true});
        if (ns > sub_i64(longest.end, longest.start)) longest = at;
    }
    verdict_add(&out->words, arg_int("count", gaps.n));
    verdict_add(&out->words, arg_time("gap", mean_i64(gaps.ns, gaps.n)));
    verdict_add(&out->words, arg_time("longest", sub_i64(longest.end, longest.start)));
    verdict_add(&out->words, arg_share("share", share));
    verdict_add(&out->words, arg_time("total", wall));
    if (f->t->kernel.n > 1) verdict_add(&out->words, arg_int("device", 1));
    out->severity = severity_of_share(share);
    out->place = longest;
    return true;
}

bool advice_prompts_stall_decodes(const advice_facts *f, double limit, advice *out) {
    const served *s = &f->served;
    server_stalls stalls;
    if (served_wall_ns(s) <= 0 || server_stalls_find(s, f->arena, &stalls, NULL) != OK ||
        !stalls.decode_ns || stalls.all_ns <= 0)
        return false;
    double share = (double)stalls.held_ns / (double)stalls.all_ns;
    int64_t mean = mean_i64(stalls.ns, stalls.n);
    if (share < limit || stalls.n < 2 || mean < mul_i64(stalls.decode_ns, STALL_FACTOR))
        return false;
    const served_iteration *longest = &s->v[stalls.longest];
    verdict_add(&out->words, arg_share("share", share));
    verdict_add(&out->words, arg_int("count", stalls.n));
    verdict_add(&out->words, arg_time("mean", mean));
    verdict_add(&out->words, arg_time("decode", stalls.decode_ns));
    verdict_add(&out->words, arg_time("longest", served_ns(longest)));
    if (longest->it.prompt_tokens > 0)
        verdict_add(&out->words, arg_int("tokens", longest->it.prompt_tokens));
    if (stalls.n_mixed > stalls.n / 2) verdict_add(&out->words, arg_int("chunked", 1));
    out->severity = SEVERITY_WARNING;
    show_iteration(longest, out);
    return true;
}

bool advice_graph_sizes(const advice_facts *f, double limit, advice *out) {
    const served *s = &f->served;
    server_decodes graphs, eager;
    bool *replayed;
    int64_t wall = served_wall_ns(s);
    if (wall <= 0 || server_replays(f->t, s, f->arena, &replayed, NULL) != OK) return false;
    server_graphs_find(s, replayed, &graphs, &eager);
    if (graphs.n < LEAST_DECODES_OF_A_SORT || eager.n < LEAST_DECODES_OF_A_SORT ||
        eager.least <= graphs.most || (double)eager.ns < limit * (double)wall)
        return false;
    int64_t with = mean_i64(graphs.ns, graphs.n), without = mean_i64(eager.ns, eager.n);
    if ((double)without < EAGER_FACTOR * (double)with) return false;
    verdict_add(&out->words, arg_int("count", eager.n));
    verdict_add(&out->words, arg_int("least", eager.least));
    verdict_add(&out->words, arg_int("most", eager.most));
    verdict_add(&out->words, arg_time("eager", without));
    verdict_add(&out->words, arg_int("replayed", graphs.most));
    verdict_add(&out->words, arg_time("graph", with));
    out->severity = SEVERITY_WARNING;
    for (uint32_t i = 0; i < s->n && !out->place.end; i++)
        if (s->v[i].it.kind == ITERATION_DECODE && !replayed[i]) show_iteration(&s->v[i], out);
    return true;
}

bool advice_batch_limit(const advice_facts *f, double limit, advice *out) {
    const served *s = &f->served;
    request_list r;
    prefills turns;
    autopsies bodies;
    server_limit most;
    arena *a = f->arena;
    if (served_wall_ns(s) <= 0 || request_list_make(f->t, a, &r, NULL) != OK || !r.n ||
        prefills_find(s, &r, a, &turns, NULL) != OK ||
        autopsies_make(s, &r, &turns, 1, a, &bodies, NULL) != OK ||
        server_limit_find(s, &r, &bodies, a, &most, NULL) != OK)
        return false;
    if (most.n < LEAST_FULL || most.batch < 2 || most.full_ns <= 0 || most.latency_ns <= 0 ||
        (double)most.queued_ns < limit * (double)most.latency_ns)
        return false;
    verdict_add(&out->words, arg_int("count", most.n));
    verdict_add(&out->words, arg_int("batch", most.batch));
    verdict_add(&out->words, arg_int("double", mul_i64(2, most.batch)));
    verdict_add(&out->words,
                arg_real("waiting", (double)most.queued_ns / (double)most.full_ns));
    verdict_add(&out->words,
                arg_share("share", (double)most.queued_ns / (double)most.latency_ns));
    out->severity = SEVERITY_WARNING;
    show_iteration(&s->v[most.first], out);
    return true;
}

/* A kernel of FlashAttention 2 that computes whole blocks of queries: not one that splits the
 * keys of a single query, which waits for memory on any generation. */
static bool is_flash_2(str name) {
    static const char *const words[] = {"flash_fwd_kernel", "flash_bwd_dq_dk_dv_loop"};
    static const char *const others[] = {"splitkv", "sm90", "hopper"};
    return str_has_any_nocase(name, words, N_OF(words)) &&
           !str_has_any_nocase(name, others, N_OF(others));
}

bool advice_old_attention(const advice_facts *f, double limit, advice *out) {
    const trace *t = f->t;
    tally old = {0};
    if (f->major != 9 || f->kernel.ns <= 0) return false;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        if (f->work_marks[k] & WORK_COMPUTES && is_flash_2(trace_slice_name(t, slice)))
            tally_add(t, &old, slice);
    }
    double share = (double)old.ns / (double)f->kernel.ns;
    if (!old.n || share < limit) return false;
    verdict_add(&out->words, arg_int("count", old.n));
    verdict_add(&out->words, arg_time("spent", old.ns));
    verdict_add(&out->words, arg_share("share", share));
    out->severity = SEVERITY_INFO;
    advice_point_to(f, out, &old);
    return true;
}
