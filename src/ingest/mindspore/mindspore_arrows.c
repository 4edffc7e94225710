/* mindspore_arrows.c: the arrows of a timeline that end at tasks of the device.
 *
 *     HostToDevice                  a call of CANN ──> the task it launched
 *     async_npu (mindspore_to_npu)  a range of the framework ──> the task of the operator it is
 *
 * Both ends are identified by process, row and time, which are those of a slice exactly. An
 * arrow's beginning gets a number: the launch or the operator of all tasks whose arrows begin
 * there. */
#include "ingest/mindspore/mindspore_int.h"

ms_arrows ms_arrows_begin(void) {
    return (ms_arrows){.sources = VEC_INIT(uint32_t)};
}

void ms_arrows_end(ms_arrows *a) {
    map_fini(&a->from);
    map_fini(&a->to);
    map_fini(&a->by_id);
    vec_fini(&a->sources);
}

static uint64_t place_key(ms_arrow_kind kind, uint64_t row, int64_t time) {
    return hash_pair(hash_pair(kind, row), (uint64_t)time);
}

bool ms_arrow_kind_of(str category, str name, ms_arrow_kind *out) {
    bool launch =
        str_eq(category, STR("HostToDevice")) || str_starts(name, STR("HostToDevice"));
    bool owner = str_eq(category, STR("async_npu")) || str_eq(name, STR("mindspore_to_npu"));
    *out = launch ? MS_ARROW_LAUNCH : MS_ARROW_OWNER;
    return launch || owner;
}

/* The arrow with this id: its place in `sources`. */
static uint32_t arrow_at(ms_arrows *a, ms_arrow_kind kind, str id) {
    uint32_t *at = map_at(&a->by_id, hash_pair(kind, intern_hash(id)));
    if (!at) return MS_NO_STRING;
    if (*at != MAP_NONE) return *at;
    *at = (uint32_t)a->sources.n;
    uint32_t *begins_at = vec_push(&a->sources);
    if (begins_at) *begins_at = 0;
    return begins_at ? *at : MS_NO_STRING;
}

status ms_arrow_add(ms_arrows *a, const ms_arrow *arrow, error *err) {
    uint32_t i = arrow_at(a, arrow->kind, arrow->id);
    uint64_t key = place_key(arrow->kind, arrow->row, arrow->time);
    uint32_t *at = i == MS_NO_STRING ? NULL : map_at(arrow->begins ? &a->from : &a->to, key);
    if (!at) FAIL_MEMORY(err);
    if (!arrow->begins) {
        *at = i;
        return OK;
    }
    if (*at == MAP_NONE) *at = ++a->n;
    VEC(&a->sources, uint32_t)[i] = *at;
    return OK;
}

uint32_t ms_arrow_from(const ms_arrows *a, ms_arrow_kind kind, uint64_t row, int64_t time) {
    uint32_t number = a->n ? map_get(&a->from, place_key(kind, row, time)) : (uint32_t)MAP_NONE;
    return number == MAP_NONE ? 0 : number;
}

uint32_t ms_arrow_to(const ms_arrows *a, ms_arrow_kind kind, uint64_t row, int64_t time) {
    uint32_t i = a->n ? map_get(&a->to, place_key(kind, row, time)) : (uint32_t)MAP_NONE;
    return i == MAP_NONE ? 0 : VEC(&a->sources, uint32_t)[i];
}
