/* nsight.c: an export of Nsight Systems, from its tables to rows.
 *
 * A table is there only when it has rows, rows are in no order, and ids are those of a process:
 *
 *     StringIds                     names of nearly everything
 *     TARGET_INFO_*, META_DATA_*    devices, versions, when it began
 *     CUPTI_ACTIVITY_KIND_*         what devices did, and the calls that asked for it
 *     NVTX_EVENTS                   ranges of the program: operators, steps, modules
 *     OSRT_API, MPI_*, …            calls of libraries */
#include "ingest/nsight/nsight.h"

#include "base/mem.h"
#include "ingest/nsight/nsight_int.h"

static bool holds(str head, str word) {
    return str_find(head, word, 0) != SIZE_MAX;
}

bool nsight_head(str head) {
    if (!database_head(head)) return false;
    return holds(head, STR("META_DATA_EXPORT")) || holds(head, STR("TARGET_INFO_")) ||
           (holds(head, STR("CUPTI_ACTIVITY_KIND_")) && holds(head, STR("TABLE StringIds")));
}

status nsight_table(reader *r, const char *table, const char *const *columns, size_t n,
                    db_row_function *take, error *err) {
    return db_each_table(r->db, &(db_reading){table, columns, n, take}, 1, r, err);
}

static status read_tables(reader *r, error *err) {
    TRY(nsight_read_names(r, err));
    TRY(nsight_read_facts(r, err));
    TRY(nsight_read_domains(r, err));
    TRY(nsight_read_payloads(r, err));
    TRY(nsight_read_nodes(r, err));
    TRY(nsight_read_devices(r, err));
    TRY(nsight_read_calls(r, err));
    TRY(nsight_read_ranges(r, err));
    TRY(nsight_join_nccl(r, err));
    TRY(nsight_join_nodes(r, err));
    TRY(nsight_read_metrics(r, err));
    TRY(nsight_name_unread(r, err));
    return nsight_label_tracks(r, err);
}

static void free_reader(reader *r) {
    map *maps[] = {&r->names,      &r->clean,    &r->pid_map,       &r->stream_map,
                   &r->first_user, &r->gpu_map,  &r->thread_map,    &r->domain_map,
                   &r->metric_map, &r->node_map, &r->nccl_launches, &r->nccl_group_map};
    vec *vecs[] = {&r->processes,    &r->streams,        &r->gpus,        &r->domains,
                   &r->workers,      &r->payload_fields, &r->nccl_groups, &r->nccl_calls,
                   &r->nccl_kernels, &r->nodes,          &r->graph_calls};
    for (size_t i = 0; i < N_OF(maps); i++) map_fini(maps[i]);
    for (size_t i = 0; i < N_OF(vecs); i++) vec_fini(vecs[i]);
    database_close(r->db);
}

status ingest_nsight(source *src, const ingest_options *o, builder *b, error *err) {
    reader r = {.b = b,
                .part = builder_part(b),
                .strings = builder_strings(b),
                .processes = VEC_INIT(process_row),
                .streams = VEC_INIT(stream_row),
                .gpus = VEC_INIT(gpu_row),
                .domains = VEC_INIT(domain_row),
                .workers = VEC_INIT(int64_t),
                .payload_fields = VEC_INIT(payload_field),
                .nccl_groups = VEC_INIT(nccl_group),
                .nccl_calls = VEC_INIT(nccl_call),
                .nccl_kernels = VEC_INIT(nccl_kernel),
                .nodes = VEC_INIT(graph_node),
                .graph_calls = VEC_INIT(graph_call),
                .end_ns = INT64_MIN};
    if (!r.part) FAIL_MEMORY(err);
    status st = database_open(src, o, b, r.part, &r.db, err);
    if (st == OK) database_watch(r.db, &r.failed);
    if (st == OK) st = nsight_choose_process(&r, o->process, err);
    if (st == OK) st = read_tables(&r, err);
    part_finish(r.part);
    builder_set_format(b, r.torch ? "nsight_pytorch" : "nsight");
    free_reader(&r);
    return st;
}
