/* rocm_record.c: one record of rocprofv3's JSON, read in one walk over its bytes.
 *
 *   {"kind":11, "correlation_id":{"internal":1,"external":0}, "start_timestamp":63857982592000,
 *    "dispatch_info":{"agent_id":{"handle":7}, "grid_size":{"x":512,"y":1,"z":1}, …}, …}
 *
 * Records of a list are written by one function, so their keys come in one order: the key that
 * stood at this place in the last record is tried first. What a key means depends only on its
 * text and on the key around it, so a wrong guess costs time and changes nothing. A value that
 * is no plain number is left to base/json. */
#include "base/json.h"
#include "ingest/rocm/rocm_int.h"

typedef struct {
    str key;
    uint8_t field;
} record_word;

/* Keys of a record, and of what is inside dispatch_info. */
static const record_word WORDS[] = {
    {STR("start_timestamp"), ROCM_START},
    {STR("end_timestamp"), ROCM_END},
    {STR("thread_id"), ROCM_THREAD},
    {STR("kind"), ROCM_KIND},
    {STR("operation"), ROCM_OPERATION},
    {STR("correlation_id"), ROCM_CORRELATION},
    {STR("stream_id"), ROCM_STREAM},
    {STR("dispatch_info"), ROCM_DISPATCH},
    {STR("bytes"), ROCM_BYTES},
    {STR("dst_agent_id"), ROCM_TARGET},
    {STR("src_agent_id"), ROCM_SOURCE},
    {STR("address"), ROCM_ADDRESS},
    {STR("allocation_size"), ROCM_SIZE},
    {STR("agent_id"), ROCM_AGENT},
    {STR("queue_id"), ROCM_QUEUE},
    {STR("kernel_id"), ROCM_KERNEL},
    {STR("group_segment_size"), ROCM_SHARED},
    {STR("workgroup_size"), ROCM_BLOCK},
    {STR("grid_size"), ROCM_GRID},
};

/* What a key means inside the value of another one. */
static uint8_t field_of(str key, uint8_t around) {
    bool three = around == ROCM_BLOCK || around == ROCM_GRID;
    if (three && key.n == 1 && key.p[0] >= 'x' && key.p[0] <= 'z')
        return (uint8_t)(around + (key.p[0] - 'x'));
    if (around == ROCM_CORRELATION) return str_eq(key, STR("internal")) ? around : ROCM_NOTHING;
    if (around != ROCM_NOTHING && around != ROCM_DISPATCH)
        return str_eq(key, STR("handle")) ? around : ROCM_NOTHING;
    for (size_t i = 0; i < N_OF(WORDS); i++)
        if (str_eq(key, WORDS[i].key)) return WORDS[i].field;
    return ROCM_NOTHING;
}

/* The key at p, after its quote; the byte after its closing quote, NULL when there is none. */
static const char *read_key(rocm_layout *l, size_t i, const char *p, const char *end,
                            uint8_t around, uint8_t *field) {
    rocm_key *k = &l->keys[i < ROCM_MOST_KEYS ? i : ROCM_MOST_KEYS - 1];
    if (k->around == around && (size_t)(end - p) > k->n && p[k->n] == '"' &&
        memcmp(p, k->p, k->n) == 0) {
        *field = k->field;
        return p + k->n + 1;
    }
    const char *close = json_string_end(p, end);
    if (!close) return NULL;
    *field = field_of(str_n(p, (size_t)(close - p)), around);
    *k = (rocm_key){p, (uint32_t)(close - p), around, *field};
    return close + 1;
}

/* "0x7f00" */
static bool read_address(str value, int64_t *out) {
    str text = json_text(value);
    uint64_t v = 0;
    if (!str_starts(text, STR("0x"))) return false;
    for (size_t i = 2; i < text.n && i < 18; i++) {
        char c = (char)(text.p[i] | 0x20);
        v = v << 4 | (uint64_t)(c <= '9' ? c & 15 : (c - 'a' + 10) & 15);
    }
    *out = (int64_t)v;
    return true;
}

/* A value that is not an object: the byte after it, NULL when it has no end. */
static const char *read_value(const char *p, const char *end, uint8_t field, rocm_record *out) {
    uint64_t v = 0;
    const char *q = p;
    while (q < end && q - p < 18 && *q >= '0' && *q <= '9') v = v * 10 + (uint64_t)(*q++ - '0');
    if (q > p && q < end && (*q == ',' || *q == '}')) {
        out->v[field] = (int64_t)v;
        return q;
    }
    q = json_value_end(p, end);
    if (!q || field == ROCM_NOTHING) return q;
    int64_t number;
    str value = str_n(p, (size_t)(q - p));
    if (json_i64(value, &number) || (field == ROCM_ADDRESS && read_address(value, &number)))
        out->v[field] = number;
    return q;
}

const char *rocm_read_record(const char *p, const char *end, rocm_layout *l, rocm_record *out) {
    uint8_t around[ROCM_DEEPEST] = {ROCM_NOTHING};
    int depth = 0;
    size_t i = 0;
    for (int f = 0; f < N_ROCM_FIELDS; f++) out->v[f] = ABSENT_I64;
    p++; /* the bracket */
    for (;;) {
        while (p < end && (json_is_space(*p) || *p == ',')) p++;
        if (p < end && *p == '}') {
            p++;
            if (depth-- == 0) return p;
            continue;
        }
        uint8_t field;
        if (p == end || *p != '"') return NULL;
        p = read_key(l, i++, p + 1, end, around[depth], &field);
        if (!p) return NULL;
        p = json_space(p, end);
        if (p == end || *p != ':') return NULL;
        p = json_space(p + 1, end);
        bool inside = p < end && *p == '{' && field != ROCM_NOTHING && depth + 1 < ROCM_DEEPEST;
        if (inside) around[++depth] = field;
        p = inside ? p + 1 : p < end ? read_value(p, end, field, out) : NULL;
        if (!p) return NULL;
    }
}
