/* worker_devices.c: what the devices of a worker are, and how well they were used.
 *
 * A producer lists all devices of its machine; only those the worker ran kernels on are shown. What
 * measuring takes is given back for each worker, because a run may have a thousand of them. */
#include "analyse/worker_devices.h"

#include "analyse/device_metrics.h"

#define COL_V(name) COL(distributed, devices, name)

static uint32_t find_device(const trace *t, int32_t id) {
    for (uint32_t i = 1; i < t->device.n; i++)
        if (t->device.id[i] == id && t->device.type[i] != DEVICE_CPU) return i;
    return 0;
}

static status write_properties(table *out, size_t row, const trace *t, uint32_t d, error *err) {
    table_set_text(out, row, COL_V(name), trace_str(t, t->device.name[d]));
    if (t->device.memory[d] > 0)
        table_set_int(out, row, COL_V(memory_bytes), t->device.memory[d]);
    if (t->device.sm_count[d] != ABSENT_I32)
        table_set_int(out, row, COL_V(sm_count), t->device.sm_count[d]);
    if (t->device.compute_major[d] == ABSENT_I32) return OK;
    str text = arena_printf(out->arena, "%d.%d", (int)t->device.compute_major[d],
                            (int)t->device.compute_minor[d]);
    if (!text.p) FAIL_MEMORY(err);
    table_set_text(out, row, COL_V(compute_capability), text);
    return OK;
}

static status write_device(table *out, const analysis_trace *at, const device_metrics *m,
                           error *err) {
    size_t row;
    uint32_t device = find_device(at->trace, m->device);
    TRY(table_add_row(out, &row, err));
    table_set_text(out, row, COL_V(worker), at->worker);
    if (at->rank != ABSENT_I64) table_set_int(out, row, COL_V(rank), at->rank);
    table_set_int(out, row, COL_V(device), m->device);
    table_set_real(out, row, COL_V(utilization), m->utilization);
    table_set_real(out, row, COL_V(sm_efficiency), m->sm_efficiency);
    table_set_real(out, row, COL_V(occupancy), m->occupancy);
    table_set_real(out, row, COL_V(tensor_core_share), m->tensor_core_share);
    return device ? write_properties(out, row, at->trace, device, err) : OK;
}

status worker_devices_write(table *out, const analysis_trace *at, const step_spans *steps,
                            error *err) {
    device_metrics_list list = {0};
    arena scratch;
    interval range = {0, 0};
    TRY(trace_require(at->trace, TRACE_TABLE(device), err));
    arena_init(&scratch, out->arena->limit_bytes);
    if (steps->n) range = (interval){steps->v[0].start, steps->v[steps->n - 1].end};
    status s = device_metrics_make(at->trace, range, &scratch, &list, err);
    for (uint32_t i = 0; s == OK && i < list.n; i++) s = write_device(out, at, &list.v[i], err);
    arena_fini(&scratch);
    return s;
}
