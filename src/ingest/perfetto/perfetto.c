/* perfetto.c: a stream of packets, read twice.
 *
 *     first    descriptors of tracks, snapshots of clocks; what is compressed is unpacked
 *     then     each packet in the state of its sequence: words, defaults, events
 *
 * Descriptors and snapshots may come after the events that need them: so the file is held in
 * memory, with what its compressed packets hold.
 *
 * A packet is field 1 of the file, a length and that many bytes. Where the bytes are not
 * packets, the reader looks for the next place with several packets in a row. */
#include "ingest/perfetto/perfetto.h"

#include "base/mem.h"
#include "ingest/perfetto/perfetto_int.h"
#include "ingest/util/whole_input.h"
#include "io/gzip.h"

enum {
    FIELD_EVENT = 11, /* of a packet */
    READ_BYTES = 4 << 20,
    PACKETS_BETWEEN_LOOKS = 4096,
    MAX_PACKET_FIELD = 159,
    HEAD_PACKETS = 8,
    SURE_PACKETS = 3,
    SEARCH_ROUNDS = 8 /* bytes looked at while searching, as a multiple of the file's */
};

uint32_t perfetto_string(reader *r, str s) {
    uint32_t id = intern_add(r->sink->strings, s);
    r->failed |= id == UINT32_MAX;
    return id == UINT32_MAX ? 0 : id;
}

void perfetto_lose(reader *r, cause why, uint64_t offset, uint32_t example) {
    part_lost(r->part, why, offset, example);
    part_count(r->part, 0, 1);
}

/* ---- recognizing packets ---- */

/* Numbers that a packet has as such; everything else in it is bytes. */
static bool is_number_field(uint32_t number) {
    static const uint8_t numbers[] = {3, 8, 10, 13, 41, 42, 58, 76, 79, 87, 88, 98};
    for (size_t i = 0; i < N_OF(numbers); i++)
        if (numbers[i] == number) return true;
    return false;
}

/* Fields that tell a packet from other messages: its sequence, its clocks, a mark, a track. */
static bool is_sure_field(uint32_t tag) {
    return tag == PB_VARINT(8) || tag == PB_VARINT(10) || tag == PB_VARINT(3) ||
           tag == PB_BYTES(6) || tag == PB_BYTES(33) || tag == PB_BYTES(36) ||
           tag == PB_BYTES(50) || tag == PB_BYTES(60) || tag == PB_BYTES(89) ||
           tag == PB_BYTES(133);
}

/* Is it made of fields that packets have? *sure: of one that nothing else has. Reads nothing
 * after the end. */
static bool is_packet(str body, bool *sure) {
    const char *p = body.p, *end = body.p + body.n;
    bool cut;
    *sure = false;
    while (p < end) {
        pb_field f;
        p = pb_head(p, end, &f, &cut);
        uint32_t number = p ? f.tag >> 3 : 0, wire = p ? f.tag & 7 : 0;
        if (!p || (number > MAX_PACKET_FIELD && number != 900)) return false;
        if (wire != (is_number_field(number) ? (uint32_t)WIRE_VARINT : (uint32_t)WIRE_BYTES))
            return false;
        if (wire == WIRE_BYTES && f.v > (uint64_t)(end - p)) return false;
        if (wire == WIRE_BYTES) p += f.v;
        *sure |= is_sure_field(f.tag);
    }
    return true;
}

/* The packet at *p, which is moved past it; false when there is none or it is incomplete
 * (*cut). */
static bool next_packet(const char **p, const char *end, str *body, bool *cut) {
    pb_field f;
    const char *at = pb_head(*p, end, &f, cut);
    if (!at || f.tag != PB_BYTES(1)) return false;
    *cut = f.v > (uint64_t)(end - at);
    if (*cut) return false;
    *body = str_n(at, (size_t)f.v);
    *p = at + f.v;
    return true;
}

/* So many packets at p, or as many as there are. */
static bool are_packets(const char *p, const char *end, uint32_t n, uint64_t *looked) {
    uint32_t found = 0, n_sure = 0;
    bool cut = false, sure;
    const char *start = p;
    str body;
    while (found < n && p < end && next_packet(&p, end, &body, &cut)) {
        if (!is_packet(body, &sure)) return false;
        found++;
        n_sure += sure;
    }
    if (looked) *looked += (uint64_t)(p - start) + 1;
    bool whole = found == n || p == end || cut;
    return whole && found > 0 && n_sure * 2 > found;
}

bool perfetto_head(str head) {
    return head.n && are_packets(head.p, head.p + head.n, HEAD_PACKETS, NULL);
}

/* The next place that looks like packets; `end` when there is none, or it took too long. */
static const char *find_packets(reader *r, const char *p, const char *end) {
    uint64_t looked = 0;
    for (; p < end && r->search_budget; p++) {
        p = memchr(p, PB_BYTES(1), (size_t)(end - p));
        if (!p) return end;
        looked = 0;
        if (are_packets(p, end, SURE_PACKETS, &looked)) return p;
        r->search_budget -= min_u64(r->search_budget, looked);
    }
    return end;
}

/* ---- walking ---- */

typedef status packet_function(reader *r, str body, uint64_t offset);

/* A packet whose own fields are broken costs itself, if another one follows it. */
static bool is_damaged(str body, const char *next, const char *end) {
    bool sure;
    return next != end && *next != (char)PB_BYTES(1) && !is_packet(body, &sure);
}

/* All packets of the bytes. Damage is counted by the second reading, which counts. */
static status walk(reader *r, str bytes, uint64_t base, packet_function *take, bool counts) {
    const char *p = bytes.p, *end = bytes.p + bytes.n;
    while (p < end) {
        const char *start = p;
        uint64_t offset = base + (uint64_t)(start - bytes.p);
        bool cut = false;
        str body;
        if (next_packet(&p, end, &body, &cut) && !is_damaged(body, p, end)) {
            TRY(take(r, body, offset));
            continue;
        }
        p = find_packets(r, start + 1, end);
        if (counts)
            perfetto_lose(r, cut && p == end ? CAUSE_TRUNCATED : CAUSE_BAD_SYNTAX, offset, 0);
    }
    return OK;
}

static void read_packet(str body, packet *k) {
    pb_reader w = pb_open(body);
    pb_field f;
    while (pb_next(&w, &f)) {
        switch (f.tag) {
        case PB_VARINT(8):
            k->timestamp = f.v;
            k->has_time = true;
            break;
        case PB_VARINT(10): k->sequence_id = (uint32_t)f.v; break;
        case PB_BYTES(11): k->event = pb_bytes(&f); break;
        case PB_BYTES(12): k->interned = pb_bytes(&f); break;
        case PB_VARINT(13): k->flags = f.v; break;
        case PB_BYTES(6): k->snapshot = pb_bytes(&f); break;
        case PB_VARINT(41): k->cleared = f.v != 0; break;
        case PB_VARINT(42): k->dropped = f.v != 0; break;
        case PB_BYTES(44): k->thread = pb_bytes(&f); break;
        case PB_VARINT(58): k->clock = (uint32_t)f.v; break;
        case PB_BYTES(59): k->defaults = pb_bytes(&f); break;
        case PB_BYTES(133):
        case PB_BYTES(50): k->packed = pb_bytes(&f); break;
        default: break;
        }
    }
    k->cleared |= k->flags & 1;
}

/* ---- the first reading ---- */

static status unpack_zstd(str packed, buf *out, bool *damaged, error *err) {
    source *src;
    TRY(source_open_memory(packed, &src, err));
    status st = OK;
    for (piece pc = {.n = 1}; st == OK && pc.n;) {
        st = source_next(src, READ_BYTES, 0, &pc, err);
        if (st != OK || !pc.n) break;
        buf_add(out, pc.p, pc.n);
        source_release(src, &pc);
    }
    *damaged = source_damaged(src);
    source_close(src);
    return st;
}

static uint64_t held_bytes(const reader *r) {
    uint64_t n = r->file.n;
    for (size_t i = 0; i < r->blobs.n; i++) n += VEC(&r->blobs, buf)[i].n;
    return n;
}

static status unpack(reader *r, const packet *k) {
    buf *blob = vec_push(&r->blobs);
    bool damaged = false;
    error err = {0};
    if (!blob) return ERR_MEMORY;
    *blob = (buf){0};
    status st = k->is_zstd ? unpack_zstd(k->packed, blob, &damaged, &err)
                           : zlib_unpack(k->packed, blob, &damaged, &err);
    if (st != OK) return ERR_MEMORY;
    size_t n = blob->n;
    buf_add_repeat(blob, 0, PB_ROOM); /* looked at, never used */
    if (!buf_ok(blob)) return ERR_MEMORY;
    blob->n = n;
    if (damaged) part_lost(r->part, CAUSE_STREAM_DAMAGED, k->offset, 0);
    uint64_t limit = r->o->memory_limit_bytes;
    return limit && held_bytes(r) > limit ? ERR_LIMIT : OK;
}

static status add_snapshot(reader *r, str snapshot) {
    str *to = vec_push(&r->snapshots);
    if (!to) return ERR_MEMORY;
    *to = snapshot;
    return OK;
}

static status index_fields(reader *r, str body, packet *k) {
    pb_reader w = pb_open(body);
    pb_field f;
    while (pb_next(&w, &f)) {
        if ((f.tag & 7) != WIRE_BYTES || f.tag >> 3 >= N_OF(r->unread)) continue;
        r->unread[f.tag >> 3]++;
        if (f.tag == PB_BYTES(60)) TRY(tracks_describe(r, pb_bytes(&f)));
        if (f.tag == PB_BYTES(6)) TRY(add_snapshot(r, pb_bytes(&f)));
        if (f.tag != PB_BYTES(50) && f.tag != PB_BYTES(133)) continue;
        k->packed = pb_bytes(&f);
        k->is_zstd = f.tag == PB_BYTES(133);
    }
    return OK;
}

static status index_inner(reader *r, str body, uint64_t offset) {
    packet k = {.offset = offset};
    return index_fields(r, body, &k);
}

static status index_packet(reader *r, str body, uint64_t offset) {
    packet k = {.offset = offset};
    TRY(index_fields(r, body, &k));
    if (!k.packed.n) return OK;
    TRY(unpack(r, &k));
    const buf *blob = &VEC(&r->blobs, buf)[r->blobs.n - 1];
    return walk(r, buf_str(blob), offset, index_inner, false);
}

/* ---- the second reading ---- */

static uint32_t sequence_of(reader *r, uint32_t id) {
    if (r->sequences.n && r->last_sequence_id == id) return r->last_sequence;
    uint32_t *at = map_at(&r->sequence_map, id);
    if (!at) return UINT32_MAX;
    if (*at == MAP_NONE) {
        *at = 0;
        sequence *fresh = vec_push(&r->sequences);
        if (!fresh) return UINT32_MAX;
        *fresh = (sequence){.state = ++r->n_states};
        *at = (uint32_t)(r->sequences.n - 1);
    }
    r->last_sequence_id = id;
    return r->last_sequence = *at;
}

/* The writer says that everything it refers to from here on is defined again. */
static void begin_again(reader *r, sequence *q) {
    map_fini(&q->words);
    q->state = ++r->n_states;
    q->words = (map){0};
    q->lost = false;
    q->clock = 0;
    q->track = 0;
    q->n_extra = q->n_extra_real = 0;
    memset(q->own, 0, sizeof q->own);
}

static void take_event_defaults(sequence *q, str body) {
    pb_reader w = pb_open(body);
    pb_field f;
    q->n_extra = q->n_extra_real = 0;
    while (pb_next(&w, &f)) {
        if (f.tag == PB_VARINT(11)) q->track = f.v;
        if (f.tag == PB_VARINT(31) && q->n_extra < MAX_EXTRA) q->extra[q->n_extra++] = f.v;
        if (f.tag == PB_VARINT(45) && q->n_extra_real < MAX_EXTRA)
            q->extra_real[q->n_extra_real++] = f.v;
    }
}

static void take_defaults(sequence *q, str body) {
    pb_reader w = pb_open(body);
    pb_field f;
    while (pb_next(&w, &f)) {
        if (f.tag == PB_BYTES(11)) take_event_defaults(q, pb_bytes(&f));
        if (f.tag == PB_VARINT(58)) q->clock = (uint32_t)f.v;
    }
}

/* Old writers describe their thread once and name no track. */
static void take_thread(sequence *q, uint32_t sequence_id, str body) {
    pb_reader w = pb_open(body);
    pb_field f;
    q->has_thread = true;
    q->track = hash_u64((uint64_t)sequence_id << 32 | UINT32_MAX);
    while (pb_next(&w, &f)) {
        if (f.tag == PB_VARINT(1)) q->pid = (int32_t)f.v;
        if (f.tag == PB_VARINT(2)) q->tid = (int64_t)f.v;
        if (f.tag == PB_VARINT(6)) q->time_us = (int64_t)f.v;
    }
}

static status look_around(reader *r, uint64_t offset) {
    const ingest_options *o = r->o;
    if (r->n_packets++ % PACKETS_BETWEEN_LOOKS) return OK;
    if (o->memory_limit_bytes && builder_size_bytes(r->b) + r->file.n > o->memory_limit_bytes)
        return ERR_LIMIT;
    bool stop = o->progress && o->progress(o->progress_context, offset, r->file.n);
    return stop ? ERR_CANCELLED : OK;
}

static status take_state(reader *r, uint32_t i, const packet *k) {
    sequence *q = &VEC(&r->sequences, sequence)[i];
    /* The first packet of a sequence always says that those before it are missing. */
    if (k->dropped && q->begun) {
        part_lost(r->part, CAUSE_RECORDER_FULL, k->offset, 0);
        q->lost = true;
    }
    q->begun = true;
    if (k->cleared) begin_again(r, q);
    if (k->defaults.n) take_defaults(q, k->defaults);
    if (k->thread.n) take_thread(q, k->sequence_id, k->thread);
    if (k->interned.n) TRY(words_take(r, q, k->interned));
    return k->snapshot.n ? clocks_take(r, i, k->snapshot) : OK;
}

static status take_read(reader *r, const packet *k) {
    int64_t ns = 0;
    TRY(look_around(r, k->offset));
    uint32_t i = sequence_of(r, k->sequence_id);
    if (i == UINT32_MAX) return ERR_MEMORY;
    TRY(take_state(r, i, k));
    if (!k->event.p && !k->has_time) return OK;
    /* Also for packets that are not read: a clock of differences advances with them. */
    cause why = clocks_time(r, i, k, &ns);
    if (k->event.p) TRY(events_take(r, i, k, ns, why));
    return r->failed ? ERR_MEMORY : OK;
}

static status take_inner(reader *r, str body, uint64_t offset) {
    packet k = {.offset = offset};
    read_packet(body, &k);
    return take_read(r, &k);
}

static status take_packet(reader *r, str body, uint64_t offset) {
    packet k = {.offset = offset};
    read_packet(body, &k);
    if (!k.packed.n) return take_read(r, &k);
    const buf *blob = &VEC(&r->blobs, buf)[r->next_blob++];
    return walk(r, buf_str(blob), offset, take_inner, true);
}

/* ---- the whole ---- */

static status load_file(reader *r, source *src, error *err) {
    if (source_codec(src) == CODEC_NONE && !r->o->memory_limit_bytes)
        (void)buf_reserve(&r->file, (size_t)source_file_bytes(src) + PB_ROOM);
    return whole_input(src, r->o, r->b, r->part, PB_ROOM, &r->file, err);
}

static status name_failure(const reader *r, status st, error *err) {
    switch (st) {
    case OK: return OK;
    case ERR_LIMIT:
        FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT,
             arg_bytes("limit", sat_i64(r->o->memory_limit_bytes)));
    case ERR_CANCELLED: FAIL0(err, ERR_CANCELLED, NOPOS, MSG_CANCELLED);
    default: FAIL_MEMORY(err);
    }
}

/* "ftrace_events 120, sys_stats 3" */
static void list_unread(const reader *r, buf *out) {
    static const struct {
        uint16_t number;
        const char *name;
    } kinds[] = {
#define UNREAD(number, name) {number, name},
#include "ingest/perfetto/perfetto_packets.def"
    };
    for (size_t i = 0; i < N_OF(kinds); i++) {
        uint64_t n = r->unread[kinds[i].number];
        if (n)
            buf_printf(out, "%s%s %llu", out->n ? ", " : "", kinds[i].name,
                       (unsigned long long)n);
    }
}

static status tell_unread(reader *r, error *err) {
    buf list = {0}, json = {0};
    list_unread(r, &list);
    status st = OK;
    if (list.n) {
        buf_add_json(&json, buf_str(&list));
        bool made = buf_ok(&list) && buf_ok(&json);
        uint32_t key = perfetto_string(r, STR("not_read"));
        uint32_t value = made ? perfetto_string(r, buf_str(&json)) : 0;
        st = made && !r->failed ? builder_add_meta(r->b, key, value, err)
                                : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    buf_fini(&list);
    buf_fini(&json);
    return st;
}

static status read_all(reader *r, source *src, error *err) {
    const event_root root = {0};
    TRY(load_file(r, src, err));
    str all = buf_str(&r->file);
    r->search_budget = (uint64_t)all.n * SEARCH_ROUNDS;
    TRY(name_failure(r, walk(r, all, 0, index_packet, false), err));
    TRY(name_failure(r, clocks_begin(r), err));
    TRY(tracks_number_devices(r, err));
    /* Most packets are begins and ends of ranges. */
    part_expect(r->part, r->unread[FIELD_EVENT] / 2, 0);
    r->search_budget = (uint64_t)all.n * SEARCH_ROUNDS;
    TRY(name_failure(r, walk(r, all, 0, take_packet, true), err));
    TRY(name_failure(r, events_finish(r), err));
    TRY(tell_unread(r, err));
    int64_t base = clocks_base(r);
    if (base != ABSENT_I64) builder_set_base_unix_ns(r->b, base);
    part_finish(r->part);
    return r->sink->dialect->finish(r->b, &root, &r->sink, 1, err);
}

static void free_reader(reader *r) {
    for (size_t i = 0; i < r->blobs.n; i++) buf_fini(&VEC(&r->blobs, buf)[i]);
    for (size_t i = 0; i < r->sequences.n; i++)
        map_fini(&VEC(&r->sequences, sequence)[i].words);
    for (size_t i = 0; i < r->clocks.n; i++) vec_fini(&VEC(&r->clocks, clock_row)[i].points);
    vec *vecs[] = {&r->blobs,  &r->sequences, &r->clocks, &r->snapshots,  &r->tracks,
                   &r->agents, &r->ranges,    &r->flows,  &r->key_fields, &r->category_kinds};
    map *maps[] = {&r->sequence_map, &r->track_map, &r->names};
    for (size_t i = 0; i < N_OF(vecs); i++) vec_fini(vecs[i]);
    for (size_t i = 0; i < N_OF(maps); i++) map_fini(maps[i]);
    buf_fini(&r->file);
    buf_fini(&r->text);
    event_sink_free(r->sink);
    mem_free(r);
}

status ingest_perfetto(source *src, const ingest_options *o, builder *b, error *err) {
    reader *r = mem_zalloc(sizeof *r);
    if (!r) FAIL_MEMORY(err);
    r->b = b;
    r->o = o;
    r->blobs = VEC_INIT(buf);
    r->sequences = VEC_INIT(sequence);
    r->clocks = VEC_INIT(clock_row);
    r->snapshots = VEC_INIT(str);
    r->tracks = VEC_INIT(track_row);
    r->agents = VEC_INIT(int64_t);
    r->ranges = VEC_INIT(open_range);
    r->flows = VEC_INIT(flow_end);
    r->key_fields = VEC_INIT(uint8_t);
    r->category_kinds = VEC_INIT(uint8_t);
    r->last_ns = INT64_MIN;
    r->sink = event_sink_new(b, perfetto_dialect());
    status st = ERR_MEMORY;
    if (r->sink) {
        perfetto_state *state = r->sink->state;
        state->names = &r->names;
        r->part = r->sink->part;
        st = read_all(r, src, err);
    } else {
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    free_reader(r);
    return st;
}
