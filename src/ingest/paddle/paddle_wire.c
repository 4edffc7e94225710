/* paddle_wire.c: nodes, ranges and memory events of a Paddle protobuf.
 *
 * Paddle writes all fields of a message in the order of their numbers, so the next field is
 * known before it is read. The first try takes that order for granted, and that no field is
 * missing; only at the end it is checked that the message ends where the last field did:
 *
 *     0a 0c "conv2d infer"   10 08   18 a0 … 18   20 f3 … 18   28 ba 44   30 ba 44  |
 *     name                   type    start        end          pid        tid       p == end?
 *
 * Any other message (another order, a field twice, none or one we do not know, damage) fails a
 * check and is read from its start by the loop above it, field by field. Both give the same for
 * the same message; the unit test holds them against each other. Nothing after the message is
 * used, but WIRE_ROOM bytes there are readable: a text of up to 127 bytes and what the fields
 * after it could take are less.
 *
 * Most of the work is unpacking varints of seven bits a byte. Where the processor has an
 * instruction for it and is quick at it, it is asked at run time; the functions are made twice,
 * from the same lines. */
#include "ingest/paddle/paddle_wire.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#define PEXT __attribute__((target("bmi,bmi2")))
#endif
#define TEMPLATE static inline __attribute__((always_inline))

/* ---- varints ---- */

#ifdef PEXT
/* As pb_varint. */
PEXT static inline const char *pext_varint(const char *p, uint64_t *v) {
    const uint64_t sevens = 0x7f7f7f7f7f7f7f7fu;
    uint64_t w;
    memcpy(&w, p, 8);
    uint64_t ends = ~w & ~sevens;
    if (ends) {
        *v = _pext_u64(w, (ends ^ (ends - 1)) & sevens);
        return p + __builtin_ctzll(ends) / 8 + 1;
    }
    uint8_t ninth = (uint8_t)p[8], tenth = (uint8_t)p[9];
    *v = _pext_u64(w, sevens) | (uint64_t)(ninth & 0x7f) << 56;
    if (ninth < 0x80) return p + 9;
    *v |= (uint64_t)1 << 63; /* negative numbers have ten */
    return tenth == 1 ? p + 10 : NULL;
}
#else
#define PEXT
#define pext_varint pb_varint
#endif

TEMPLATE const char *varint_at(const char *p, uint64_t *v, bool pext) {
    return pext ? pext_varint(p, v) : pb_varint(p, v);
}

/* ---- steps of the first try: each takes p to after its field, NULL when it is too odd ---- */

static inline const char *number_at(const char *p, uint32_t tag, uint64_t *v) {
    if (!p || (uint8_t)*p != tag) return p;
    if ((uint8_t)p[1] < 0x80) {
        *v = (uint8_t)p[1];
        return p + 2;
    }
    return pb_varint(p + 1, v);
}

static inline const char *skip_varint(const char *p) {
    uint64_t w;
    memcpy(&w, p, 8);
    uint64_t ends = ~w & 0x8080808080808080u;
    if (ends) return p + __builtin_ctzll(ends) / 8 + 1;
    return (uint8_t)p[8] < 0x80 ? p + 9 : NULL;
}

static void remember(wire_repeat *last, const char *p, size_t n) {
    if (n == 0 || n > 16) return;
    for (size_t i = 0; i < 2; i++) {
        size_t used = n <= 8 * i ? 0 : n - 8 * i < 8 ? n - 8 * i : 8;
        memcpy(&last->bytes[i], p + 8 * i, 8);
        last->mask[i] = used ? UINT64_MAX >> (64 - 8 * used) : 0;
    }
    last->n = n;
}

/* Numbers that are others than the last time. */
static const char *read_repeat(const char *p, uint32_t tag, int n, wire_repeat *last) {
    *last = (wire_repeat){.n = 0};
    const char *end = p;
    for (int i = 0; i < n; i++)
        end = number_at(end, tag + PB_VARINT(1) * (uint32_t)i, &last->v[i]);
    if (end) remember(last, p, (size_t)(end - p));
    return end;
}

/* The n fields from `tag` on. */
static inline const char *read_repeat_at(const char *p, uint32_t tag, int n,
                                         wire_repeat *last) {
    uint64_t w[2];
    if (!p) return NULL;
    memcpy(w, p, sizeof w);
    if (last->n && !(((w[0] ^ last->bytes[0]) & last->mask[0]) |
                     ((w[1] ^ last->bytes[1]) & last->mask[1])))
        return p + last->n;
    return read_repeat(p, tag, n, last);
}

/* ---- nodes ---- */

/* The fields from `in` on. */
static bool read_any_node(pb_reader in, wire_node *out) {
    pb_field f;
    for (const char *at = in.p; pb_next(&in, &f); at = in.p) {
        switch (f.tag) {
        case PB_VARINT(1): out->id = at + 1; break;
        case PB_VARINT(2):
            out->parent = at + 1;
            out->is_root = f.v == UINT64_MAX;
            break;
        case PB_BYTES(3): out->event = pb_bytes(&f); break;
        default:
            if (!out->rest.p) out->rest = str_n(at, (size_t)(in.end - at));
            out->has_supplement |= f.tag == PB_BYTES(6);
        }
    }
    return !in.damaged;
}

/* What hangs on a node, when it is of the three known kinds and short: is it whole? */
static bool skip_children(const char *p, const char *end, bool *has_supplement) {
    while (p < end) {
        uint8_t tag = (uint8_t)*p;
        size_t n;
        if (tag != PB_BYTES(5) && tag != PB_BYTES(4) && tag != PB_BYTES(6)) return false;
        *has_supplement |= tag == PB_BYTES(6);
        p = wire_length(p + 1, &n);
        if (!p || p > end || n > (size_t)(end - p)) return false;
        p += n;
    }
    return true;
}

/* Remembers the head of a node: parent and event are where their number and length are. */
static void remember_head(wire_head *last, const char *node, size_t parent, size_t event) {
    uint8_t mask[16] = {0};
    *last = (wire_head){.event = 0};
    if (event >= sizeof mask) return;
    for (size_t i = 0; i <= event; i++) mask[i] = 0x80;
    mask[0] = mask[parent - 1] = mask[event - 1] = 0xff; /* what the fields are */
    memcpy(last->bytes, node, sizeof last->bytes);
    memcpy(last->mask, mask, sizeof last->mask);
    last->parent = (uint8_t)parent;
    last->event = (uint8_t)event;
}

static inline bool has_head(const wire_head *last, const char *node) {
    uint64_t w[2];
    memcpy(w, node, sizeof w);
    return last->event && !(((w[0] ^ last->bytes[0]) & last->mask[0]) |
                            ((w[1] ^ last->bytes[1]) & last->mask[1]));
}

/* Id, parent and the length of the event, in this order: false when it is any other message. */
static bool learn_head(wire_head *last, const char *node) {
    if ((uint8_t)node[0] != PB_VARINT(1)) return false;
    const char *p = skip_varint(node + 1);
    if (!p || (uint8_t)p[0] != PB_VARINT(2)) return false;
    size_t parent = (size_t)(p + 1 - node);
    p = skip_varint(p + 1);
    if (!p || (uint8_t)p[0] != PB_BYTES(3) || (uint8_t)p[1] >= 0x80) return false;
    remember_head(last, node, parent, (size_t)(p + 1 - node));
    return last->event;
}

/* What follows the event of a node is of any length: only the bytes before it can be relied
 * on. */
bool wire_read_node(str message, wire_state *w, wire_node *out) {
    const char *node = message.p, *end = node + message.n;
    if (has_head(&w->node, node) || learn_head(&w->node, node)) {
        const char *event = node + w->node.event + 1;
        *out = (wire_node){.id = node + 1,
                           .parent = node + w->node.parent,
                           .event = str_n(event, (uint8_t)event[-1])};
        const char *p = event + out->event.n;
        if (p == end) return true;
        if (p < end) {
            bool has_supplement = false;
            if (!skip_children(p, end, &has_supplement))
                return read_any_node((pb_reader){.p = p, .end = end}, out);
            out->rest = str_n(p, (size_t)(end - p));
            out->has_supplement = has_supplement;
            return true;
        }
    }
    *out = (wire_node){.is_root = true};
    return read_any_node(pb_open(message), out);
}

uint64_t wire_number(const char *p) {
    uint64_t v = 0;
    if (!p) return 0;
    return pb_varint(p, &v) ? v : UINT64_MAX; /* no count is that large */
}

/* ---- ranges ---- */

static bool read_any_range(str message, wire_range *out) {
    pb_reader in = pb_open(message);
    pb_field f;
    *out = (wire_range){.name = STR_NONE};
    while (pb_next(&in, &f)) {
        switch (f.tag) {
        case PB_BYTES(1): out->name = pb_bytes(&f); break;
        case PB_VARINT(2): out->type = f.v; break;
        case PB_VARINT(3): out->start = f.v; break;
        case PB_VARINT(4): out->end = f.v; break;
        case PB_VARINT(5): out->pid = f.v; break;
        case PB_VARINT(6): out->tid = f.v; break;
        default: break;
        }
    }
    return !in.damaged;
}

/* A range with all its fields; false when it is any other message. */
TEMPLATE bool plain_range(str message, wire_state *w, wire_range *out, bool pext) {
    const char *p = message.p;
    size_t n = (uint8_t)p[1];
    if ((uint8_t)p[0] != PB_BYTES(1) || n >= 0x80) return false;
    out->name = str_n(p + 2, n);
    p += n + 2;
    if ((uint8_t)p[0] != PB_VARINT(2) || (uint8_t)p[1] >= 0x80) return false;
    out->type = (uint8_t)p[1];
    if ((uint8_t)p[2] != PB_VARINT(3) || !(p = varint_at(p + 3, &out->start, pext)))
        return false;
    if ((uint8_t)p[0] != PB_VARINT(4) || !(p = varint_at(p + 1, &out->end, pext))) return false;
    p = read_repeat_at(p, PB_VARINT(5), 2, &w->range_thread);
    out->pid = w->range_thread.v[0];
    out->tid = w->range_thread.v[1];
    return p == message.p + message.n;
}

static bool read_range(str message, wire_state *w, wire_range *out) {
    return plain_range(message, w, out, false) || read_any_range(message, out);
}

PEXT static bool read_range_pext(str message, wire_state *w, wire_range *out) {
    return plain_range(message, w, out, true) || read_any_range(message, out);
}

/* ---- memory events ---- */

static bool read_any_memory(str message, wire_memory *out) {
    pb_reader in = pb_open(message);
    pb_field f;
    *out = (wire_memory){.place = STR_NONE};
    while (pb_next(&in, &f)) {
        switch (f.tag) {
        case PB_VARINT(1): out->time = f.v; break;
        case PB_VARINT(2): out->type = f.v; break;
        case PB_VARINT(3): out->address = f.v; break;
        case PB_VARINT(4): out->pid = f.v; break;
        case PB_VARINT(5): out->tid = f.v; break;
        case PB_VARINT(6): out->increase = f.v; break;
        case PB_BYTES(7): out->place = pb_bytes(&f); break;
        case PB_VARINT(8): out->totals[0] = f.v; break;
        case PB_VARINT(9): out->totals[1] = f.v; break;
        case PB_VARINT(10): out->totals[2] = f.v; break;
        case PB_VARINT(11): out->totals[3] = f.v; break;
        default: break;
        }
    }
    return !in.damaged;
}

TEMPLATE bool plain_memory(str message, wire_state *w, wire_memory *out, bool pext) {
    const char *p = message.p;
    if ((uint8_t)p[0] != PB_VARINT(1) || !(p = varint_at(p + 1, &out->time, pext)))
        return false;
    if ((uint8_t)p[0] != PB_VARINT(2) || (uint8_t)p[1] >= 0x80) return false;
    out->type = (uint8_t)p[1];
    if ((uint8_t)p[2] != PB_VARINT(3) || !(p = varint_at(p + 3, &out->address, pext)))
        return false;
    p = read_repeat_at(p, PB_VARINT(4), 2, &w->memory_thread);
    out->pid = w->memory_thread.v[0];
    out->tid = w->memory_thread.v[1];
    if (!p || (uint8_t)p[0] != PB_VARINT(6) || !(p = varint_at(p + 1, &out->increase, pext)))
        return false;
    size_t n = (uint8_t)p[1];
    if ((uint8_t)p[0] != PB_BYTES(7) || n >= 0x80) return false;
    out->place = str_n(p + 2, n);
    p += n + 2;
    if ((uint8_t)p[0] != PB_VARINT(8) || !(p = varint_at(p + 1, &out->totals[0], pext)))
        return false;
    p = read_repeat_at(p, PB_VARINT(9), WIRE_REPEATS, &w->memory_totals);
    memcpy(&out->totals[1], w->memory_totals.v, sizeof w->memory_totals.v);
    return p == message.p + message.n;
}

static bool read_memory(str message, wire_state *w, wire_memory *out) {
    return plain_memory(message, w, out, false) || read_any_memory(message, out);
}

PEXT static bool read_memory_pext(str message, wire_state *w, wire_memory *out) {
    return plain_memory(message, w, out, true) || read_any_memory(message, out);
}

/* ---- the choice ---- */

void wire_choose(wire_state *w, bool pext) {
    w->read_range = pext ? read_range_pext : read_range;
    w->read_memory = pext ? read_memory_pext : read_memory;
}

#ifdef __x86_64__
/* BMI and BMI2 (leaf 7), but not where PEXT is microcode: AMD's family 17h (Zen, Zen 2). Asked
 * here because __builtin_cpu_supports needs a runtime library that not every compiler
 * brings. */
static bool has_fast_pext(void) {
    enum { BMI = 1u << 3, BMI2 = 1u << 8, AUTH = 0x68747541, FAMILY_ZEN = 0x17 };
    unsigned a, b, c, d, vendor;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & (BMI | BMI2)) != (BMI | BMI2))
        return false;
    if (!__get_cpuid(0, &a, &vendor, &c, &d) || !__get_cpuid(1, &a, &b, &c, &d)) return false;
    return vendor != AUTH || ((a >> 8) & 0xf) + ((a >> 20) & 0xff) != FAMILY_ZEN;
}
#else
static bool has_fast_pext(void) {
    return false;
}
#endif

void wire_init(wire_state *w) {
    *w = (wire_state){.read_range = NULL};
    wire_choose(w, has_fast_pext());
}
