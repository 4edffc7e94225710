/* sql_columns.c: the columns of SQL tables from those of the schema, and reading their cells.
 *
 * A cell is found by hops from row to row, each along a reference, and one read at the end: the
 * start of a kernel is kernel.slice, then slice.start. So every convenience is one more row of
 * a table here, and none of them costs a join. */
#include "query/sql_columns.h"

#include "base/num.h"

/* ---- names and units --------------------------------------------------------------------- */

static bool starts(const char *doc, const char *with) {
    return str_starts(str_of(doc), str_of(with));
}

/* Names that SQL does not take without quotes, and ours. */
static const char *name_of(const column_info *c) {
    bool is_reference = c->type == TYPE_REF;
    if (strcmp(c->name, "id") == 0) return "number";
    if (strcmp(c->name, "from") == 0) return "from_id";
    if (strcmp(c->name, "to") == 0) return "to_id";
    if (strcmp(c->name, "group") == 0) return is_reference ? "group_id" : "group_name";
    return c->name;
}

static column_unit unit_of(const column_info *c) {
    if (c->target == TABLE_slice) return UNIT_SLICE;
    if (starts(c->doc, "ns")) return UNIT_NS;
    if (starts(c->doc, "bytes")) return UNIT_BYTES;
    return starts(c->doc, "0…1") ? UNIT_SHARE : UNIT_NONE;
}

/* "enum slice_kind bits" are numbers, "enum slice_kind" and "enum slice_kind: …" are words. */
static word_fn words_of(const column_info *c) {
    if (!starts(c->doc, "enum ")) return NULL;
    str rest = str_from(str_of(c->doc), 5);
    size_t n = 0;
    while (n < rest.n && rest.p[n] != ' ' && rest.p[n] != ':') n++;
    return n < rest.n && rest.p[n] == ' ' ? NULL : sql_words(str_n(rest.p, n));
}

static bool same(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

static int16_t schema_column(int tab, const char *name) {
    for (int i = TABLE_INFO[tab].first_column; i < TABLE_INFO[tab].end_column; i++)
        if (same(COLUMN_INFO[i].name, name)) return (int16_t)i;
    return -1;
}

/* ---- making them ------------------------------------------------------------------------- */

static uint8_t find_column(const sql_table *t, const char *name) {
    for (uint8_t i = 0; i < t->n; i++)
        if (same(t->columns[i].name, name)) return i;
    return NO_SQL_COLUMN;
}

/* A column with a name that is taken already is left out. */
static void add_column(sql_table *t, const sql_column *c) {
    if (find_column(t, c->name) != NO_SQL_COLUMN) return;
    if (t->n == MAX_SQL_COLUMNS) BUG("a table has too many columns for SQL");
    t->columns[t->n++] = *c;
}

/* The column of the schema, read after these hops. */
static sql_column stored(int col, const int16_t *hops, uint8_t n_hops) {
    const column_info *from = &COLUMN_INFO[col];
    sql_column c = {.name = name_of(from), .read = (int16_t)col, .target = N_TABLES};
    for (uint8_t i = 0; i < n_hops; i++) c.hops[c.n_hops++] = hops[i];
    c.unit = unit_of(from);
    c.is_time = starts(from->doc, "ns from the trace's base");
    c.zero_is_null = starts(from->doc, "0 = not recorded");
    c.is_big = from->type == TYPE_U64;
    c.word = words_of(from);
    if (c.word && !c.word(NULL, 0).p) c.zero_is_null = true;
    c.kind = from->type == TYPE_F64   ? CELL_REAL
             : from->type == TYPE_STR ? CELL_NAME
             : c.word                 ? CELL_WORD
                                      : CELL_INT;
    if (from->type == TYPE_REF) c.target = from->target;
    if (same(from->name, "args")) {
        c.kind = CELL_ARGS;
        c.hidden = true;
    }
    if (same(from->name, "category") && from->type == TYPE_U16) {
        c.kind = CELL_NAME;
        c.hops[c.n_hops++] = (int16_t)col;
        c.read = COLUMN_category_name;
    }
    return c;
}

/* What is known about a slice without a column. */
static void add_of_slice(sql_table *t, const int16_t *hops, uint8_t n_hops) {
    sql_column end = {.name = "end",
                      .unit = UNIT_NS,
                      .n_hops = n_hops,
                      .read = READ_END,
                      .is_time = true,
                      .target = N_TABLES};
    sql_column track = {.name = "track", .read = READ_ROW, .target = TABLE_track};
    sql_column step = {.name = "step", .n_hops = n_hops, .read = READ_STEP, .target = N_TABLES};
    for (uint8_t i = 0; i < n_hops; i++) end.hops[i] = step.hops[i] = track.hops[i] = hops[i];
    track.hops[n_hops] = HOP_TRACK;
    track.n_hops = (uint8_t)(n_hops + 1);
    sql_column process = {.name = "process", .hidden = true, .target = TABLE_process};
    for (uint8_t i = 0; i < n_hops; i++) process.hops[i] = hops[i];
    process.hops[n_hops] = HOP_TRACK;
    process.n_hops = (uint8_t)(n_hops + 1);
    process.read = COLUMN_track_process;
    add_column(t, &end);
    add_column(t, &track);
    add_column(t, &step);
    add_column(t, &process);
}

/* Steps have an end, but are intervals like slices. */
static const sql_column STEP_DUR = {
    .name = "dur", .unit = UNIT_NS, .read = READ_STEP_DUR, .target = N_TABLES};

/* A table that extends slices shows the slice. */
static void add_slice(sql_table *t, int reference) {
    static const int columns[] = {COLUMN_slice_name, COLUMN_slice_start, COLUMN_slice_dur,
                                  COLUMN_slice_kind};
    int16_t hop = (int16_t)reference;
    for (size_t i = 0; i < N_OF(columns); i++) {
        sql_column c = stored(columns[i], &hop, 1);
        add_column(t, &c);
    }
    add_of_slice(t, &hop, 1);
}

/* x_name for each reference x to something that has a name. */
static status add_names(sql_table *t, arena *a, error *err) {
    for (uint16_t i = 0, n = t->n; i < n; i++) {
        sql_column c = t->columns[i];
        int16_t name = c.target < N_TABLES ? schema_column(c.target, "name") : -1;
        if (name < 0 || same(c.name, "id") || c.n_hops == MAX_HOPS) continue;
        str base = str_of(c.name);
        if (str_ends(base, STR("_id"))) base.n -= 3;
        str called = arena_printf(a, "%.*s_name", STR_ARG(base));
        if (!called.p) FAIL_MEMORY(err);
        if (c.read >= 0) c.hops[c.n_hops++] = c.read;
        c = (sql_column){.name = called.p,
                         .kind = CELL_NAME,
                         .hidden = true,
                         .n_hops = c.n_hops,
                         .hops = {c.hops[0], c.hops[1], c.hops[2]},
                         .read = name,
                         .target = N_TABLES};
        add_column(t, &c);
    }
    return OK;
}

/* Rows of these tables ascend by a column. */
static const char *ascends_by(int tab) {
    switch (tab) {
    case TABLE_kernel:
    case TABLE_op:
    case TABLE_call:
    case TABLE_comm:
    case TABLE_module_call: return "slice";
    case TABLE_memory:
    case TABLE_instant:
    case TABLE_counter: return "time";
    default: return NULL;
    }
}

static uint64_t tables_needed(const sql_table *t) {
    uint64_t needs = (uint64_t)1 << t->table;
    for (uint16_t i = 0; i < t->n; i++) {
        const sql_column *c = &t->columns[i];
        if (c->read >= 0) needs |= (uint64_t)1 << COLUMN_INFO[c->read].table;
        if (c->read == READ_STEP || c->read == READ_END) needs |= SELECT_TABLES;
        for (uint8_t k = 0; k < c->n_hops; k++)
            needs |= c->hops[k] == HOP_TRACK ? TRACE_TABLE(track)
                                             : (uint64_t)1 << COLUMN_INFO[c->hops[k]].table;
    }
    return needs | TRACE_TABLE(track);
}

static status fill_table(sql_table *t, int tab, arena *a, error *err) {
    const table_info *info = &TABLE_INFO[tab];
    const char *by = ascends_by(tab);
    sql_column id = {.name = "id", .read = READ_ROW, .target = (uint16_t)tab};
    *t = (sql_table){.name = same(info->name, "group") ? "comm_group" : info->name,
                     .table = (uint16_t)tab};
    if (tab == TABLE_slice) id.unit = UNIT_SLICE;
    add_column(t, &id);
    for (int i = info->first_column; i < info->end_column; i++) {
        sql_column c = stored(i, NULL, 0);
        add_column(t, &c);
        if (by && same(by, "slice") && same(c.name, "slice")) add_slice(t, i);
    }
    if (tab == TABLE_slice) add_of_slice(t, NULL, 0);
    if (tab == TABLE_step) add_column(t, &STEP_DUR);
    TRY(add_names(t, a, err));
    t->by = by ? find_column(t, by) : NO_SQL_COLUMN;
    t->slice = find_column(t, "slice");
    t->start = find_column(t, "start");
    t->track = find_column(t, "track");
    t->parent = find_column(t, "parent");
    t->time = find_column(t, "time");
    t->needs = tables_needed(t);
    return OK;
}

status sql_tables_fill(sql_table tables[N_TABLES], arena *a, error *err) {
    for (int i = 0; i < N_TABLES; i++) TRY(fill_table(&tables[i], i, a, err));
    return OK;
}

/* ---- reading ----------------------------------------------------------------------------- */

static int64_t read_number(const trace *t, int col, uint32_t row) {
    const void *p = trace_column(t, col);
    switch (COLUMN_INFO[col].type) {
    case TYPE_I64: return ((const int64_t *)p)[row];
    case TYPE_U64: return (int64_t)((const uint64_t *)p)[row];
    case TYPE_I32: {
        int32_t v = ((const int32_t *)p)[row];
        return v == ABSENT_I32 ? ABSENT_I64 : v;
    }
    case TYPE_U16: return ((const uint16_t *)p)[row];
    case TYPE_U8: return ((const uint8_t *)p)[row];
    default: return ((const uint32_t *)p)[row];
    }
}

static uint32_t track_of(cell_reader *r, uint32_t slice) {
    const trace *t = r->t;
    bool same_track = r->track && r->track < t->track.n && slice >= t->track.first[r->track] &&
                      slice < t->track.end[r->track];
    if (!same_track) r->track = trace_track_of(t, slice);
    return r->track;
}

/* Follows the hops; 0: there is nothing. */
static uint32_t row_after_hops(cell_reader *r, const sql_column *c, uint32_t row) {
    for (uint8_t i = 0; i < c->n_hops && row; i++) {
        int hop = c->hops[i];
        if (hop == HOP_TRACK) {
            row = track_of(r, row);
            continue;
        }
        int64_t next = read_number(r->t, hop, row);
        uint16_t to = COLUMN_INFO[hop].target < N_TABLES ? COLUMN_INFO[hop].target
                                                         : (uint16_t)TABLE_category;
        row = next > 0 && next < trace_rows(r->t, to) ? (uint32_t)next : 0;
    }
    return row;
}

static int64_t step_number(const trace *t, uint32_t slice) {
    uint32_t step = trace_step_of(t, slice);
    return step ? t->step.number[step] : ABSENT_I64;
}

int64_t cell_int(cell_reader *r, const sql_column *c, uint32_t row) {
    const trace *t = r->t;
    row = row_after_hops(r, c, row);
    if (!row) return ABSENT_I64;
    if (c->read == READ_ROW) return row;
    if (c->read == READ_END) return sub_i64(slice_end(t, row), t->start_ns);
    if (c->read == READ_STEP) return step_number(t, row);
    if (c->read == READ_STEP_DUR) return sub_i64(t->step.end[row], t->step.start[row]);
    int64_t v = read_number(t, c->read, row);
    if (c->is_time) return v == ABSENT_I64 ? v : sub_i64(v, t->start_ns);
    bool none = v == 0 && (c->kind == CELL_NAME || c->kind == CELL_ARGS || c->zero_is_null ||
                           c->target < N_TABLES);
    return none ? ABSENT_I64 : v;
}

double cell_real(cell_reader *r, const sql_column *c, uint32_t row) {
    row = row_after_hops(r, c, row);
    return row ? ((const double *)trace_column(r->t, c->read))[row] : NAN;
}

uint32_t cell_range(const trace *t, const sql_column *c) {
    if (c->kind == CELL_NAME) return t->n_strings;
    if (c->kind == CELL_WORD) return MAX_WORDS;
    if (c->kind == CELL_INT && c->target < N_TABLES) return trace_rows(t, c->target) + 1;
    return 0;
}
