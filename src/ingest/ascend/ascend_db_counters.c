/* ascend_db_counters.c: samples of a device or of the host: one table, one or more columns of
 * values, and where there are several of a thing its number or name. */
#include <math.h>
#include <stdio.h>

#include "ingest/ascend/ascend_db_int.h"

enum { DEVICE, TIME, OF, VALUES, MOST_VALUES = 6 };

typedef struct {
    const char *table, *name;
    const char *of; /* column that tells which one; NULL: there is one */
    const char *columns[MOST_VALUES];
    bool of_is_name; /* it is a text of STRING_IDS */
} counter_table;

static const counter_table COUNTERS[] = {
    {"AICORE_FREQ", "AI Core Freq", NULL, {"freq"}, false},
    {"HBM", "HBM", "type", {"bandwidth"}, true},
    {"DDR", "DDR", NULL, {"read", "write"}, false},
    {"LLC", "LLC", "mode", {"hitRate", "throughput"}, true},
    {"NPU_MEM", "NPU MEM", "type", {"ddr", "hbm"}, true},
    {"HCCS", "HCCS", NULL, {"txThroughput", "rxThroughput"}, false},
    {"PCIE",
     "PCIe",
     NULL,
     {"txPostAvg", "txNonpostAvg", "txCplAvg", "rxPostAvg", "rxNonpostAvg", "rxCplAvg"},
     false},
    {"NIC", "NIC", "funcId", {"rxByteRate", "txByteRate"}, false},
    {"ROCE", "RoCE", "funcId", {"rxByteRate", "txByteRate"}, false},
    {"QOS", "QoS", "eventName", {"bandwidth"}, true},
    {"SOC_BANDWIDTH_LEVEL", "Stars Soc Info", NULL, {"l2BufferBwLevel", "mataBwLevel"}, false},
    {"ACC_PMU",
     "acc_pmu",
     "accId",
     {"readBwLevel", "writeBwLevel", "readOstLevel", "writeOstLevel"},
     false},
    {"SAMPLE_PMU_TIMELINE", "AI Core", "coreId", {"usage", "freq"}, false},
    {"CPU_USAGE", "CPU", "cpuId", {"usage"}, false},
    {"HOST_MEM_USAGE", "host memory", NULL, {"usage"}, false},
    {"HOST_DISK_USAGE", "disk", NULL, {"readRate", "writeRate"}, false},
    {"HOST_NETWORK_USAGE", "network", NULL, {"speed"}, false},
};

/* "HBM read", "CPU 3" */
static uint32_t name_of(reader *r, const counter_table *c, db_rows *row) {
    buf text = {0};
    buf_add_cstr(&text, c->name);
    str of =
        c->of && c->of_is_name ? intern_get(r->strings, ascend_name(r, row, OF)) : STR_NONE;
    int64_t number = c->of && !c->of_is_name ? ascend_id(row, OF) : ABSENT_I64;
    if (of.n) buf_printf(&text, " %.*s", STR_ARG(str_n(of.p, of.n < 64 ? of.n : 64)));
    if (number != ABSENT_I64) buf_printf(&text, " %lld", (long long)number);
    return ascend_take_text(r, &text);
}

static status take_sample(void *context, db_rows *row) {
    reader *r = context;
    const counter_table *c = &COUNTERS[r->i_counter];
    raw_counter sample = {.time = ascend_id(row, TIME)};
    if (!ascend_moment(r, sample.time)) return OK;
    bool host = !db_has(row, DEVICE);
    sample.name = name_of(r, c, row);
    sample.track =
        host ? part_track(r->part, (ident){ascend_string(r, STR("host")), true},
                          (ident){0, false})
             : ascend_device_row(r, ascend_device(r, row, DEVICE), "counters", STR("counters"));
    if (sample.track == UINT32_MAX) return ERR_MEMORY;
    for (int i = 0; i < MOST_VALUES && c->columns[i]; i++) {
        sample.value = db_real(row, VALUES + i);
        sample.series = ascend_string(r, str_of(c->columns[i]));
        if (r->failed) return ERR_MEMORY;
        if (!isnan(sample.value)) TRY(part_counter(r->part, &sample));
    }
    return OK;
}

status ascend_read_counters(reader *r, error *err) {
    for (r->i_counter = 0; r->i_counter < N_OF(COUNTERS); r->i_counter++) {
        const counter_table *c = &COUNTERS[r->i_counter];
        const char *columns[VALUES + MOST_VALUES] = {"deviceId", "timestampNs",
                                                     c->of ? c->of : "deviceId"};
        size_t n = VALUES;
        for (int i = 0; i < MOST_VALUES && c->columns[i]; i++) columns[n++] = c->columns[i];
        TRY(ascend_table(r, c->table, columns, n, take_sample, err));
    }
    return OK;
}
