/* seal_samples.c: what samplers saw of threads, by thread and time.
 *
 * A sample stands for the time until the thread's next one, at most for as long as its reader
 * says: of a thread that a sampler lost sight of nothing is claimed. So the samples of a thread
 * never overlap, and their durations add up to the time that they explain. Of samples at one
 * moment all but the last stand for nothing. */
#include "base/sort.h"
#include "store/builder_int.h"
#include "store/trace_int.h"

typedef struct {
    const raw_sample **rows;
    uint32_t *tracks; /* sealed */
    const builder *b;
    size_t n;
} sample_list;

/* Equal moments of a thread: what the rows say decides, never the order in which they were
 * read. */
static int cmp_samples(uint32_t a, uint32_t b, const void *context) {
    const sample_list *l = context;
    const raw_sample *x = l->rows[a], *y = l->rows[b];
    if (l->tracks[a] != l->tracks[b]) return l->tracks[a] < l->tracks[b] ? -1 : 1;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    if (x->state != y->state) return x->state < y->state ? -1 : 1;
    const frame_row *frames = VEC(&l->b->frames, frame_row);
    int order = str_cmp(intern_get(l->b->strings, frames[x->frame].name),
                        intern_get(l->b->strings, frames[y->frame].name));
    return order ? order : x->dur < y->dur ? -1 : x->dur > y->dur;
}

static bool is_usable(const raw_sample *r) {
    return r->time > -TRACE_TIME_LIMIT && r->time < TRACE_TIME_LIMIT &&
           r->state < N_SAMPLE_STATES;
}

/* The usable samples of all parts. */
static void list_samples(seal_ctx *s, sample_list *l) {
    for (uint32_t i = 0; i < s->n_parts; i++) {
        const part *p = s->part_list[i];
        for (size_t k = 0; k < p->samples.n; k++) {
            const raw_sample *r = &VEC(&p->samples, raw_sample)[k];
            if (!is_usable(r)) {
                seal_lost(s, CAUSE_NUMBER_RANGE, 1, 0, 0);
                continue;
            }
            l->rows[l->n] = r;
            l->tracks[l->n++] = VEC(&p->tracks, part_track_row)[r->track].sealed;
        }
    }
}

static int64_t sample_dur(const raw_sample *r, const raw_sample *next) {
    int64_t dur = max_i64(0, min_i64(r->dur, TRACE_TIME_LIMIT - 1));
    return next ? min_i64(dur, sub_i64(next->time, r->time)) : dur;
}

static void fill_samples(seal_ctx *s, const sample_list *l, const uint32_t *order) {
    for (size_t k = 0; k < l->n; k++) {
        const raw_sample *r = l->rows[order[k]];
        bool last = k + 1 == l->n || l->tracks[order[k + 1]] != l->tracks[order[k]];
        s->sample.time[k + 1] = r->time;
        s->sample.dur[k + 1] = sample_dur(r, last ? NULL : l->rows[order[k + 1]]);
        s->sample.track[k + 1] = l->tracks[order[k]];
        s->sample.frame[k + 1] = r->frame;
        s->sample.state[k + 1] = r->state;
    }
}

status seal_samples(seal_ctx *s, error *err) {
    sample_list l = {.b = s->b};
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_parts; i++) n += s->part_list[i]->samples.n;
    if (n == 0) return OK;
    if (n > UINT32_MAX / 2) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
    l.rows = seal_scratch(s, n, sizeof *l.rows);
    l.tracks = seal_scratch(s, n, sizeof *l.tracks);
    uint32_t *order = seal_scratch(s, 2 * n, sizeof *order); /* the second half is scratch */
    if (!l.rows || !l.tracks || !order) FAIL_MEMORY(err);
    list_samples(s, &l);
    for (size_t i = 0; i < l.n; i++) order[i] = (uint32_t)i;
    TRY(seal_table(s, TABLE_sample, l.n + 1, err));
    sort_index(order, order + n, l.n, cmp_samples, &l);
    fill_samples(s, &l, order);
    return OK;
}
