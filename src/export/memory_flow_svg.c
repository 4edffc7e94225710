/* memory_flow_svg.c: time × address space as a picture: one rectangle for each block of memory,
 * from its allocation to its release.
 *
 *   x, width    100 µs a unit, whole: truncated from the earliest allocation; the width is the
 *               difference of the two truncated ends
 *   y, height   1,000,000 bytes a unit, from the lowest address of the device
 *   fill        by lifetime: the darker the longer; blue is free
 *
 * These are the units, colors and attributes of MegEngine's own pictures, so its viewer shows
 * ours, and a picture of it that was read gives the same rectangles again. Other than there,
 * names are escaped, devices are below each other with an address axis of their own each
 * (tag:place and tag:device say which one it is), and every rectangle has a title for the
 * browser to show. Blocks from before the recording begin with it, blocks that are never
 * released end with it. */
#include "analyse/kind_names.h"
#include "base/json.h"
#include "export/export_int.h"
#include "export/svg_text.h"
#include "store/traits.h"

#define UNIT_NS 100000
#define UNIT_BYTES_Y 1e6

enum { MOST_DEVICES = 64 };

typedef struct {
    uint8_t type;
    int32_t id;
    uint64_t low, high; /* addresses */
    double y;           /* where its picture begins */
} plane;

typedef struct {
    export_ctx *x;
    plane planes[MOST_DEVICES];
    uint32_t n_planes;
    int64_t first_ns, last_ns;
    buf scratch;
} svg_ctx;

static bool is_block(const export_ctx *x, uint32_t row) {
    const trace *t = x->t;
    uint8_t kind = t->memory.kind[row];
    return (kind == MEMORY_ALLOC || kind == MEMORY_EXISTING) && t->memory.address[row] &&
           t->memory.bytes[row] > 0;
}

static int64_t end_of(const trace *t, uint32_t row) {
    uint32_t partner = t->memory.partner[row];
    return partner ? t->memory.time[partner] : t->end_ns;
}

/* The part of the block's life inside the window. */
static bool clip(const export_ctx *x, uint32_t row, int64_t *from, int64_t *to) {
    *from = max_i64(x->t->memory.time[row], x->from_ns);
    *to = min_i64(end_of(x->t, row), x->to_ns);
    return is_block(x, row) && *from <= *to && *from < x->to_ns;
}

static plane *plane_of(svg_ctx *d, uint32_t row) {
    const trace *t = d->x->t;
    for (uint32_t i = 0; i < d->n_planes; i++)
        if (d->planes[i].type == t->memory.device_type[row] &&
            d->planes[i].id == t->memory.device[row])
            return &d->planes[i];
    if (d->n_planes == MOST_DEVICES) return NULL;
    plane *p = &d->planes[d->n_planes++];
    *p = (plane){
        .type = t->memory.device_type[row], .id = t->memory.device[row], .low = UINT64_MAX};
    return p;
}

static uint64_t end_address(const trace *t, uint32_t row) {
    uint64_t bytes = (uint64_t)t->memory.bytes[row], low = t->memory.address[row];
    return bytes > UINT64_MAX - low ? UINT64_MAX : low + bytes;
}

static void measure(svg_ctx *d) {
    const trace *t = d->x->t;
    int64_t from, to;
    d->first_ns = INT64_MAX;
    d->last_ns = INT64_MIN;
    for (uint32_t i = 1; i < t->memory.n; i++) {
        if (!clip(d->x, i, &from, &to)) continue;
        plane *p = plane_of(d, i);
        if (!p) continue;
        d->first_ns = min_i64(d->first_ns, from);
        d->last_ns = max_i64(d->last_ns, to);
        if (t->memory.address[i] < p->low) p->low = t->memory.address[i];
        if (end_address(t, i) > p->high) p->high = end_address(t, i);
    }
    for (uint32_t i = 1; i < d->n_planes; i++) {
        const plane *before = &d->planes[i - 1];
        d->planes[i].y = before->y + (double)(before->high - before->low) / UNIT_BYTES_Y;
    }
}

/* ---- texts ---- */

typedef struct {
    const char *name;
    int64_t scale;
} unit;

static const unit TIMES[] = {{"s ", 1000000000}, {"ms ", 1000000}, {"us ", 1000}, {"ns ", 1}};
static const unit SIZES[] = {{"GB ", 1 << 30}, {"MB ", 1 << 20}, {"KB ", 1 << 10}, {"B ", 1}};

/* 5230000 ns → "5ms 230us ". */
static void add_quantity(buf *b, int64_t v, const unit units[4]) {
    for (int i = 0; i < 4 && v > 0; i++) {
        if (v / units[i].scale) {
            buf_add_i64(b, v / units[i].scale);
            buf_add_cstr(b, units[i].name);
        }
        v %= units[i].scale;
    }
}

static const char *fill_of(int64_t lifetime_ns) {
    static const struct {
        int64_t most_ns;
        const char *fill;
    } table[] = {{0, "#DDDDDD"},        {100000, "#CCCCCC"},    {1000000, "#BBBBBB"},
                 {10000000, "#AAAAAA"}, {100000000, "#999999"}, {1000000000, "#888888"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (lifetime_ns <= table[i].most_ns) return table[i].fill;
    return "#555555";
}

/* ---- rectangles ---- */

static void add_attribute(buf *b, const char *name, str value) {
    buf_printf(b, " tag:%s=\"", name);
    svg_add_escaped(b, value);
    buf_add_byte(b, '"');
}

/* A text of the block's arguments, decoded; empty when it has none. */
static str text_member(buf *to, str json, const char *key) {
    size_t at = to->n;
    json_decode(json_text(json_member(json, str_of(key))), to);
    return str_n(to->p + at, to->n - at);
}

static str name_of(const trace *t, uint32_t row, buf *to, str json) {
    str name = json_member(json, STR("name"));
    if (name.p) return text_member(to, json, "name");
    uint32_t op = t->memory.op[row], frame = t->memory.frame[row];
    if (op) return trace_slice_name(t, op);
    return frame ? trace_str(t, t->frame.name[frame]) : STR("");
}

/* MegEngine's own pictures do not tell the device; nor do they when they are drawn again. */
static void add_device(svg_ctx *d, uint32_t row) {
    const trace *t = d->x->t;
    uint8_t type = t->memory.device_type[row];
    int32_t id = t->memory.device[row];
    if (type == DEVICE_UNKNOWN) return;
    str word = device_word(t, type);
    buf_printf(&d->x->out, " tag:place=\"%u:%d\"", type, id < 0 ? -1 : id);
    add_attribute(&d->x->out, "device", word);
}

static void add_words(svg_ctx *d, uint32_t row, str json, int64_t produced, int64_t erased) {
    const trace *t = d->x->t;
    buf *b = &d->x->out, text = {0}, quantity = {0};
    add_attribute(b, "type", STR("tensor"));
    add_attribute(b, "name", name_of(t, row, &text, json));
    buf_printf(b, " tag:address=\"0x%llx\"", (unsigned long long)t->memory.address[row]);
    add_quantity(&quantity, t->memory.bytes[row], SIZES);
    add_attribute(b, "size", buf_str(&quantity));
    if (json_member(json, STR("layout")).p)
        add_attribute(b, "layout", text_member(&text, json, "layout"));
    const struct {
        const char *name;
        int64_t ns;
    } times[] = {
        {"produced", produced}, {"erased", erased}, {"duration", sub_i64(erased, produced)}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        buf_clear(&quantity);
        add_quantity(&quantity, times[i].ns, TIMES);
        add_attribute(b, times[i].name, quantity.n ? buf_str(&quantity) : STR(""));
    }
    if (json_member(json, STR("group")).p)
        add_attribute(b, "group", text_member(&text, json, "group"));
    add_device(d, row);
    buf_add_cstr(b, "><title>");
    text.n = 0;
    svg_add_escaped(b, name_of(t, row, &text, json));
    buf_printf(b, " %lld B</title>\n</rect>\n", (long long)t->memory.bytes[row]);
    d->x->out.failed |= text.failed || quantity.failed;
    buf_fini(&text);
    buf_fini(&quantity);
}

static status add_block(svg_ctx *d, uint32_t row) {
    export_ctx *x = d->x;
    const trace *t = x->t;
    int64_t from, to;
    if (!clip(x, row, &from, &to)) return OK;
    const plane *p = plane_of(d, row);
    if (!p) return OK;
    int64_t at = sub_i64(from, d->first_ns) / UNIT_NS,
            until = sub_i64(to, d->first_ns) / UNIT_NS;
    buf_printf(
        &x->out,
        "<rect x=\"%lld.000000\" y=\"%.6f\" height=\"%.6f\" width=\"%lld.000000\" fill=\"%s\"",
        (long long)at, p->y + (double)(t->memory.address[row] - p->low) / UNIT_BYTES_Y,
        (double)t->memory.bytes[row] / UNIT_BYTES_Y, (long long)sub_i64(until, at),
        fill_of(sub_i64(to, from)));
    buf_clear(&d->scratch);
    TRY(args_read_json(x->args, t->memory.args[row], &d->scratch, x->err));
    /* Offsets from the start of the trace; a picture that was read has its own zero. */
    bool own_zero = trace_has(t, TRAIT_MEMORY_PICTURE) && t->start_ns >= 0;
    int64_t zero = own_zero ? 0 : t->start_ns;
    add_words(d, row, buf_str(&d->scratch), sub_i64(from, zero), sub_i64(to, zero));
    return export_row_done(x);
}

status export_memory_flow(export_ctx *x) {
    svg_ctx d = {.x = x};
    status st = OK;
    measure(&d);
    if (!d.n_planes) FAIL0(x->err, ERR_ARG, NOPOS, MSG_EXPORT_NO_ADDRESSES);
    const plane *last = &d.planes[d.n_planes - 1];
    double height = last->y + (double)(last->high - last->low) / UNIT_BYTES_Y;
    long long width = (long long)(sub_i64(d.last_ns, d.first_ns) / UNIT_NS);
    buf_printf(
        &x->out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" "
        "\"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd\">\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:tag=\"https://megengine.org.cn\" "
        "width=\"%lld\" height=\"%.6f\">\n"
        "<rect x=\"0\" y=\"0\" width=\"%lld\" height=\"%.6f\" fill=\"blue\">\n</rect>\n",
        width, height, width, height);
    for (uint32_t i = 1; i < x->t->memory.n && st == OK; i++) st = add_block(&d, i);
    buf_add_cstr(&x->out, "</svg>\n");
    buf_fini(&d.scratch);
    return st;
}
