/* paddle_facts.c: the clock and the devices of a Paddle trace.
 *
 * Time. Ranges say when they began and ended since the trace's zero, in nanoseconds
 * (args.start_time and end_time); memory events say the time of day, in microseconds (`ts`).
 * The zero is the time of day of a range that begins at 0. It may be anywhere in the file, so
 * points keep their time of day until all is read, and are moved then. A range without such
 * times, or one that began before the zero (written as an unsigned number that wrapped), is
 * moved in the same way. Both ends are taken from the texts, not `dur`: they are 32-bit floats
 * there, rounded in the same direction for equal times, so that what was nested stays nested.
 *
 * Devices. A place is "Place(gpu:0)"; plug-ins use another word. Each word we do not know gets
 * a number, by the order of the words, so that it does not depend on who met it first. */
#include "ingest/paddle/paddle_facts.h"

#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "ingest/paddle/paddle_text.h"

enum { MAX_WORDS = 64 };

typedef struct {
    uint8_t type;
    int32_t id;
} place_info;

/* A range that memory events were recorded in. */
typedef struct {
    uint64_t offset; /* of its event */
    int64_t tid, start;
    uint32_t name;
} owner;

typedef struct {
    uint64_t offset, row; /* of the event; in the part */
    int64_t tid;
} orphan;

struct paddle_facts {
    builder *b;
    part *part;
    vec absolute; /* uint64_t: slices that still have a time of day */
    bool has_zero, has_least;
    int64_t zero_ns, least_ns; /* a zero seen; the smallest one that fits a range */
    map places;                /* string id of a place → row of place_rows */
    vec place_rows;            /* place_info */
    uint32_t words[MAX_WORDS]; /* plug-in devices, string ids */
    uint32_t n_words;
    map names;   /* string id of a thread's label → string id of its name */
    map stacks;  /* string id of a traceback → that of its frames */
    owner now;   /* of the memory events that come next; offset NOPOS: not known */
    vec last;    /* owner: the last one of each piece */
    vec orphans; /* orphan: memory events before the first range of their piece */
};

paddle_facts *paddle_facts_new(builder *b, part *p) {
    paddle_facts *f = p ? mem_zalloc(sizeof *f) : NULL;
    if (!f) return NULL;
    f->b = b;
    f->part = p;
    f->absolute = VEC_INIT(uint64_t);
    f->place_rows = VEC_INIT(place_info);
    f->last = VEC_INIT(owner);
    f->orphans = VEC_INIT(orphan);
    f->now.offset = NOPOS;
    return f;
}

void paddle_facts_free(paddle_facts *f) {
    if (!f) return;
    vec_fini(&f->absolute);
    vec_fini(&f->place_rows);
    vec_fini(&f->last);
    vec_fini(&f->orphans);
    map_fini(&f->places);
    map_fini(&f->names);
    map_fini(&f->stacks);
    mem_free(f);
}

/* ---- times ---- */

#define TIME_LIMIT ((int64_t)1 << 61)

status paddle_set_times(paddle_facts *f, raw_slice *row, int64_t from, int64_t to) {
    if (from == ABSENT_I64 || to < from || to >= TIME_LIMIT) {
        uint64_t *at = vec_push(&f->absolute);
        if (!at) return ERR_MEMORY;
        *at = part_next_slice(f->part);
        return OK;
    }
    int64_t zero = sub_i64(row->start, from / 1000 * 1000);
    if (from == 0 && (!f->has_zero || zero < f->zero_ns)) {
        f->has_zero = true;
        f->zero_ns = zero;
    }
    if (!f->has_least || zero < f->least_ns) f->least_ns = zero;
    f->has_least = true;
    row->start = from;
    row->dur = sub_i64(to, from);
    return OK;
}

/* ---- places ---- */

static const struct {
    str word;
    uint8_t type;
} KNOWN[] = {
    {STR("cpu"), DEVICE_CPU}, {STR("gpu"), DEVICE_CUDA},   {STR("xpu"), DEVICE_XPU},
    {STR("mlu"), DEVICE_MLU}, {STR("npu"), DEVICE_ASCEND}, {STR("intel_hpu"), DEVICE_HPU},
    {STR("mps"), DEVICE_MPS},
};

/* The number of a plug-in's word; DEVICE_UNKNOWN when there are too many. */
static uint8_t find_word(paddle_facts *f, uint32_t word) {
    for (uint32_t i = 0; i < f->n_words; i++)
        if (f->words[i] == word) return (uint8_t)(DEVICE_NAMED + i);
    if (f->n_words == MAX_WORDS) return DEVICE_UNKNOWN;
    f->words[f->n_words] = word;
    return (uint8_t)(DEVICE_NAMED + f->n_words++);
}

static status read_place(paddle_facts *f, str place, place_info *out) {
    int64_t id;
    *out = (place_info){DEVICE_UNKNOWN, ABSENT_I32};
    if (str_starts(place, STR("Place(")) && str_ends(place, STR(")")))
        place = str_n(place.p + 6, place.n - 7);
    size_t colon = str_rfind_byte(place, ':');
    if (colon != SIZE_MAX && str_to_i64(str_from(place, colon + 1), &id)) {
        out->id = sat_i32(id);
        place.n = colon;
    }
    if (place.n == 0) return OK;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (str_eq(place, KNOWN[i].word)) out->type = KNOWN[i].type;
    if (out->type != DEVICE_UNKNOWN) return OK;
    uint32_t word = intern_add(builder_strings(f->b), place);
    if (word == UINT32_MAX) return ERR_MEMORY;
    out->type = find_word(f, word);
    return OK;
}

status paddle_find_place(paddle_facts *f, uint32_t place, uint8_t *type, int32_t *id) {
    uint32_t *at = map_at(&f->places, place);
    if (!at) return ERR_MEMORY;
    if (*at == MAP_NONE) {
        place_info info;
        *at = 0;
        TRY(read_place(f, intern_get(builder_strings(f->b), place), &info));
        place_info *row = vec_push(&f->place_rows);
        if (!row) return ERR_MEMORY;
        *row = info;
        *at = (uint32_t)(f->place_rows.n - 1);
    }
    *type = VEC(&f->place_rows, place_info)[*at].type;
    *id = VEC(&f->place_rows, place_info)[*at].id;
    return OK;
}

static void set_owner(raw_memory *m, const owner *o, int64_t tid) {
    if (o->tid != tid) return;
    m->has_owner = true;
    m->owner_start = o->start;
    m->owner_name = o->name;
}

status paddle_set_place(paddle_facts *f, raw_memory *m, uint32_t place, int64_t tid,
                        uint64_t offset) {
    m->tie = (uint32_t)(offset >> 4); /* an event has more than sixteen bytes */
    if (f->now.offset != NOPOS) {
        set_owner(m, &f->now, tid);
    } else {
        orphan *o = vec_push(&f->orphans);
        if (!o) return ERR_MEMORY;
        *o = (orphan){offset, part_next_memory(f->part), tid};
    }
    return place ? paddle_find_place(f, place, &m->device_type, &m->device) : OK;
}

void paddle_begin_owner(paddle_facts *f, const raw_slice *row, int64_t tid, uint64_t offset) {
    f->now = (owner){.offset = offset, .tid = tid, .start = row->start, .name = row->name};
}

status paddle_begin_piece(paddle_facts *f) {
    if (f->now.offset == NOPOS) return OK;
    owner *last = vec_push(&f->last);
    if (!last) return ERR_MEMORY;
    *last = f->now;
    f->now.offset = NOPOS;
    return OK;
}

uint32_t paddle_set_thread_name(paddle_facts *f, uint32_t label) {
    uint32_t *at = map_at(&f->names, label);
    if (!at) return UINT32_MAX;
    if (*at == MAP_NONE) {
        str name = paddle_thread_name(intern_get(builder_strings(f->b), label));
        *at = name.n ? intern_add(builder_strings(f->b), name) : 0;
    }
    return *at;
}

static bool is_empty(const paddle_facts *f, uint32_t id) {
    return id && intern_get(builder_strings(f->b), id).n < 3; /* {} */
}

status paddle_set_op(paddle_facts *f, raw_op *op) {
    if (is_empty(f, op->shapes)) op->shapes = 0;
    if (is_empty(f, op->types)) op->types = 0;
    if (!op->call_stack) return OK;
    uint32_t *at = map_at(&f->stacks, op->call_stack);
    if (!at) return ERR_MEMORY;
    if (*at == MAP_NONE) {
        buf b = {0};
        paddle_stack(intern_get(builder_strings(f->b), op->call_stack), &b);
        uint32_t id = !buf_ok(&b) ? UINT32_MAX
                      : b.n       ? intern_add(builder_strings(f->b), buf_str(&b))
                                  : 0;
        buf_fini(&b);
        *at = id == UINT32_MAX ? 0 : id;
        if (id == UINT32_MAX) return ERR_MEMORY;
    }
    op->call_stack = *at;
    return OK;
}

/* ---- the end ---- */

static int64_t find_zero(paddle_facts **all, int n, bool *found) {
    int64_t zero = INT64_MAX, least = INT64_MAX;
    for (int i = 0; i < n; i++) {
        if (all[i]->has_zero && all[i]->zero_ns < zero) zero = all[i]->zero_ns;
        if (all[i]->has_least && all[i]->least_ns < least) least = all[i]->least_ns;
    }
    *found = least != INT64_MAX;
    return zero != INT64_MAX ? zero : least != INT64_MAX ? least : 0;
}

typedef struct {
    uint32_t ids[256 - DEVICE_NAMED];
    uint32_t n;
} word_list;

/* All words, each once, in the order of their bytes. */
static void gather_words(builder *b, paddle_facts **all, int n, word_list *out) {
    const intern *strings = builder_strings(b);
    for (int i = 0; i < n; i++)
        for (uint32_t k = 0; k < all[i]->n_words; k++) {
            uint32_t at = 0, word = all[i]->words[k];
            str text = intern_get(strings, word);
            while (at < out->n && str_cmp(intern_get(strings, out->ids[at]), text) < 0) at++;
            if (at < out->n && out->ids[at] == word) continue;
            if (out->n == MAX_WORDS) continue;
            memmove(&out->ids[at + 1], &out->ids[at], (out->n - at) * sizeof *out->ids);
            out->ids[at] = word;
            out->n++;
        }
}

/* The number a part gave to a word becomes the number of the word in the whole trace. */
static void rename_devices(const paddle_facts *f, const word_list *words) {
    uint8_t types[256];
    if (f->n_words == 0) return;
    for (int i = 0; i < 256; i++) types[i] = (uint8_t)i;
    for (uint32_t k = 0; k < f->n_words; k++) {
        types[DEVICE_NAMED + k] = DEVICE_UNKNOWN;
        for (uint32_t at = 0; at < words->n; at++)
            if (words->ids[at] == f->words[k])
                types[DEVICE_NAMED + k] = (uint8_t)(DEVICE_NAMED + at);
    }
    part_rename_devices(f->part, types);
}

static status keep_words(builder *b, const word_list *words, error *err) {
    for (uint32_t i = 0; i < words->n; i++) {
        row_device_word row = {.type = (uint8_t)(DEVICE_NAMED + i), .name = words->ids[i]};
        TRY(builder_put_device_word(b, &row, err));
    }
    return OK;
}

/* Memory events at the start of a piece belong to the last range of what comes before it in the
 * file. Both lists are short: one entry for each piece, and the events up to its first
 * range. */
static void adopt_orphans(paddle_facts **all, int n) {
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < all[i]->orphans.n; k++) {
            const orphan *o = &VEC(&all[i]->orphans, orphan)[k];
            const owner *best = NULL;
            for (int j = 0; j < n; j++)
                for (size_t m = 0; m < all[j]->last.n; m++) {
                    const owner *x = &VEC(&all[j]->last, owner)[m];
                    if (x->offset < o->offset && (!best || x->offset > best->offset)) best = x;
                }
            if (best) set_owner(part_memory_at(all[i]->part, o->row), best, o->tid);
        }
}

/* The accelerator of the trace: the one type its memory events name in addition to the host's.
 * Without such events it is what the file calls every device, a GPU. */
static uint8_t find_accelerator(paddle_facts **all, int n) {
    uint8_t type = DEVICE_CUDA;
    bool found = false;
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < all[i]->place_rows.n; k++) {
            const place_info *p = &VEC(&all[i]->place_rows, place_info)[k];
            if (p->type == DEVICE_CPU || p->type == DEVICE_UNKNOWN || p->id == ABSENT_I32)
                continue;
            if (found && type != p->type) return DEVICE_CUDA;
            found = true;
            type = p->type;
        }
    return type;
}

status paddle_facts_finish(builder *b, paddle_facts **all, int n, error *err) {
    word_list words = {.n = 0};
    bool found;
    int64_t zero = find_zero(all, n, &found);
    gather_words(b, all, n, &words);
    for (int i = 0; i < n; i++)
        if (paddle_begin_piece(all[i]) != OK) FAIL_MEMORY(err);
    adopt_orphans(all, n);
    for (int i = 0; i < n; i++) {
        rename_devices(all[i], &words);
        part_move_points(all[i]->part, sub_i64(0, zero));
        for (size_t k = 0; k < all[i]->absolute.n; k++)
            part_move_slice(all[i]->part, VEC(&all[i]->absolute, uint64_t)[k],
                            sub_i64(0, zero));
    }
    builder_set_base_unix_ns(b, zero);
    /* The number of a plug-in's word is known only now. */
    uint8_t type = find_accelerator(all, n);
    builder_set_device_type(b, type < DEVICE_NAMED ? type
                               : words.n == 1      ? (uint8_t)DEVICE_NAMED
                                                   : (uint8_t)DEVICE_CUDA);
    return words.n ? keep_words(b, &words, err) : OK;
}
