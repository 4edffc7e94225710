/* nsight_nvtx.c: ranges that programs and libraries draw with NVTX.
 *
 *     aten::mm, op_id = 12, seq = 7, sizes = [[8, 4], [4, 2]]    an operator of PyTorch
 *     ProfilerStep#3, Optimizer.step#AdamW.step                  as in PyTorch's own
 *                                                                profiler
 *     {'Module': 'decoder.layers.0.mlp', …                       a module (hooks of
 *                                                                NVIDIA's)
 *     decoder.layers.0.mlp                                       the same by its name alone
 *     domain NCCL                                                the host's part of a
 *                                                                collective
 *     domains CCCL, cuBLAS, …                                    calls of libraries
 *     anything else                                              a range of the user's
 *
 * Ranges that are pushed and popped nest on a thread; those that are started and ended may
 * overlap, and end on another thread. */
#include <ctype.h>

#include "ingest/nsight/nsight_int.h"

/* The first ones are enough to find the domains. */
enum {
    TYPE,
    TEXT,
    TEXT_ID,
    THREAD,
    DOMAIN,
    N_DOMAIN_COLUMNS,
    START = N_DOMAIN_COLUMNS,
    END,
    DATA,
    N_COLUMNS_USED
};
enum {
    TYPE_MARK = 34,
    TYPE_PUSH = 59,
    TYPE_START = 60,
    TYPE_PUSH_IMPORTED = 70,
    TYPE_START_IMPORTED = 71,
    TYPE_DOMAIN = 75
};

static const char *const COLUMNS[] = {"eventType", "text",  "textId", "globalTid",
                                      "domainId",  "start", "end",    "binaryData"};
_Static_assert(N_OF(COLUMNS) == N_COLUMNS_USED, "a name each");
static const str EVENTS = STR("NVTX_EVENTS");

static uint64_t domain_key(db_rows *row) {
    return hash_pair((uint64_t)nsight_global_pid(db_int(row, THREAD, 0)),
                     (uint64_t)db_int(row, DOMAIN, 0));
}

static str text_of(const reader *r, db_rows *row) {
    str text = db_text(row, TEXT);
    return text.n ? text : intern_get(r->strings, nsight_name(r, db_int(row, TEXT_ID, -1)));
}

/* ---- domains, before the ranges that are in them ---- */

static bool is_one_of(str s, const str *words, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (str_eq_nocase(s, words[i])) return true;
    return false;
}

static bool is_torch(str text) {
    return str_find(text, STR(", op_id = "), 0) != SIZE_MAX || str_starts(text, STR("aten::"));
}

static status take_domain(reader *r, db_rows *row) {
    static const str libraries[] = {STR("CCCL"),     STR("cuBLAS"),    STR("cuBLASLt"),
                                    STR("cuDNN"),    STR("cuFFT"),     STR("cuSPARSE"),
                                    STR("cuSOLVER"), STR("cuRAND"),    STR("TensorRT"),
                                    STR("libcudf"),  STR("libkvikio"), STR("cupy")};
    if (!nsight_is_mine(r, db_int(row, THREAD, 0))) return OK;
    str text = text_of(r, row);
    uint32_t *at = map_at(&r->domain_map, domain_key(row));
    if (!at) return ERR_MEMORY;
    *at = (uint32_t)r->domains.n;
    domain_row *d = vec_push(&r->domains);
    if (!d) return ERR_MEMORY;
    *d = (domain_row){.name = nsight_string(r, text),
                      .library = is_one_of(text, libraries, N_OF(libraries)),
                      .collective = str_eq(text, STR("NCCL")) || str_eq(text, STR("NVSHMEM"))};
    return OK;
}

/* Is PyTorch among the ranges? Most files say so within their first rows. */
static status find_torch(reader *r, error *err) {
    db_rows rows;
    TRY(db_select(r->db, EVENTS, COLUMNS, N_DOMAIN_COLUMNS, &rows, err));
    rows.silent = true; /* what is lost is counted when the ranges are read */
    while (!r->torch && db_next(&rows))
        r->torch = db_int(&rows, TYPE, 0) != TYPE_DOMAIN &&
                   nsight_is_mine(r, db_int(&rows, THREAD, 0)) && is_torch(text_of(r, &rows));
    return db_done(&rows, err);
}

status nsight_read_domains(reader *r, error *err) {
    db_rows rows;
    status st = OK;
    TRY(find_torch(r, err));
    TRY(db_select_only(r->db, EVENTS, COLUMNS, N_DOMAIN_COLUMNS, TYPE_DOMAIN, &rows, err));
    while (st == OK && db_next(&rows)) st = r->failed ? ERR_MEMORY : take_domain(r, &rows);
    status done = db_done(&rows, err);
    if (st != OK || r->failed) FAIL_MEMORY(err);
    return done;
}

static domain_row *domain_of(reader *r, db_rows *row) {
    uint32_t at = map_get(&r->domain_map, domain_key(row));
    return at == MAP_NONE ? NULL : &VEC(&r->domains, domain_row)[at];
}

/* ---- what a range is ---- */

/* "encoder.block.0.mlp": names with dots, of which one part is a number. */
static bool is_module_path(str s) {
    bool number = false, digits = true;
    size_t n_parts = 1, n = 0;
    for (size_t i = 0; i <= s.n; i++) {
        if (i == s.n || s.p[i] == '.') {
            if (!n) return false;
            number |= digits;
            n_parts += i < s.n;
            n = 0;
            digits = true;
            continue;
        }
        if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_') return false;
        digits &= isdigit((unsigned char)s.p[i]) != 0;
        n++;
    }
    return number && n_parts >= 3;
}

/* The name in "{'Module': 'NAME', …"; none when it is another text. */
static str hooked_module(str text) {
    static const str start = STR("{'Module': '");
    if (!str_starts(text, start)) return STR_NONE;
    str rest = str_from(text, start.n);
    size_t end = str_find(rest, STR("'"), 0);
    return end == SIZE_MAX ? STR_NONE : str_n(rest.p, end);
}

static bool starts_with_one(str name, const str *words, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (str_starts(name, words[i])) return true;
    return false;
}

/* Ranges that PyTorch draws in addition to its operators. */
static slice_kind kind_of_name(str name, bool op) {
    static const str own[] = {STR("FSDP::"),
                              STR("## "),
                              STR("DistributedDataParallel."),
                              STR("Torch-Compiled Region"),
                              STR("nccl:"),
                              STR("[pl]")};
    if (str_starts(name, STR("ProfilerStep#"))) return KIND_STEP;
    if (str_starts(name, STR("enumerate(DataLoader)#"))) return KIND_DATA;
    if (str_starts(name, STR("Optimizer."))) return KIND_OPTIMIZER;
    if (op && !starts_with_one(name, own, N_OF(own))) return KIND_OP;
    return is_module_path(name) ? KIND_MODULE : KIND_ANNOTATION;
}

typedef struct {
    str name;
    slice_kind kind;
    int64_t op_id; /* PyTorch's, ABSENT_I64: none */
    raw_op op;
} range;

/* Digits at the start of a text; ABSENT_I64: none. */
static int64_t leading_number(str text) {
    int64_t v = 0;
    size_t i = 0;
    for (; i < text.n && i < 18 && isdigit((unsigned char)text.p[i]); i++)
        v = v * 10 + (text.p[i] - '0');
    return i ? v : ABSENT_I64;
}

/* The list that opens a text, whole brackets only. */
static str leading_list(str text) {
    size_t depth = 0;
    for (size_t i = 0; i < text.n; i++) {
        depth += text.p[i] == '[';
        if (text.p[i] == ']' && --depth == 0) return str_n(text.p, i + 1);
        if (!depth) break;
    }
    return STR_NONE;
}

/* What PyTorch writes after the name, found in one walk:
 * ", op_id = 12, seq = 7, sizes = [[8]]". The name ends where the first of the two numbers
 * is. */
static void read_torch(reader *r, str text, range *out) {
    static const str id = STR(", op_id = "), sequence = STR(", seq = "),
                     sizes = STR(", sizes = [");
    size_t end = SIZE_MAX;
    out->op =
        (raw_op){.external = ABSENT_I64, .sequence = ABSENT_I64, .forward_thread = ABSENT_I64};
    for (const char *p = text.p, *stop = text.p + text.n;
         text.n && (p = memchr(p, ',', (size_t)(stop - p))); p++) {
        str rest = str_n(p, (size_t)(stop - p));
        bool number = str_starts(rest, id) || str_starts(rest, sequence);
        if (number && end == SIZE_MAX) end = (size_t)(p - text.p);
        if (str_starts(rest, id)) out->op_id = leading_number(str_from(rest, id.n));
        if (str_starts(rest, sequence))
            out->op.sequence = leading_number(str_from(rest, sequence.n));
        if (!str_starts(rest, sizes)) continue;
        str list = leading_list(str_from(rest, sizes.n - 1));
        if (list.n) out->op.shapes = nsight_string(r, list);
        break; /* the rest is from newer versions, and nothing here reads it */
    }
    out->name = end == SIZE_MAX ? text : str_n(text.p, end);
    bool marked = end != SIZE_MAX || str_starts(text, STR("aten::")) ||
                  str_starts(text, STR("autograd::"));
    out->kind = kind_of_name(out->name, marked);
}

static range read_range(reader *r, str text, const domain_row *d) {
    range out = {.name = text, .kind = KIND_ANNOTATION, .op_id = ABSENT_I64};
    str module = hooked_module(text);
    if (d && d->collective) {
        out.kind = KIND_FRAMEWORK; /* the kernel it enqueues is the collective */
    } else if (d && d->library) {
        out.kind = r->torch ? KIND_FRAMEWORK : KIND_OP;
        out.op = (raw_op){
            .external = ABSENT_I64, .sequence = ABSENT_I64, .forward_thread = ABSENT_I64};
    } else if (module.n) {
        out.name = module;
        out.kind = KIND_MODULE;
    } else {
        read_torch(r, text, &out);
    }
    return out;
}

/* ---- rows ---- */

static uint16_t category_of(reader *r, domain_row *d) {
    uint16_t *known = d ? &d->category : &r->plain_category;
    char text[160] = "nvtx";
    if (*known) return *known;
    if (d)
        (void)snprintf(text, sizeof text, "nvtx:%.*s",
                       STR_ARG(intern_get(r->strings, d->name)));
    *known = builder_category(r->b, nsight_string(r, str_of(text)));
    r->failed |= *known == 0;
    return *known;
}

/* The number of an operator; else the whole text where the name is not all of it. */
static uint32_t args_of(reader *r, str text, const range *is) {
    bool numbered = is->op_id != ABSENT_I64;
    if (text.n == is->name.n) return 0;
    uint32_t key = nsight_string(r, numbered ? STR("op_id") : STR("text"));
    raw_value v = {.place = builder_shape(r->b, 0, key),
                   .tag = numbered ? VALUE_INT : VALUE_STRING,
                   .v = numbered ? is->op_id : (int64_t)nsight_string(r, text)};
    r->failed |= v.place == 0;
    return r->failed ? 0 : part_args(r->part, &v, 1);
}

static void add_value(reader *r, raw_value *values, size_t *n, const char *key, uint8_t tag,
                      int64_t v) {
    uint32_t above = *n ? values[*n - 1].place : 0; /* places are a path */
    raw_value *to = &values[(*n)++];
    *to = (raw_value){
        .place = builder_shape(r->b, above, nsight_string(r, str_of(key))), .tag = tag, .v = v};
    r->failed |= to->place == 0;
}

/* What NCCL tells of a call, for the reader of the timeline and for the kernels it launches. */
static status take_payload(reader *r, db_rows *row, raw_slice *s) {
    nccl_payload p;
    raw_value values[N_NCCL_FIELDS];
    size_t n = 0;
    if (!nsight_payload(r, db_text(row, DATA), &p)) return OK;
    static const char *const keys[N_NCCL_FIELDS] = {[NCCL_BYTES] = "bytes",
                                                    [NCCL_PEER] = "peer_rank",
                                                    [NCCL_N_RANKS] = "ranks",
                                                    [NCCL_RANK] = "rank"};
    if (p.v[NCCL_COMMUNICATOR] != ABSENT_I64)
        add_value(r, values, &n, "communicator", VALUE_STRING,
                  nsight_communicator(r, p.v[NCCL_COMMUNICATOR]));
    for (int i = 0; i < N_NCCL_FIELDS; i++)
        if (keys[i] && p.v[i] != ABSENT_I64)
            add_value(r, values, &n, keys[i], VALUE_INT, p.v[i]);
    if (r->failed) return ERR_MEMORY;
    s->args = part_args(r->part, values, n);
    return nsight_nccl_range(r, db_int(row, THREAD, 0), s->start, s->name, &p);
}

static status take_nested(reader *r, db_rows *row, str text, raw_slice *s) {
    domain_row *d = domain_of(r, row);
    range is = read_range(r, text, d);
    s->kind = (uint8_t)is.kind;
    s->name = nsight_string(r, is.name);
    s->track = nsight_thread(r, db_int(row, THREAD, 0));
    s->category = category_of(r, d);
    s->args = args_of(r, text, &is);
    if (d && d->collective) TRY(take_payload(r, row, s));
    if (is.kind == KIND_OP) TRY(part_op(r->part, &is.op, s));
    if (is.kind == KIND_MODULE) {
        raw_module m = {.id = s->name};
        TRY(part_module(r->part, &m, s));
    }
    return r->failed ? ERR_MEMORY : part_slice(r->part, s);
}

static status take_started(reader *r, db_rows *row, str text, const raw_slice *s) {
    char id[32];
    int n = snprintf(id, sizeof id, "%lld", (long long)db_row_id(row));
    raw_mark mark = {.time = s->start,
                     .offset = database_n_rows(r->db) * 2,
                     .name = nsight_string(r, text),
                     .track = nsight_thread(r, db_int(row, THREAD, 0)),
                     .id = nsight_string(r, str_n(id, (size_t)n)),
                     .category = category_of(r, domain_of(r, row)),
                     .kind = KIND_ASYNC};
    if (r->failed) return ERR_MEMORY;
    TRY(part_mark(r->part, &mark));
    mark.time = add_i64(s->start, s->dur);
    mark.offset++;
    mark.end = true;
    return part_mark(r->part, &mark);
}

static status take_point(reader *r, db_rows *row, str text) {
    raw_instant i = {.time = db_int(row, START, ABSENT_I64),
                     .name = nsight_string(r, text),
                     .track = nsight_thread(r, db_int(row, THREAD, 0)),
                     .category = category_of(r, domain_of(r, row)),
                     .scope = 't'};
    part_count(r->part, 1, i.time == ABSENT_I64);
    if (i.time == ABSENT_I64) part_lost(r->part, CAUSE_MISSING_TIME, NOPOS, 0);
    if (r->failed) return ERR_MEMORY;
    return i.time == ABSENT_I64 ? OK : part_instant(r->part, &i);
}

/* A range that was still open goes to the end of the recording. */
static bool range_time(reader *r, db_rows *row, raw_slice *s) {
    int64_t start = db_int(row, START, ABSENT_I64);
    if (start == ABSENT_I64 || db_has(row, END)) return nsight_time(r, row, START, END, s);
    part_count(r->part, 1, 0);
    part_lost(r->part, CAUSE_UNMATCHED_BEGIN, NOPOS, 0);
    s->start = start;
    s->dur = max_i64(0, sub_i64(r->end_ns, start));
    s->flags = SLICE_UNFINISHED;
    return true;
}

static status take_event(void *context, db_rows *row) {
    reader *r = context;
    int64_t type = db_int(row, TYPE, 0);
    bool nested = type == TYPE_PUSH || type == TYPE_PUSH_IMPORTED;
    bool started = type == TYPE_START || type == TYPE_START_IMPORTED;
    if (!nested && !started && type != TYPE_MARK) return OK;
    if (!nsight_is_mine(r, db_int(row, THREAD, 0))) return OK;
    str text = text_of(r, row);
    raw_slice s = {0};
    if (type == TYPE_MARK) return take_point(r, row, text);
    if (!range_time(r, row, &s)) return OK;
    return nested ? take_nested(r, row, text, &s) : take_started(r, row, text, &s);
}

status nsight_read_ranges(reader *r, error *err) {
    return nsight_table(r, "NVTX_EVENTS", COLUMNS, N_OF(COLUMNS), take_event, err);
}
