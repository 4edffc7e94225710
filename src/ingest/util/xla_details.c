/* xla_details.c: words with a colon and a value, separated by blanks. */
#include "ingest/util/xla_details.h"

#include <math.h>

#include "base/num.h"

/* The text after "key:", up to a blank; STR_NONE when it is missing. */
static str detail(str text, str key) {
    for (size_t at = 0; (at = str_find(text, key, at)) != SIZE_MAX; at++) {
        if (at && text.p[at - 1] != ' ') continue;
        str rest = str_from(text, at + key.n);
        return str_before(rest, STR(" "));
    }
    return STR_NONE;
}

static int64_t detail_number(str text, str key, int64_t otherwise) {
    int64_t v;
    str value = detail(text, key);
    return value.n && str_to_i64(value, &v) && v >= 0 ? v : otherwise;
}

static void detail_sizes(str text, str key, uint32_t out[3]) {
    str value = detail(text, key);
    for (int i = 0; i < 3 && value.n; i++) {
        int64_t v;
        str one = str_cut(&value, STR(","));
        if (str_to_i64(one, &v) && v > 0) out[i] = sat_u32((uint64_t)v);
    }
}

double xla_occupancy(double percent) {
    return percent > 0 && percent <= 100 ? percent / 100 : NAN;
}

void xla_kernel_details(str text, raw_kernel *k) {
    double percent;
    int64_t fixed = detail_number(text, STR("static_shared:"), 0);
    int64_t registers = detail_number(text, STR("regs:"), ABSENT_I64);
    int64_t shared = detail_number(text, STR("dynamic_shared:"), ABSENT_I64);
    if (shared == ABSENT_I64) shared = detail_number(text, STR("shm:"), ABSENT_I64);
    if (shared == ABSENT_I64) shared = detail_number(text, STR("group_mem:"), ABSENT_I64);
    if (shared != ABSENT_I64) k->shared_memory = add_i64(shared, fixed);
    if (registers != ABSENT_I64) k->registers = sat_i32(registers);
    detail_sizes(text, STR("grid:"), k->grid);
    detail_sizes(text, STR("block:"), k->block);
    str occupancy = detail(text, STR("occ_pct:"));
    if (occupancy.n && str_to_f64(occupancy, &percent)) k->occupancy = xla_occupancy(percent);
}

int64_t xla_copied_bytes(str text) {
    int64_t n = detail_number(text, STR("size:"), ABSENT_I64);
    return n != ABSENT_I64 ? n : detail_number(text, STR("num_bytes:"), ABSENT_I64);
}
