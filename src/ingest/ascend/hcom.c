/* hcom.c: names of collectives, the same in timelines and in databases. */
#include "ingest/ascend/hcom.h"

#include "store/builder.h"

static size_t count_digits(str s) {
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9') n++;
    return n;
}

bool hcom_parse(str name, hcom_name *out) {
    size_t two = str_find(name, STR("__"), 0);
    if (!str_starts(name, STR("hcom_")) || two == SIZE_MAX) return false;
    str rest = str_from(name, two + 2);
    size_t n = count_digits(rest);
    *out = (hcom_name){str_n(name.p, two), str_n(rest.p, n), ABSENT_I64};
    if (!n || n == rest.n || rest.p[n] != '_') return n > 0;
    rest = str_from(rest, n + 1);
    (void)!str_to_i64(str_n(rest.p, count_digits(rest)), &out->sequence);
    return true;
}

str hcom_type(str hccl) {
    static const struct {
        str hccl, torch;
    } words[] = {{STR("FP16"), STR("Half")},   {STR("BFP16"), STR("BFloat16")},
                 {STR("FP32"), STR("Float")},  {STR("FP64"), STR("Double")},
                 {STR("INT8"), STR("Char")},   {STR("UINT8"), STR("Byte")},
                 {STR("INT16"), STR("Short")}, {STR("INT32"), STR("Int")},
                 {STR("INT64"), STR("Long")}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq(hccl, words[i].hccl)) return words[i].torch;
    return hccl;
}
