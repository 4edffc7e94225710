/* chrome_point.c: what has no duration: instants, memory events, counter samples, and the
 * arrows that are stored (forward to backward and the producer's own).
 *
 * Samples of one counter at one time are one event with a value for each series, which is how
 * viewers stack them. An arrow starts at the start of its first slice and ends at the start of
 * its second, bound to the slice that encloses that moment. Memory events keep the producer's
 * arguments; where there are none they are made from the columns, in Kineto's words. */
#include "export/chrome_int.h"

static status add_point(chrome *c, uint32_t track, int64_t time_ns, uint32_t record) {
    chrome_where(c->x->t, track, &c->x->out);
    chrome_time(c, ",\"ts\":", add_i64(time_ns, c->shift_ns));
    if (!record) return OK;
    buf_add_cstr(&c->x->out, ",\"args\":");
    return args_read_json(c->x->args, record, &c->x->out, c->x->err);
}

static status add_instants(chrome *c) {
    const trace *t = c->x->t;
    for (uint32_t i = 1; i < t->instant.n; i++) {
        if (!export_holds(c->x, t->instant.time[i])) continue;
        char scope = (char)t->instant.scope[i];
        chrome_begin(c, 'i', trace_str(t, t->category.name[t->instant.category[i]]),
                     trace_str(t, t->instant.name[i]));
        buf_printf(&c->x->out, ",\"s\":\"%c\"", scope == 'p' || scope == 'g' ? scope : 't');
        TRY(add_point(c, t->instant.track[i], t->instant.time[i], t->instant.args[i]));
        TRY(chrome_end(c));
    }
    return OK;
}

static void add_memory_args(const trace *t, uint32_t i, buf *b) {
    buf_printf(b, ",\"args\":{\"Device Type\":%u,\"Device Id\":%d", t->memory.device_type[i],
               t->memory.device[i] == ABSENT_I32 ? -1 : t->memory.device[i]);
    if (t->memory.address[i])
        buf_printf(b, ",\"Addr\":%llu", (unsigned long long)t->memory.address[i]);
    buf_printf(b, ",\"Bytes\":%lld", (long long)t->memory.bytes[i]);
    if (t->memory.allocated[i] != ABSENT_I64)
        buf_printf(b, ",\"Total Allocated\":%lld", (long long)t->memory.allocated[i]);
    if (t->memory.reserved[i] != ABSENT_I64)
        buf_printf(b, ",\"Total Reserved\":%lld", (long long)t->memory.reserved[i]);
    buf_add_byte(b, '}');
}

static status add_memory(chrome *c) {
    const trace *t = c->x->t;
    for (uint32_t i = 1; i < t->memory.n; i++) {
        if (!export_holds(c->x, t->memory.time[i])) continue;
        bool segment = kind_is_segment(t->memory.kind[i]);
        chrome_begin(c, 'i', STR("cpu_instant_event"),
                     t->memory.kind[i] == MEMORY_OOM ? STR("[OutOfMemory]")
                     : segment                       ? STR("[segment]")
                                                     : STR("[memory]"));
        buf_add_cstr(&c->x->out, ",\"s\":\"t\"");
        TRY(add_point(c, t->memory.track[i], t->memory.time[i], t->memory.args[i]));
        if (!t->memory.args[i]) add_memory_args(t, i, &c->x->out);
        TRY(chrome_end(c));
    }
    return OK;
}

static bool same_sample(const trace *t, uint32_t a, uint32_t b) {
    return t->counter.time[a] == t->counter.time[b] &&
           t->counter.name[a] == t->counter.name[b] &&
           t->counter.track[a] == t->counter.track[b];
}

static status add_counters(chrome *c) {
    const trace *t = c->x->t;
    buf *b = &c->x->out;
    for (uint32_t i = 1, end; i < t->counter.n; i = end) {
        for (end = i + 1; end < t->counter.n && same_sample(t, i, end);) end++;
        if (!export_holds(c->x, t->counter.time[i])) continue;
        chrome_begin(c, 'C', STR_NONE, trace_str(t, t->counter.name[i]));
        TRY(add_point(c, t->counter.track[i], t->counter.time[i], 0));
        for (uint32_t k = i; k < end; k++) {
            buf_add_cstr(b, k == i ? ",\"args\":{" : ",");
            buf_add_json(b, trace_str(t, t->counter.series[k]));
            buf_add_byte(b, ':');
            buf_add_f64(b, t->counter.value[k]);
        }
        buf_add_byte(b, '}');
        TRY(chrome_end(c));
    }
    return OK;
}

static status add_flow_end(chrome *c, char ph, uint32_t row, uint32_t slice) {
    const trace *t = c->x->t;
    str name = trace_str(t, t->flow.name[row]);
    int64_t id = t->flow.id[row];
    if (t->flow.kind[row] == FLOW_FORWARD_BACKWARD) name = STR("fwdbwd");
    chrome_begin(c, ph, name, name);
    TRY(add_point(c, trace_track_of(t, slice), max_i64(t->slice.start[slice], c->x->from_ns),
                  0));
    buf_add_cstr(&c->x->out, ph == 'f' ? ",\"bp\":\"e\",\"id\":" : ",\"id\":");
    /* Others draw several arrows of one id (the life of a tensor): each gets its own. */
    buf_add_i64(&c->x->out, id == ABSENT_I64 || !c->own_words ? row : id);
    return chrome_end(c);
}

static status add_flows(chrome *c) {
    const trace *t = c->x->t;
    int64_t start_ns, end_ns;
    for (uint32_t i = 1; i < t->flow.n; i++) {
        uint32_t from = t->flow.from[i], to = t->flow.to[i];
        if (!from || !to || !export_clip(c->x, from, &start_ns, &end_ns) ||
            !export_clip(c->x, to, &start_ns, &end_ns))
            continue;
        TRY(add_flow_end(c, 's', i, from));
        TRY(add_flow_end(c, 'f', i, to));
    }
    return OK;
}

status chrome_points(chrome *c) {
    TRY(add_instants(c));
    TRY(add_memory(c));
    TRY(add_counters(c));
    return add_flows(c);
}
