/* table.c: tables of named, typed columns, kept as one array for each column.
 *
 * A row is added with every value null and filled afterwards, so an analysis that knows nothing
 * of a column leaves it null, never zero. Columns grow together by doubling; a growth that
 * fails leaves the rows that were there as they were.
 *
 * Sorting orders an index and then moves each column once; its scratch memory is given back at
 * the end, the table's arena keeps only the columns. The order is total: rows that agree in the
 * sort column follow the columns from the left, so the result never depends on the order of
 * arrival.
 *
 * Values of the wrong type and places outside the table are mistakes of the caller (BUG),
 * because which column holds what is fixed in analyse/registry.def; no input can cause them.
 * Nothing here knows what a table means, or how it is written. */
#include "table/table.h"

#include <math.h>

#include "base/sort.h"

#define FIRST_ROWS 16

/* Whatever a column holds is a text, a number of 8 bytes or a pointer. */
static size_t value_bytes(const column *c) {
    bool points = c->type == TYPE_SENTENCE || c->type == TYPE_VALUES;
    return c->type == TYPE_TEXT ? sizeof(str) : points ? sizeof(verdict *) : sizeof(int64_t);
}

static void *values(const column *c) {
    return c->type == TYPE_TEXT ? (void *)c->v.s : (void *)c->v.i;
}

static void set_values(column *c, void *p) {
    if (c->type == TYPE_TEXT)
        c->v.s = p;
    else if (c->type == TYPE_REAL)
        c->v.d = p;
    else if (c->type == TYPE_SENTENCE || c->type == TYPE_VALUES)
        c->v.sentence = p;
    else
        c->v.i = p;
}

const char *severity_name(severity s) {
    static const char *const names[] = {
        [SEVERITY_GOOD] = "good",
        [SEVERITY_INFO] = "info",
        [SEVERITY_WARNING] = "warning",
        [SEVERITY_CRITICAL] = "critical",
    };
    return names[s];
}

table *table_new(arena *a, const char *name, const column_spec *spec, uint32_t n_columns) {
    table *t = ARENA_NEW(a, table);
    column *columns = ARENA_ARRAY(a, column, n_columns);
    if (!t || !columns) return NULL;
    for (uint32_t i = 0; i < n_columns; i++) {
        columns[i].name = spec[i].name;
        columns[i].type = spec[i].type;
        columns[i].unit = spec[i].unit;
        columns[i].help = spec[i].help;
    }
    t->name = name;
    t->n_columns = n_columns;
    t->columns = columns;
    t->arena = a;
    return t;
}

status table_reserve(table *t, size_t cap, error *err) {
    if (cap <= t->cap_rows) return OK;
    if (cap > SIZE_MAX / 2 / sizeof(str)) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < t->n_columns; i++) {
        column *c = &t->columns[i];
        size_t bytes = value_bytes(c);
        void *v = arena_grow(t->arena, values(c), t->cap_rows * bytes, cap * bytes);
        if (!v) FAIL_MEMORY(err);
        set_values(c, v);
        uint8_t *null = arena_grow(t->arena, c->null, t->cap_rows, cap);
        if (!null) FAIL_MEMORY(err);
        c->null = null;
    }
    t->cap_rows = cap;
    return OK;
}

status table_add_row(table *t, size_t *row, error *err) {
    if (t->n_rows == t->cap_rows)
        TRY(table_reserve(t, t->cap_rows ? 2 * t->cap_rows : FIRST_ROWS, err));
    size_t at = t->n_rows++;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        column *c = &t->columns[i];
        c->null[at] = 1;
        memset((char *)values(c) + at * value_bytes(c), 0, value_bytes(c));
    }
    t->total_rows = t->n_rows;
    *row = at;
    return OK;
}

static bool is_absent(const column *c, const char *value) {
    if (c->type == TYPE_TEXT) return !((const str *)(const void *)value)->p;
    if (c->type == TYPE_REAL) return isnan(*(const double *)(const void *)value) != 0;
    if (c->type == TYPE_SENTENCE || c->type == TYPE_VALUES)
        return !*(const verdict *const *)(const void *)value;
    return *(const int64_t *)(const void *)value == INT64_MIN;
}

status table_put_row(table *t, const void *row, size_t size, error *err) {
    const char *from = row, *end = from + size;
    size_t at;
    TRY(table_add_row(t, &at, err));
    for (uint32_t i = 0; i < t->n_columns; i++) {
        column *c = &t->columns[i];
        size_t bytes = value_bytes(c);
        if (bytes > (size_t)(end - from)) BUG("a row of another table");
        c->null[at] = is_absent(c, from);
        if (!c->null[at]) memcpy((char *)values(c) + at * bytes, from, bytes);
        from += (bytes + TABLE_ROW_ALIGN - 1) / TABLE_ROW_ALIGN * TABLE_ROW_ALIGN;
    }
    if (from != end) BUG("a row of another table");
    return OK;
}

static column *column_at(table *t, size_t row, uint32_t col) {
    if (col >= t->n_columns || row >= t->n_rows) BUG("a value outside its table");
    return &t->columns[col];
}

void table_set_int(table *t, size_t row, uint32_t col, int64_t v) {
    column *c = column_at(t, row, col);
    if (c->type != TYPE_INT && c->type != TYPE_BOOL && c->type != TYPE_BIG)
        BUG("a whole number in another column");
    c->v.i[row] = v;
    c->null[row] = 0;
}

void table_set_real(table *t, size_t row, uint32_t col, double v) {
    column *c = column_at(t, row, col);
    if (c->type != TYPE_REAL) BUG("a real number in another column");
    c->v.d[row] = v;
    c->null[row] = (uint8_t)(isnan(v) != 0);
}

void table_set_text(table *t, size_t row, uint32_t col, str v) {
    column *c = column_at(t, row, col);
    if (c->type != TYPE_TEXT) BUG("a text in another column");
    c->v.s[row] = v;
    c->null[row] = v.p ? 0 : 1;
}

void table_set_sentence(table *t, size_t row, uint32_t col, const verdict *v) {
    column *c = column_at(t, row, col);
    if (c->type != TYPE_SENTENCE && c->type != TYPE_VALUES) BUG("a sentence in another column");
    c->v.sentence[row] = v;
    c->null[row] = v ? 0 : 1;
}

bool table_is_null(const table *t, size_t row, uint32_t col) {
    const column *c = &t->columns[col];
    return c->null && c->null[row];
}

uint32_t table_column(const table *t, str name) {
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (str_eq(str_of(t->columns[i].name), name)) return i;
    return UINT32_MAX;
}

/* ---- sorting ----------------------------------------------------------------------------- */

typedef struct {
    const table *t;
    const sort_by *keys;
    uint32_t n_keys;
} order;

/* Two values that are there. */
static int compare_values(const column *c, size_t a, size_t b) {
    if (c->type == TYPE_TEXT) return str_cmp(c->v.s[a], c->v.s[b]);
    if (c->type == TYPE_SENTENCE || c->type == TYPE_VALUES) return 0; /* no words yet */
    if (c->type == TYPE_REAL) return (c->v.d[a] > c->v.d[b]) - (c->v.d[a] < c->v.d[b]);
    return (c->v.i[a] > c->v.i[b]) - (c->v.i[a] < c->v.i[b]);
}

static int compare_rows(uint32_t a, uint32_t b, const void *context) {
    const order *o = context;
    for (uint32_t i = 0; i < o->n_keys + o->t->n_columns; i++) {
        bool key = i < o->n_keys; /* the sort columns first, then from the left */
        uint32_t col = key ? o->keys[i].column : i - o->n_keys;
        bool null_a = table_is_null(o->t, a, col), null_b = table_is_null(o->t, b, col);
        if (null_a || null_b) {
            if (null_a != null_b) return null_a ? 1 : -1;
            continue;
        }
        int r = compare_values(&o->t->columns[col], a, b);
        if (r != 0) return key && o->keys[i].descending ? -r : r;
    }
    return 0;
}

/* Puts row index[i] at place i, for n places and every column; scratch holds one column. */
static void permute(table *t, const uint32_t *index, size_t n, void *scratch) {
    for (uint32_t k = 0; k < t->n_columns; k++) {
        column *c = &t->columns[k];
        size_t bytes = value_bytes(c);
        const char *from = values(c);
        char *to = scratch;
        for (size_t i = 0; i < n; i++) memcpy(to + i * bytes, from + index[i] * bytes, bytes);
        memcpy(values(c), scratch, n * bytes);
        if (!c->null) continue;
        for (size_t i = 0; i < n; i++) to[i] = (char)c->null[index[i]];
        memcpy(c->null, scratch, n);
    }
}

status table_keep(table *t, const uint32_t *index, size_t n, error *err) {
    if (n > 0) {
        void *moved = ARENA_ARRAY(t->arena, str, n);
        if (!moved) FAIL_MEMORY(err);
        permute(t, index, n, moved);
    }
    t->n_rows = n;
    return OK;
}

status table_sort_by(table *t, const sort_by *keys, uint32_t n_keys, error *err) {
    size_t n = t->n_rows;
    for (uint32_t i = 0; i < n_keys; i++)
        if (keys[i].column >= t->n_columns) BUG("sorting by a column that is not there");
    if (n > UINT32_MAX) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TABLE_TOO_LONG);
    if (n < 2) return OK;
    uint32_t *index = ARENA_ARRAY(t->arena, uint32_t, n);
    uint32_t *second = ARENA_ARRAY(t->arena, uint32_t, n);
    if (!index || !second) FAIL_MEMORY(err);
    order o = {.t = t, .keys = keys, .n_keys = n_keys};
    for (size_t i = 0; i < n; i++) index[i] = (uint32_t)i;
    sort_index(index, second, n, compare_rows, &o);
    return table_keep(t, index, n, err);
}

status table_sort(table *t, uint32_t col, bool descending, error *err) {
    sort_by key = {.column = col, .descending = descending};
    return table_sort_by(t, &key, 1, err);
}

/* ---- choosing ---------------------------------------------------------------------------- */

static bool row_holds(const table *t, size_t row, str needle) {
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const column *c = &t->columns[i];
        if (c->type != TYPE_TEXT || table_is_null(t, row, i)) continue;
        if (str_find_nocase(c->v.s[row], needle, 0) != SIZE_MAX) return true;
    }
    return false;
}

static void move_row(table *t, size_t to, size_t from) {
    for (uint32_t i = 0; i < t->n_columns; i++) {
        column *c = &t->columns[i];
        size_t bytes = value_bytes(c);
        char *v = values(c);
        memcpy(v + to * bytes, v + from * bytes, bytes);
        if (c->null) c->null[to] = c->null[from];
    }
}

status table_search(table *t, str needle, error *err) {
    (void)err; /* works in place */
    size_t kept = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        if (!row_holds(t, row, needle)) continue;
        if (kept != row) move_row(t, kept, row);
        kept++;
    }
    t->n_rows = t->total_rows = kept;
    return OK;
}

void table_drop_rows(table *t, str key) {
    size_t kept = 0;
    if (t->n_columns == 0 || t->columns[0].type != TYPE_TEXT) return;
    for (size_t row = 0; row < t->n_rows; row++) {
        if (str_eq(t->columns[0].v.s[row], key)) continue;
        if (kept != row) move_row(t, kept, row);
        kept++;
    }
    t->total_rows -= t->n_rows - kept;
    t->n_rows = kept;
}

void table_limit(table *t, size_t n) {
    if (n != 0 && n < t->n_rows) t->n_rows = n;
}

void table_drop_column(table *t, uint32_t col) {
    if (col >= t->n_columns) BUG("dropping a column that is not there");
    size_t n_after = t->n_columns - col - 1;
    memmove(&t->columns[col], &t->columns[col + 1], n_after * sizeof(column));
    t->n_columns--;
}
