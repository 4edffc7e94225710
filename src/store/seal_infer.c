/* seal_infer.c: operators of device work that was launched in steps whose operators were not
 * recorded.
 *
 *    step 0  sampled   launches  a b c d  operators of a, b, c, d
 *    step 1  left out  launches  a b c d  the same ones: those of step 0, confidence 100
 *    step 2  left out  launches  a b X d  what is certain (launch_match.h); the rest is unknown
 *
 * Launches are compared thread by thread, since threads do not wait for each other: the
 * launches of one thread in one step are a sequence. Equal sequences are one class. A class
 * with sampled members has their operators, but where two of them disagree on an operator, its
 * shapes or its modules it stays unknown. A class without is matched with the sampled classes
 * of its thread that are most like it.
 *
 * kernel.op then names the operator in the sampled step: it has the name, shapes, stack and
 * module, but not the time and not the arguments of this launch. kernel.link says so
 * (LINK_INFERRED). */
#include "base/bisect.h"
#include "base/hash.h"
#include "base/num.h"
#include "base/sort.h"
#include "store/builder_int.h"
#include "store/launch_match.h"

enum { MOST_COMPARED = 4, MOST_LOOKED_AT = 32, MOST_AROUND = 256, CERTAIN = 100 };
/* So many launches may be compared for each there is; a file made to need more is not
 * served. */
enum { COMPARED_PER_LAUNCH = 64, COMPARED_AT_LEAST = 1 << 20 };

/* The launches of a thread in a step. */
typedef struct {
    uint32_t first, n; /* in `work` */
    uint32_t step, track;
    uint32_t class;
    bool is_sampled;
} sequence;

/* Equal sequences of a thread. */
typedef struct {
    uint32_t example; /* the first of them */
    uint32_t sampled; /* the last sampled one so far + 1; 0: none */
    uint32_t track;
    uint32_t *ops;        /* by launch: the operator's slice, 0: not known */
    uint64_t *signatures; /* of the first sampled one, 0 once two disagree */
    uint8_t confidence;
} class;

typedef struct {
    seal_ctx *s;
    uint32_t n_work;
    uint32_t *work; /* kernel rows by thread, time of the launch */
    uint64_t *key;
    sequence *sequences;
    uint32_t n_sequences;
    class *classes;
    uint32_t n_classes;
    uint32_t *sampled; /* classes, ascending */
    uint32_t n_sampled;
    uint64_t budget; /* launches that may still be compared */
} infer_ctx;

/* ---- sequences --------------------------------------------------------------------------- */

static int compare_work(uint32_t a, uint32_t b, const void *context) {
    const seal_ctx *s = context;
    if (s->kernel.launch[a] !=
        s->kernel.launch[b]) /* by thread and time: so slices are sorted */
        return s->kernel.launch[a] < s->kernel.launch[b] ? -1 : 1;
    if (s->kernel.graph_node[a] != s->kernel.graph_node[b])
        return s->kernel.graph_node[a] < s->kernel.graph_node[b] ? -1 : 1;
    int64_t x = s->slice.start[s->kernel.slice[a]], y = s->slice.start[s->kernel.slice[b]];
    if (x != y) return x < y ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* What is the same each time a program launches it. */
static uint64_t key_of(const seal_ctx *s, uint32_t k) {
    bool sized = s->slice.kind[s->kernel.slice[k]] != KIND_KERNEL; /* copies and memsets */
    uint64_t words[] = {
        s->slice.name[s->kernel.slice[k]],
        s->slice.kind[s->kernel.slice[k]],
        (uint64_t)s->kernel.grid_x[k] << 32 | s->kernel.grid_y[k],
        (uint64_t)s->kernel.grid_z[k] << 32 | s->kernel.block_x[k],
        (uint64_t)s->kernel.block_y[k] << 32 | s->kernel.block_z[k],
        (uint64_t)s->kernel.stream[k],
        (uint64_t)(int64_t)s->kernel.device[k],
        sized ? (uint64_t)s->kernel.bytes[k] : (uint64_t)s->kernel.shared_memory[k],
        (uint64_t)s->kernel.graph_node[k],
    };
    return hash_bytes64(words, sizeof words);
}

static status list_work(infer_ctx *q, error *err) {
    seal_ctx *s = q->s;
    uint32_t *scratch = seal_scratch(s, (size_t)s->kernel.n + 1, sizeof *scratch);
    q->work = seal_scratch(s, (size_t)s->kernel.n + 1, sizeof *q->work);
    q->key = seal_scratch(s, (size_t)s->kernel.n + 1, sizeof *q->key);
    q->sequences = seal_scratch(s, (size_t)s->kernel.n + 1, sizeof *q->sequences);
    if (!scratch || !q->work || !q->key || !q->sequences) FAIL_MEMORY(err);
    for (uint32_t k = 1; k < s->kernel.n; k++)
        if (s->kernel.launch[k]) q->work[q->n_work++] = k;
    sort_index(q->work, scratch, q->n_work, compare_work, s);
    for (uint32_t i = 0; i < q->n_work; i++) q->key[i] = key_of(s, q->work[i]);
    return OK;
}

/* Is a part of the step one of which no operators were recorded? */
static bool is_left_out(const seal_ctx *s, uint32_t step) {
    const raw_left_out *all = VEC(&s->b->left_outs, raw_left_out);
    size_t low = SEARCH_FIRST(i, 0, s->b->left_outs.n, all[i].end <= s->step.start[step]);
    return low < s->b->left_outs.n && all[low].start < s->step.end[step];
}

static void mark_steps(seal_ctx *s) {
    for (uint32_t i = 1; i < s->step.n; i++) s->step.left_out[i] = is_left_out(s, i);
}

/* Steps that are found may begin inside of operators and modules that began before they were
 * recorded. */
static bool has_operators(const seal_ctx *s, uint32_t step) {
    bool is_marked = s->step.how[step] == STEP_MARKED;
    return !s->step.left_out[step] && (is_marked || step == 1 || !s->step.left_out[step - 1]);
}

static void cut_sequences(infer_ctx *q) {
    seal_ctx *s = q->s;
    uint32_t track = 1;
    for (uint32_t i = 0; i < q->n_work; i++) {
        uint32_t launch = s->kernel.launch[q->work[i]];
        while (track + 1 < s->track.n && s->track.end[track] <= launch) track++;
        uint32_t step = trace_step_at(s->t, s->slice.start[launch]);
        sequence *last = q->n_sequences ? &q->sequences[q->n_sequences - 1] : NULL;
        if (!step) continue;
        if (last && last->track == track && last->step == step && last->first + last->n == i) {
            last->n++;
            continue;
        }
        q->sequences[q->n_sequences++] = (sequence){.first = i,
                                                    .n = 1,
                                                    .step = step,
                                                    .track = track,
                                                    .is_sampled = has_operators(s, step)};
    }
}

/* ---- operators of sampled steps ---------------------------------------------------------- */

/* An operator with its shapes and with what is around it, in words: the same code has the
 * same. */
static uint64_t signature_of(const seal_ctx *s, uint32_t op) {
    if (!op) return 1;
    uint32_t row = s->detail[op];
    bool has_row = row && row < s->op.n && s->op.slice[row] == op;
    uint64_t h = hash_pair(s->slice.name[op], has_row ? s->op.shapes[row] : 0);
    uint32_t up = s->slice.parent[op];
    for (int i = 0; up && i < MOST_AROUND; i++, up = s->slice.parent[up])
        if (s->slice.kind[up] == KIND_OP || s->slice.kind[up] == KIND_MODULE)
            h = hash_pair(h, s->slice.name[up]);
    return h ? h : 2;
}

static status add_sample(infer_ctx *q, class *c, uint32_t i, error *err) {
    seal_ctx *s = q->s;
    const sequence *from = &q->sequences[i];
    bool is_first = !c->sampled;
    c->sampled = i + 1;
    if (is_first) {
        c->confidence = CERTAIN;
        c->ops = seal_scratch(s, from->n, sizeof *c->ops);
        c->signatures = seal_scratch(s, from->n, sizeof *c->signatures);
        if (!c->ops || !c->signatures) FAIL_MEMORY(err);
    }
    for (uint32_t k = 0; k < from->n; k++) {
        uint32_t op = s->kernel.op[q->work[from->first + k]];
        uint64_t signature = signature_of(s, op);
        if (is_first) c->signatures[k] = signature;
        if (c->signatures[k] != signature) c->signatures[k] = 0;
        c->ops[k] = c->signatures[k] ? op : 0;
    }
    return OK;
}

/* ---- classes ----------------------------------------------------------------------------- */

static bool is_equal(const infer_ctx *q, const sequence *a, const sequence *b) {
    return a->track == b->track && a->n == b->n &&
           memcmp(q->key + a->first, q->key + b->first, a->n * sizeof *q->key) == 0;
}

static status sort_into_classes(infer_ctx *q, error *err) {
    map by_hash = {0};
    status st = OK;
    q->classes = seal_scratch(q->s, (size_t)q->n_sequences + 1, sizeof *q->classes);
    if (!q->classes) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->n_sequences && st == OK; i++) {
        sequence *a = &q->sequences[i];
        uint64_t hash = hash_bytes64(q->key + a->first, a->n * sizeof *q->key);
        uint32_t *at = map_at(&by_hash, hash_pair(hash, a->track));
        if (!at) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
        if (!at) break;
        if (*at == MAP_NONE || !is_equal(q, a, &q->sequences[q->classes[*at].example])) {
            *at = q->n_classes++;
            q->classes[*at] = (class){.example = i, .track = a->track};
        }
        a->class = *at;
        if (a->is_sampled) st = add_sample(q, &q->classes[*at], i, err);
    }
    map_fini(&by_hash);
    return st;
}

/* ---- sequences that no sampled one is like ----------------------------------------------- */

static uint32_t distance(uint32_t a, uint32_t b) {
    return a > b ? a - b : b - a;
}

static status list_sampled(infer_ctx *q, error *err) {
    q->sampled = seal_scratch(q->s, (size_t)q->n_classes + 1, sizeof *q->sampled);
    if (!q->sampled) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->n_classes; i++)
        if (q->classes[i].sampled) q->sampled[q->n_sampled++] = i;
    return OK;
}

/* Of those sampled about the same time, the first that came after this class. */
static uint32_t first_after(const infer_ctx *q, uint32_t own) {
    return SEARCH_FIRST(k, 0, q->n_sampled, q->sampled[k] < own);
}

/* Sampled classes of the same thread, of about the same time, that have about as many launches;
 * the most similar first. */
static uint32_t find_similar(const infer_ctx *q, const class *c, const class *found[]) {
    uint32_t n = 0, own = q->sequences[c->example].n;
    uint32_t middle = first_after(q, (uint32_t)(c - q->classes));
    uint32_t from = middle > MOST_LOOKED_AT ? middle - MOST_LOOKED_AT : 0;
    for (uint32_t i = from; i < q->n_sampled && i < middle + MOST_LOOKED_AT; i++) {
        const class *d = &q->classes[q->sampled[i]];
        uint32_t away = distance(q->sequences[d->example].n, own), at = n;
        if (d->track != c->track) continue;
        while (at > 0 && distance(q->sequences[found[at - 1]->example].n, own) > away) at--;
        if (at == MOST_COMPARED) continue;
        if (n < MOST_COMPARED) n++;
        memmove(found + at + 1, found + at, (n - 1 - at) * sizeof *found);
        found[at] = d;
    }
    return n;
}

static launch_list launches_of(const infer_ctx *q, const class *c) {
    const sequence *e = &q->sequences[c->example];
    return (launch_list){q->key + e->first, e->n};
}

/* Takes over what one sampled class says; where another said something else, nothing is
 * known. */
static void join_operators(class *c, const class *from, const uint32_t *match, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        if (match[k] == LAUNCH_UNKNOWN) continue;
        uint64_t signature = from->signatures[match[k]];
        if (!c->signatures[k]) {
            c->signatures[k] = signature ? signature : UINT64_MAX;
            c->ops[k] = signature ? from->ops[match[k]] : 0;
        } else if (c->signatures[k] != signature) {
            c->signatures[k] = UINT64_MAX;
            c->ops[k] = 0;
        }
    }
}

static status match_class(infer_ctx *q, class *c, error *err) {
    const class *similar[MOST_COMPARED];
    uint32_t n = q->sequences[c->example].n, most = 0;
    uint32_t n_similar = find_similar(q, c, similar);
    uint32_t *match = seal_scratch(q->s, n, sizeof *match);
    c->ops = seal_scratch(q->s, n, sizeof *c->ops);
    c->signatures = seal_scratch(q->s, n, sizeof *c->signatures);
    if (!match || !c->ops || !c->signatures) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n_similar; i++) {
        launch_list known = launches_of(q, similar[i]);
        uint32_t n_matched;
        if (q->budget < (uint64_t)known.n + n) break;
        q->budget -= (uint64_t)known.n + n;
        TRY(launch_match(known, launches_of(q, c), match, &n_matched, err));
        join_operators(c, similar[i], match, n);
        most = n_matched > most ? n_matched : most;
    }
    uint64_t percent = (uint64_t)most * CERTAIN / n;
    c->confidence = (uint8_t)(percent < 1 ? 1 : percent < CERTAIN ? percent : CERTAIN - 1);
    return OK;
}

static void write_sequence(infer_ctx *q, const sequence *to, const class *c) {
    seal_ctx *s = q->s;
    for (uint32_t i = 0; i < to->n; i++) {
        uint32_t k = q->work[to->first + i];
        if (s->kernel.op[k] || !c->ops[i]) continue;
        s->kernel.op[k] = c->ops[i];
        s->kernel.link[k] = LINK_INFERRED;
        s->kernel.confidence[k] = c->confidence;
    }
}

status seal_infer(seal_ctx *s, error *err) {
    infer_ctx q = {.s = s};
    if (!s->b->left_outs.n) return OK;
    mark_steps(s);
    TRY(list_work(&q, err));
    cut_sequences(&q);
    TRY(sort_into_classes(&q, err));
    TRY(list_sampled(&q, err));
    q.budget = (uint64_t)q.n_work * COMPARED_PER_LAUNCH + COMPARED_AT_LEAST;
    for (uint32_t i = 0; i < q.n_classes; i++)
        if (!q.classes[i].sampled) TRY(match_class(&q, &q.classes[i], err));
    for (uint32_t i = 0; i < q.n_sequences; i++)
        if (!q.sequences[i].is_sampled)
            write_sequence(&q, &q.sequences[i], &q.classes[q.sequences[i].class]);
    return OK;
}
