/* device_properties.c: the numbers of a GPU from its JSON object.
 *
 * Files of all years are read: the keys changed with Kineto's versions, and very old ones have
 * few. */
#include "ingest/util/device_properties.h"

#include "base/json.h"
#include "base/num.h"

static int32_t int_member(str object, str key) {
    int64_t v;
    return json_i64(json_member(object, key), &v) ? sat_i32(v) : ABSENT_I32;
}

static int32_t first_int(str object, str key, str other) {
    int32_t v = int_member(object, key);
    return v != ABSENT_I32 ? v : int_member(object, other);
}

raw_device device_properties(str object, int32_t i) {
    int64_t memory = ABSENT_I64;
    raw_device d = {
        .id = int_member(object, STR("id")),
        .type = DEVICE_CUDA,
        .compute_major = first_int(object, STR("computeMajor"), STR("major")),
        .compute_minor = first_int(object, STR("computeMinor"), STR("minor")),
        .sm_count = first_int(object, STR("numSms"), STR("multiProcessorCount")),
        .threads_per_sm = int_member(object, STR("maxThreadsPerMultiprocessor")),
        .warp_size = int_member(object, STR("warpSize")),
    };
    bool known = json_i64(json_member(object, STR("totalGlobalMem")), &memory);
    d.memory = known ? memory : ABSENT_I64;
    if (d.id == ABSENT_I32) d.id = i;
    if (d.sm_count == ABSENT_I32) d.sm_count = int_member(object, STR("smCount"));
    return d;
}

status device_words_add(builder *b, str list, error *err) {
    json_iter it = json_open(list);
    str key, word;
    for (int type = DEVICE_NAMED; type < DEVICE_UNKNOWN && json_next(&it, &key, &word);
         type++) {
        str name = json_text(word);
        row_device_word row = {.type = (uint8_t)type,
                               .name = name.n ? intern_add(builder_strings(b), name) : 0};
        if (row.name == UINT32_MAX) FAIL_MEMORY(err);
        TRY(builder_put_device_word(b, &row, err));
    }
    return OK;
}
