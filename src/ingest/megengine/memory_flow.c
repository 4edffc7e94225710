/* memory_flow.c: MegEngine's memory picture (`*.memory_flow.svg`): the only file of it with
 * addresses.
 *
 *     <rect x="7.000000" y="1.048576" height="0.098304" width="45.000000" fill="#AAAAAA"
 *      tag:type="tensor" tag:name="" tag:address="0x7f0000100000" tag:size="96KB "
 *      tag:layout="{…}" tag:produced="1ms 7us 280ns " tag:erased="5ms 460us "
 *      tag:duration="…" tag:group="101">
 *
 * Each rectangle with an address is the storage of one tensor: an allocation and its release,
 * paired by a number of their own because tensors may share an address. Positions are not read:
 * the attributes say everything without the picture's rounding to 100 µs.
 *
 * The writer does not escape names, so this is not an XML reader: an attribute's value ends at
 * the quote after which another attribute or the end of the tag follows, whatever comes before.
 * Entities that our own export escapes are decoded; it also writes each block's device
 * (tag:place, tag:device), which MegEngine does not. */
#include "base/buf.h"
#include "base/num.h"
#include "base/sort.h"
#include "ingest/megengine/megengine.h"

enum { READ_BYTES = 1 << 20, MOST_TAG = 1 << 20, MOST_ATTRIBUTES = 32, MOST_PLACES = 64 };

typedef struct {
    str name, value;
} attribute;

typedef struct {
    int64_t time;
    uint32_t row; /* rectangle */
    uint8_t turn; /* at one moment: what was there goes, what comes, what goes at once */
    bool end;
} edge;

typedef struct {
    uint64_t address;
    int64_t bytes, produced, erased;
    uint32_t args, place;
    uint32_t frame; /* that says its name; 0 = it has none */
    uint64_t offset;
} rectangle;

/* A device; 0 is the one of pictures that do not tell. */
typedef struct {
    uint8_t type;
    int32_t id;
    uint32_t word; /* string id */
    int64_t allocated;
} place;

typedef struct {
    builder *b;
    part *part;
    intern *strings;
    vec rectangles;
    place places[MOST_PLACES];
    uint32_t n_places;
    uint32_t track;
    bool failed;
} reader;

/* ---- tags ---- */

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == ':' || c == '_' || c == '-';
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Does another attribute or the end of the tag begin after this quote? */
static bool ends_value(str s, size_t at) {
    size_t i = at;
    while (i < s.n && is_space(s.p[i])) i++;
    if (i == s.n) return true;
    if (s.p[i] == '>')
        return i + 1 == s.n || s.p[i + 1] == '\n' || s.p[i + 1] == '<' || s.p[i + 1] == '\r';
    if (s.p[i] == '/') return i + 1 < s.n && s.p[i + 1] == '>';
    if (i == at) return false;
    size_t name = i;
    while (i < s.n && is_name_char(s.p[i])) i++;
    return i > name && i + 1 < s.n && s.p[i] == '=' && s.p[i + 1] == '"';
}

/* The attributes of the tag that opens at s; one past them. */
static size_t read_attributes(str s, size_t at, attribute *out, uint32_t *n) {
    *n = 0;
    while (at < s.n) {
        while (at < s.n && is_space(s.p[at])) at++;
        size_t name = at;
        while (at < s.n && is_name_char(s.p[at])) at++;
        if (at == name || at + 1 >= s.n || s.p[at] != '=' || s.p[at + 1] != '"') return at;
        size_t value = at + 2, close = value;
        while (close < s.n && !(s.p[close] == '"' && ends_value(s, close + 1))) close++;
        if (close == s.n) return close;
        if (*n < MOST_ATTRIBUTES)
            out[(*n)++] =
                (attribute){str_n(s.p + name, at - name), str_n(s.p + value, close - value)};
        at = close + 1;
    }
    return at;
}

static str find(const attribute *all, uint32_t n, const char *name) {
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(all[i].name, str_of(name))) return all[i].value;
    return STR_NONE;
}

/* ---- values ---- */

typedef struct {
    const char *name;
    int64_t scale;
} unit;

static const unit TIMES[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};
static const unit SIZES[] = {
    {"B", 1}, {"KB", 1024}, {"MB", 1 << 20}, {"GB", 1 << 30}, {NULL, 0}};

/* "5ms 230us " with these units; an empty text is 0. */
static bool read_quantity(str text, const unit *units, int64_t *out) {
    int64_t sum = 0;
    for (size_t at = 0; at < text.n;) {
        if (is_space(text.p[at])) {
            at++;
            continue;
        }
        size_t digits = at;
        while (at < text.n && text.p[at] >= '0' && text.p[at] <= '9') at++;
        size_t word = at;
        while (at < text.n && !is_space(text.p[at]) && (text.p[at] < '0' || text.p[at] > '9'))
            at++;
        int64_t v, scale = 0;
        for (const unit *u = units; u->name; u++)
            if (str_eq(str_of(u->name), str_n(text.p + word, at - word))) scale = u->scale;
        if (!scale || !str_to_i64(str_n(text.p + digits, word - digits), &v) ||
            v > INT64_MAX / 4 / scale || sum > INT64_MAX / 4)
            return false;
        sum += v * scale;
    }
    *out = sum;
    return true;
}

static bool read_address(str text, uint64_t *out) {
    uint64_t v = 0;
    if (!str_starts(text, STR("0x")) || text.n < 3 || text.n > 18) return false;
    for (size_t i = 2; i < text.n; i++) {
        char c = (char)(text.p[i] | 0x20);
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) return false;
        v = v << 4 | (uint64_t)digit;
    }
    *out = v;
    return true;
}

static void add_decoded(buf *b, str text) {
    static const struct {
        str entity;
        char c;
    } table[] = {
        {STR("&lt;"), '<'}, {STR("&gt;"), '>'}, {STR("&quot;"), '"'}, {STR("&amp;"), '&'}};
    for (size_t i = 0; i < text.n;) {
        size_t taken = 1;
        char c = text.p[i];
        for (size_t k = 0; c == '&' && taken == 1 && k < sizeof table / sizeof *table; k++)
            if (str_starts(str_from(text, i), table[k].entity)) {
                taken = table[k].entity.n;
                buf_add_byte(b, table[k].c);
            }
        if (taken == 1) buf_add_byte(b, c);
        i += taken;
    }
}

static uint32_t make_args(reader *r, const attribute *all, uint32_t n) {
    static const char *const keys[] = {"name", "layout", "group", "type"};
    buf b = {0}, text = {0};
    buf_add_byte(&b, '{');
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char full[24] = "tag:";
        memcpy(full + 4, keys[i], strlen(keys[i]) + 1);
        str value = find(all, n, full);
        if (!value.p) continue;
        if (b.n > 1) buf_add_byte(&b, ',');
        buf_add_json(&b, str_of(keys[i]));
        buf_add_byte(&b, ':');
        buf_clear(&text);
        add_decoded(&text, value);
        buf_add_json(&b, buf_str(&text));
    }
    buf_add_byte(&b, '}');
    uint32_t id =
        buf_ok(&b) && buf_ok(&text) ? intern_add(r->strings, buf_str(&b)) : UINT32_MAX;
    r->failed |= id == UINT32_MAX;
    buf_fini(&b);
    buf_fini(&text);
    return id == UINT32_MAX ? 0 : part_args_raw(r->part, id);
}

/* Who a block belongs to is known by its name alone, as where only a call stack tells it. */
static uint32_t keep_name(reader *r, str name) {
    buf b = {0};
    add_decoded(&b, name);
    uint32_t id = buf_ok(&b) ? intern_add(r->strings, buf_str(&b)) : UINT32_MAX;
    buf_fini(&b);
    uint32_t frame = id && id != UINT32_MAX ? builder_frame(r->b, 0, id) : id;
    r->failed |= frame == UINT32_MAX;
    return frame;
}

/* ---- devices ---- */

/* "1:0": type and number; what is none of these, or one too many, is the untold device. */
static uint32_t read_place(reader *r, str text, str word) {
    size_t colon = str_find(text, STR(":"), 0);
    int64_t type, id;
    if (colon == SIZE_MAX || !str_to_i64(str_n(text.p, colon), &type) ||
        !str_to_i64(str_from(text, colon + 1), &id) || type < 0 || type >= DEVICE_UNKNOWN ||
        id < -1 || id > INT32_MAX)
        return 0;
    for (uint32_t i = 1; i < r->n_places; i++)
        if (r->places[i].type == type && r->places[i].id == id) return i;
    if (r->n_places == MOST_PLACES) return 0;
    buf b = {0};
    add_decoded(&b, word);
    uint32_t name = buf_ok(&b) ? intern_add(r->strings, buf_str(&b)) : UINT32_MAX;
    buf_fini(&b);
    r->failed |= name == UINT32_MAX;
    r->places[r->n_places] = (place){.type = (uint8_t)type, .id = (int32_t)id, .word = name};
    return r->n_places++;
}

/* The words of devices that have no number of ours. */
static status keep_words(const reader *r, builder *b, error *err) {
    bool reported[256] = {false};
    for (uint32_t i = r->n_places; i-- > 1;) {
        row_device_word row = {.type = r->places[i].type, .name = r->places[i].word};
        if (row.type < DEVICE_NAMED || reported[row.type]) continue;
        reported[row.type] = true;
        TRY(builder_put_device_word(b, &row, err));
    }
    return OK;
}

/* ---- rectangles ---- */

static status take_rectangle(reader *r, const attribute *all, uint32_t n, uint64_t offset) {
    rectangle x = {.offset = offset};
    str address = find(all, n, "tag:address");
    if (!address.p) return OK; /* the background */
    part_count(r->part, 1, 0);
    bool good = read_address(address, &x.address) &&
                read_quantity(find(all, n, "tag:size"), SIZES, &x.bytes) &&
                read_quantity(find(all, n, "tag:produced"), TIMES, &x.produced) &&
                read_quantity(find(all, n, "tag:erased"), TIMES, &x.erased);
    if (!good || x.erased < x.produced) {
        part_lost(r->part, good ? CAUSE_NEGATIVE_DURATION : CAUSE_BAD_SYNTAX, offset, 0);
        part_count(r->part, 0, 1);
        return OK;
    }
    x.args = make_args(r, all, n);
    x.frame = keep_name(r, find(all, n, "tag:name"));
    x.place = read_place(r, find(all, n, "tag:place"), find(all, n, "tag:device"));
    rectangle *row = r->failed ? NULL : vec_push(&r->rectangles);
    if (!row) return ERR_MEMORY;
    *row = x;
    return OK;
}

/* Rectangles of the text up to the last complete one; *used: bytes that are not needed
 * again. */
static status read_text(reader *r, str text, uint64_t offset, bool final, size_t *used) {
    attribute all[MOST_ATTRIBUTES];
    size_t at = 0;
    for (;;) {
        size_t open = str_find(text, STR("<rect "), at);
        if (open == SIZE_MAX) {
            *used = final ? text.n : text.n > 8 ? text.n - 8 : 0;
            return OK;
        }
        uint32_t n;
        size_t end = read_attributes(text, open + 6, all, &n);
        if (end + 2 >= text.n && !final && text.n - open < MOST_TAG) {
            *used = open;
            return OK;
        }
        if (end >= text.n) part_lost(r->part, CAUSE_TRUNCATED, offset + open, 0);
        TRY(take_rectangle(r, all, n, offset + open));
        at = end > open + 6 ? end : open + 6;
    }
}

/* The edges in order of time; at one moment releases come first, as memory is used again,
 * except of tensors that live for no time. */
static int compare_edges(uint32_t a, uint32_t b, const void *context) {
    const edge *e = context;
    if (e[a].time != e[b].time) return e[a].time < e[b].time ? -1 : 1;
    if (e[a].turn != e[b].turn) return e[a].turn < e[b].turn ? -1 : 1;
    return e[a].row < e[b].row ? -1 : e[a].row > e[b].row;
}

static status add_edges(reader *r, const edge *edges, const uint32_t *order, size_t n) {
    const rectangle *all = VEC(&r->rectangles, rectangle);
    for (size_t i = 0; i < n; i++) {
        const edge *e = &edges[order[i]];
        const rectangle *x = &all[e->row];
        place *at = &r->places[x->place];
        raw_memory m = {.time = e->time,
                        .address = x->address,
                        .bytes = e->end ? -x->bytes : x->bytes,
                        .reserved = ABSENT_I64,
                        .track = r->track,
                        .args = x->args,
                        .frame = e->end ? 0 : x->frame,
                        .tie = (uint32_t)i + 1,
                        .block = e->row + 1,
                        .device = at->id,
                        .device_type = at->type,
                        .kind = e->end ? MEMORY_FREE : MEMORY_ALLOC};
        m.allocated = at->allocated = add_i64(at->allocated, m.bytes);
        TRY(part_memory(r->part, &m));
    }
    return OK;
}

static status make_rows(reader *r) {
    size_t n = 2 * r->rectangles.n;
    vec edges = VEC_INIT(edge), order = VEC_INIT(uint32_t);
    status st = vec_reserve(&edges, n + 1);
    if (st == OK) st = vec_reserve(&order, 2 * n + 1);
    for (size_t i = 0; i < n && st == OK; i++) {
        const rectangle *x = &VEC(&r->rectangles, rectangle)[i / 2];
        bool end = i % 2;
        uint8_t turn = !end ? 1 : x->erased > x->produced ? 0 : 2;
        VEC(&edges, edge)
        [i] = (edge){end ? x->erased : x->produced, (uint32_t)(i / 2), turn, end};
        VEC(&order, uint32_t)[i] = (uint32_t)i;
    }
    if (st == OK) {
        sort_index(VEC(&order, uint32_t), VEC(&order, uint32_t) + n, n, compare_edges, edges.p);
        st = add_edges(r, edges.p, order.p, n);
    }
    vec_fini(&edges);
    vec_fini(&order);
    return st;
}

static status read_pieces(reader *r, source *src, const ingest_options *o, uint64_t *n_bytes,
                          error *err) {
    size_t keep = 0;
    piece pc = {.p = ""};
    status st = OK;
    for (;;) {
        piece next;
        TRY(source_next(src, READ_BYTES, keep, &next, err));
        bool final = next.n == 0;
        if (final) {
            size_t used;
            str rest = str_n(pc.p + pc.n - keep, keep);
            st = read_text(r, rest, *n_bytes - keep, true, &used);
            break;
        }
        source_release(src, &pc);
        pc = next;
        *n_bytes = pc.offset + pc.n;
        size_t used = 0;
        st = read_text(r, str_n(pc.p, pc.n), pc.offset, false, &used);
        if (st != OK) break;
        keep = pc.n - used;
        uint64_t held = builder_size_bytes(r->b) + r->rectangles.n * sizeof(rectangle);
        if (o->memory_limit_bytes && held > o->memory_limit_bytes)
            FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT,
                 arg_bytes("limit", sat_i64(o->memory_limit_bytes)));
    }
    source_release(src, &pc);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}

status ingest_memory_flow(source *src, const ingest_options *o, builder *b, error *err) {
    uint64_t n_bytes = 0;
    reader r = {.b = b,
                .part = builder_part(b),
                .strings = builder_strings(b),
                .rectangles = VEC_INIT(rectangle),
                .places = {{.type = DEVICE_UNKNOWN}},
                .n_places = 1};
    if (!r.part) FAIL_MEMORY(err);
    r.track = part_track(r.part, (ident){0, false}, (ident){0, false});
    status st = r.track == UINT32_MAX ? ERR_MEMORY : read_pieces(&r, src, o, &n_bytes, err);
    if (st == OK) st = make_rows(&r);
    if (st == OK) st = keep_words(&r, b, err);
    if (st == OK && source_damaged(src)) part_lost(r.part, CAUSE_STREAM_DAMAGED, n_bytes, 0);
    if (st == OK) part_finish(r.part);
    bool none = r.rectangles.n == 0;
    vec_fini(&r.rectangles);
    builder_set_format(b, "memory_flow");
    builder_set_input_bytes(b, n_bytes);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    if (st == OK && none) FAIL0(err, ERR_FORMAT, NOPOS, MSG_NO_MEMORY_FLOW);
    return st;
}
