/* seal_comms.c: collectives, in the order of their slices. A raw comm names its slice, unlike
 * the rows of seal_details.c, which their slice names: few slices have one. */
#include "base/bisect.h"
#include "base/sort.h"
#include "store/builder_int.h"

/* The raw comms by the raw slice they name, counted over all parts. Few slices have one: a bit
 * says which. */
typedef struct {
    const raw_comm **rows;
    sort_pair *by_slice; /* key: raw slice, row: into `rows` */
    size_t n;
    uint32_t *has; /* a bit for each raw slice */
} comm_index;

static status index_comms(seal_ctx *s, size_t n_most, comm_index *x, error *err) {
    x->rows = seal_scratch(s, n_most, sizeof *x->rows);
    x->by_slice = seal_scratch(s, 2 * n_most, sizeof *x->by_slice);
    x->has = seal_scratch(s, (size_t)s->slice.n / 32 + 1, sizeof *x->has);
    if (!x->rows || !x->by_slice || !x->has) FAIL_MEMORY(err);
    bool sorted = true;
    for (uint32_t i = 0; i < s->n_parts; i++) {
        const part *p = s->part_list[i];
        for (size_t k = 0; k < p->comms.n; k++) {
            const raw_comm *c = &VEC(&p->comms, raw_comm)[k];
            if (c->slice >= p->n_slices) continue;
            uint32_t row = p->first_slice + (uint32_t)c->slice;
            sorted &= !x->n || x->by_slice[x->n - 1].key <= row;
            x->has[row / 32] |= (uint32_t)1 << row % 32;
            x->by_slice[x->n] = (sort_pair){row, (uint32_t)x->n};
            x->rows[x->n++] = c;
        }
    }
    if (!sorted) sort_radix(x->by_slice, x->by_slice + n_most, x->n);
    return OK;
}

/* The last comm of a raw slice that has one. */
static const raw_comm *comm_of(const comm_index *x, uint32_t slice) {
    size_t low = SEARCH_FIRST(i, 0, x->n, x->by_slice[i].key <= slice);
    return x->rows[x->by_slice[low - 1].row];
}

static uint32_t find_group(seal_ctx *s, map *groups, const raw_comm *c, error *err,
                           status *st) {
    uint32_t *at = map_at(groups, (uint64_t)c->group_name);
    if (!at) {
        *st = ERR_MEMORY;
        return 0;
    }
    if (*at == MAP_NONE) {
        raw_group g = {.name = c->group_name,
                       .description = c->group_description,
                       .ranks = c->group_ranks,
                       .size = c->group_size};
        *at = 0;
        *st = builder_add_group(s->b, &g, err);
        if (*st == OK) *at = (uint32_t)s->b->groups.n;
    }
    return *at;
}

static void write_comm(seal_ctx *s, uint32_t row, uint32_t slice, const raw_comm *c,
                       uint32_t group) {
    s->comm.slice[row] = slice;
    s->comm.name[row] = c->name;
    s->comm.group[row] = group;
    s->comm.sequence[row] = c->sequence;
    s->comm.comms_id[row] = c->comms_id;
    s->comm.in_elements[row] = c->in_elements;
    s->comm.out_elements[row] = c->out_elements;
    s->comm.dtype[row] = c->dtype;
    s->comm.src[row] = c->src;
    s->comm.dst[row] = c->dst;
}

status seal_comms(seal_ctx *s, error *err) {
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_parts; i++) n += s->part_list[i]->comms.n;
    TRY(seal_table(s, TABLE_comm, n + 1, err));
    if (n == 0) return OK;
    comm_index x = {0};
    map groups = {0};
    status st = index_comms(s, n, &x, err);
    for (size_t i = 0; i < s->b->groups.n && st == OK; i++) {
        uint32_t *at = map_at(&groups, VEC(&s->b->groups, raw_group)[i].name);
        if (!at) st = ERR_MEMORY;
        if (at && *at == MAP_NONE) *at = (uint32_t)i + 1;
    }
    uint32_t row = 1;
    for (uint32_t i = 1; i < s->slice.n && st == OK; i++) {
        uint32_t raw = s->raw_row[i];
        if (!(x.has[raw / 32] >> raw % 32 & 1)) continue;
        const raw_comm *c = comm_of(&x, raw);
        write_comm(s, row++, i, c, find_group(s, &groups, c, err, &st));
    }
    map_fini(&groups);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}
