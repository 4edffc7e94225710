/* horovod_timeline.c: trace events in which every tensor is a process.
 *
 *   NEGOTIATE_ALLREDUCE   ▐1    ▐2        ▐0▌                  the ranks are ready, one by one
 *   ALLREDUCE                               ▐──────────────▌   then they exchange the tensor
 *   MPI_ALLREDUCE, …                         ▐────────────▌    parts of that
 *
 * No event has a category: names tell. Negotiations and collectives are communication, parts
 * are ranges inside them, and a rank that becomes ready is a range without length that has its
 * number as name. */
#include "ingest/horovod/horovod_timeline.h"

#include "base/mem.h"
#include "ingest/trace_events/trace_event.h"
#include "ingest/trace_events/trace_json.h"

bool horovod_head(str head) {
    static const str signs[] = {STR("\"NEGOTIATE_ALLREDUCE\""), STR("\"NEGOTIATE_BROADCAST\""),
                                STR("\"NEGOTIATE_ALLGATHER\""), STR("\"NEGOTIATE_ALLTOALL\""),
                                STR("\"HorovodAllreduce"),      STR("\"HorovodBroadcast"),
                                STR("\"CYCLE_START\"")};
    for (size_t i = 0; i < N_OF(signs); i++)
        if (str_find(head, signs[i], 0) != SIZE_MAX) return true;
    return false;
}

static slice_kind kind_of_name(event_sink *s, const event *e) {
    static const str exchanges[] = {STR("ALLREDUCE"), STR("ALLGATHER"),     STR("BROADCAST"),
                                    STR("ALLTOALL"),  STR("REDUCESCATTER"), STR("ADASUM"),
                                    STR("JOIN"),      STR("BARRIER")};
    str name = intern_get(s->strings, e->name);
    if (str_starts(name, STR("NEGOTIATE_"))) return KIND_COLLECTIVE;
    for (size_t i = 0; i < N_OF(exchanges); i++)
        if (str_eq(name, exchanges[i])) return KIND_COLLECTIVE;
    return KIND_ANNOTATION;
}

/* It keeps nothing. */
static void *new_horovod_state(builder *b, part *p) {
    (void)b;
    (void)p;
    return mem_zalloc(1);
}

static status finish_horovod(builder *b, const event_root *root, event_sink *const *sinks,
                             int n, error *err) {
    (void)root;
    (void)sinks;
    (void)n;
    (void)err;
    builder_set_format(b, "horovod");
    return OK;
}

static const dialect HOROVOD = {
    .field_of = trace_event_field,
    .new_state = new_horovod_state,
    .free_state = mem_free,
    .take = trace_event_take,
    .hooks = {.bare_kind = kind_of_name, .ends_with_empty = true},
    .finish = finish_horovod,
};

status ingest_horovod(source *src, const ingest_options *o, builder *b, error *err) {
    return ingest_trace_events(src, o, b, &HOROVOD, err);
}
