/* rocm_record.c: one record of rocprofv3's JSON, read in one walk over its bytes.
 *
 *   {"kind":11, "correlation_id":{"internal":1,"external":0}, "start_timestamp":63857982592000,
 *    "dispatch_info":{"agent_id":{"handle":7}, "grid_size":{"x":512,"y":1,"z":1}, …}, …}
 *
 * Records of a list are written by one function: mostly only the values differ. The bytes
 * before each value of the last record are remembered, brackets and all:
 *
 *   {"kind":  ,"correlation_id":{"internal":  ,"external":  },"start_timestamp":  …  }}
 *
 * Where the same bytes come again, so do the meanings of the values between them. Any other
 * record is read key by key, and remembered in turn. A value that is not a plain number is left
 * to base/json. */
#include "base/json.h"
#include "ingest/rocm/rocm_int.h"
#include "ingest/util/scan.h"

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

/* A value that is not an object: the byte after it, NULL when it has no end. */
static const char *read_any_value(const char *p, const char *end, uint8_t field,
                                  rocm_record *out) {
    const char *stop = json_value_end(p, end);
    if (!stop || field == ROCM_NOTHING) return stop;
    int64_t number;
    str value = str_n(p, (size_t)(stop - p));
    if (json_i64(value, &number) ||
        (field == ROCM_ADDRESS && rocm_read_address(json_text(value), &number)))
        out->v[field] = number;
    return stop;
}

static inline const char *read_value(const char *p, const char *end, uint8_t field,
                                     rocm_record *out) {
    uint64_t v = 0;
    unsigned n = scan_digits(p, &v), more = n == 8 ? scan_digits(p + 8, &v) : 0;
    const char *stop = p + n + more;
    bool plain = n && more < 8 && stop < end && (*stop == ',' || *stop == '}');
    if (!plain) return read_any_value(p, end, field, out);
    out->v[field] = (int64_t)v;
    return stop;
}

/* The record at p, when it is written as the last one was; NULL: it is not. */
static const char *read_same_layout(const char *p, const char *end, const rocm_layout *l,
                                    rocm_record *out) {
    for (size_t i = 0; i < l->n; i++) {
        const rocm_lead *lead = &l->leads[i];
        if ((size_t)(end - p) <= lead->n || !scan_equal(p, lead->p, lead->n)) return NULL;
        p += lead->n;
        if (*p == '{' && lead->field != ROCM_NOTHING) return NULL; /* one to go into */
        p = read_value(p, end, lead->field, out);
        if (!p) return NULL;
    }
    bool closed = (size_t)(end - p) >= l->rest.n && scan_equal(p, l->rest.p, l->rest.n);
    return closed ? p + l->rest.n : NULL;
}

/* The key at *p, in what `around` is; *p is at its value then. False when there is none. */
static bool read_key(const char **p, const char *end, uint8_t around, uint8_t *field) {
    if (*p == end || **p != '"') return false;
    const char *begin = *p + 1, *close = json_string_end(begin, end);
    if (!close) return false;
    *field = field_of(str_n(begin, (size_t)(close - begin)), around);
    *p = json_space(close + 1, end);
    if (*p == end || **p != ':') return false;
    *p = json_space(*p + 1, end);
    return *p < end;
}

/* A value of this meaning begins at p, and the bytes before it at `before`. */
static void remember_lead(rocm_layout *l, const char *before, const char *p, uint8_t field) {
    if (l->n < ROCM_MOST_VALUES)
        l->leads[l->n] = (rocm_lead){before, (uint32_t)(p - before), field};
    l->n++;
}

static const char *read_by_keys(const char *p, const char *end, rocm_layout *l,
                                rocm_record *out) {
    uint8_t around[ROCM_DEEPEST] = {ROCM_NOTHING}, field;
    const char *before = p++; /* the bracket */
    for (int depth = 0; depth >= 0;) {
        while (p < end && (json_is_space(*p) || *p == ',')) p++;
        if (p < end && *p == '}') {
            p++;
            depth--;
            continue;
        }
        if (!read_key(&p, end, around[depth], &field)) return NULL;
        if (*p == '{' && field != ROCM_NOTHING && depth + 1 < ROCM_DEEPEST) {
            around[++depth] = field;
            p++;
            continue;
        }
        remember_lead(l, before, p, field);
        p = before = read_value(p, end, field, out);
        if (!p) return NULL;
    }
    l->rest = str_n(before, (size_t)(p - before));
    return p;
}

static void forget_values(rocm_record *out) {
    for (int f = 0; f < N_ROCM_FIELDS; f++) out->v[f] = ABSENT_I64;
}

const char *rocm_read_record(const char *p, const char *end, rocm_layout *l, rocm_record *out) {
    forget_values(out);
    const char *stop = l->n ? read_same_layout(p, end, l, out) : NULL;
    if (stop) return stop;
    forget_values(out);
    l->n = 0;
    stop = read_by_keys(p, end, l, out);
    if (!stop || l->n > ROCM_MOST_VALUES) l->n = 0;
    return stop;
}
