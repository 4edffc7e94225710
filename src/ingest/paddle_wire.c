/* paddle_wire.c: nodes, ranges and memory events of a Paddle protobuf.
 *
 * Paddle writes the fields of a message in the order of their numbers, so the next field is known
 * before it is read. The first try takes that order for granted: it asks for each field in turn, a
 * field that is not there costs one comparison, and only at the end it is checked that the message ends
 * where the last field did:
 *
 *     0a 0c "conv2d infer"   10 08   18 a0 … 18   20 f3 … 18   28 ba 44   30 ba 44  |
 *     name                   type    start        end          pid        tid       p == end?
 *
 * Any other message (another order, a field twice, one we do not know, damage) fails that check and is
 * read from its start by the loop below it, field by field. Both give the same for the same message;
 * the unit test holds them against each other. Nothing is used that lies behind
 * the message, but WIRE_ROOM bytes there are readable: a text of up to 127 bytes and what the fields
 * behind it could take are less. */
#include "ingest/paddle_wire.h"

/* ---- steps of the first try: each takes p to behind its field, NULL when it is too odd ---- */

static inline const char *number_at(const char *p, uint32_t tag, uint64_t *v) {
    if (!p || (uint8_t)*p != tag) return p;
    if ((uint8_t)p[1] < 0x80) {
        *v = (uint8_t)p[1];
        return p + 2;
    }
    return pb_varint(p + 1, v);
}

/* A time of day, nine bytes. */
static inline const char *time_at(const char *p, uint32_t tag, uint64_t *v) {
    if (!p || (uint8_t)*p != tag) return p;
    return pb_varint(p + 1, v);
}

static inline const char *text_at(const char *p, uint32_t tag, str *v) {
    if (!p || (uint8_t)*p != tag) return p;
    size_t n = (uint8_t)p[1];
    if (n >= 0x80) return NULL;
    *v = str_n(p + 2, n);
    return p + 2 + n;
}

static inline const char *skip_varint(const char *p) {
    uint64_t w;
    memcpy(&w, p, 8);
    uint64_t ends = ~w & 0x8080808080808080u;
    if (ends) return p + __builtin_ctzll(ends) / 8 + 1;
    return (uint8_t)p[8] < 0x80 ? p + 9 : NULL;
}

static void remember_thread(wire_thread *last, const char *p, size_t n) {
    if (n == 0 || n > 16) return;
    for (size_t i = 0; i < 2; i++) {
        size_t used = n <= 8 * i ? 0 : n - 8 * i < 8 ? n - 8 * i : 8;
        memcpy(&last->bytes[i], p + 8 * i, 8);
        last->mask[i] = used ? UINT64_MAX >> (64 - 8 * used) : 0;
    }
    last->n = n;
}

/* Process and thread, the fields `tag` and `tag` + 8. */
static inline const char *thread_at(const char *p, uint32_t tag, wire_thread *last) {
    uint64_t w[2];
    if (!p) return NULL;
    memcpy(w, p, sizeof w);
    if (last->n && !(((w[0] ^ last->bytes[0]) & last->mask[0]) |
                     ((w[1] ^ last->bytes[1]) & last->mask[1])))
        return p + last->n;
    *last = (wire_thread){.n = 0};
    const char *end = number_at(number_at(p, tag, &last->pid), tag + PB_VARINT(1), &last->tid);
    if (end) remember_thread(last, p, (size_t)(end - p));
    return end;
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

/* What hangs on a node behind its event is of any length: only what comes before is taken for granted. */
bool wire_read_node(str message, wire_node *out) {
    const char *p = message.p, *end = p + message.n;
    if (message.n > 6 && (uint8_t)p[0] == PB_VARINT(1)) {
        *out = (wire_node){.id = p + 1};
        p = skip_varint(p + 1);
        if (p && (uint8_t)p[0] == PB_VARINT(2)) {
            out->parent = p + 1;
            p = text_at(skip_varint(p + 1), PB_BYTES(3), &out->event);
            if (p == end) return true;
            if (p && p < end) return read_any_node((pb_reader){.p = p, .end = end}, out);
        }
    }
    *out = (wire_node){.is_root = true};
    return read_any_node(pb_open(message), out);
}

uint64_t wire_number(const char *p) {
    uint64_t v = 0;
    if (!p) return 0;
    return pb_varint(p, &v) ? v : UINT64_MAX; /* nobody counts so far */
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

bool wire_read_range(str message, wire_thread *last, wire_range *out) {
    *out = (wire_range){.name = STR_NONE};
    const char *p = text_at(message.p, PB_BYTES(1), &out->name);
    p = number_at(p, PB_VARINT(2), &out->type);
    p = time_at(p, PB_VARINT(3), &out->start);
    p = time_at(p, PB_VARINT(4), &out->end);
    p = thread_at(p, PB_VARINT(5), last);
    out->pid = last->pid;
    out->tid = last->tid;
    return p == message.p + message.n || read_any_range(message, out);
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

bool wire_read_memory(str message, wire_thread *last, wire_memory *out) {
    *out = (wire_memory){.place = STR_NONE};
    const char *p = time_at(message.p, PB_VARINT(1), &out->time);
    p = number_at(p, PB_VARINT(2), &out->type);
    p = number_at(p, PB_VARINT(3), &out->address);
    p = thread_at(p, PB_VARINT(4), last);
    out->pid = last->pid;
    out->tid = last->tid;
    p = number_at(p, PB_VARINT(6), &out->increase);
    p = text_at(p, PB_BYTES(7), &out->place);
    for (uint32_t i = 0; i < 4; i++) p = number_at(p, PB_VARINT(8 + i), &out->totals[i]);
    return p == message.p + message.n || read_any_memory(message, out);
}
