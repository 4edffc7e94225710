/* xplane.c: a profile of XLA, from its bytes to rows.
 *
 * The planes of a file come in any order and need each other: programs explain device work,
 * device work is drawn where it was launched. So they are read by role:
 *
 *     Task Environment    when it began
 *     /host:metadata      programs and versions
 *     /device:…           device work
 *     /host:CPU           device work, where the CPU is the device
 *     /host:CPU, …        threads: launches find their device work
 *     /device:…           steps, where no thread marked any
 *
 * The file is held in memory while it is read: the tables of a plane come after its events. */
#include "ingest/xplane/xplane.h"

#include "base/mem.h"
#include "base/num.h"
#include "ingest/util/whole_input.h"
#include "ingest/xplane/xplane_int.h"

bool xplane_head(str head) {
    static const str names[] = {STR("/host:"), STR("/device:"),  STR("Task Environment"),
                                STR("#Chip"),  STR("Host CPUs"), STR("Syscalls")};
    walker space = walk_open(head);
    pb_field p, f;
    if (!walk_next(&space, &p) || p.tag != PB_BYTES(1)) return false;
    walker inside = walk_open(pb_bytes(&p));
    while (walk_next(&inside, &f) && f.tag >> 3 <= 2) {
        if (f.tag != PB_BYTES(2)) continue;
        for (size_t i = 0; i < N_OF(names); i++)
            if (str_starts(pb_bytes(&f), names[i])) return true;
        return false;
    }
    return false;
}

/* A tool that took the file for text has put this where every byte above 127 was. */
static bool is_replaced(str file) {
    static const str mark = STR("\xef\xbf\xbd");
    size_t n = 0;
    for (size_t at = 0; n < 64 && (at = str_find(file, mark, at)) != SIZE_MAX; at += mark.n)
        n++;
    return n == 64;
}

typedef status plane_function(reader *r, plane *p, error *err);

static status name_failure(reader *r, status st, error *err) {
    switch (st) {
    case OK: return OK;
    case ERR_LIMIT:
        FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT,
             arg_bytes("limit", sat_i64(r->o->memory_limit_bytes)));
    case ERR_CANCELLED: FAIL0(err, ERR_CANCELLED, NOPOS, MSG_CANCELLED);
    default: FAIL_MEMORY(err);
    }
}

static status read_device(reader *r, plane *p, error *err) {
    TRY(facts_device(r, p, err));
    return name_failure(r, device_read(r, p), err);
}

static status read_other(reader *r, plane *p, error *err) {
    return name_failure(r, device_read(r, p), err);
}

static status read_cpu(reader *r, plane *p, error *err) {
    if (!str_eq(p->name, STR("/host:CPU"))) return OK;
    return name_failure(r, cpu_read(r, p), err);
}

static status read_host(reader *r, plane *p, error *err) {
    return name_failure(r, host_read(r, p), err);
}

static status read_role(reader *r, plane_role role, plane_function *read, error *err) {
    for (size_t i = 0; i < r->planes.n; i++) {
        plane *p = &VEC(&r->planes, plane)[i];
        if (p->role != role) continue;
        status st = name_failure(r, plane_open(r, p), err);
        if (st == OK) st = read(r, p, err);
        plane_close(p);
        if (st != OK) return st;
    }
    return OK;
}

static status read_steps(reader *r, error *err) {
    bool taken = false;
    for (size_t i = 0; i < r->planes.n; i++) {
        plane *p = &VEC(&r->planes, plane)[i];
        if (p->role != PLANE_GPU && p->role != PLANE_TPU) continue;
        status st = plane_open(r, p);
        if (st == OK) st = device_read_steps(r, p, &taken);
        plane_close(p);
        if (st != OK) return name_failure(r, st, err);
    }
    return OK;
}

static status read_all(reader *r, source *src, error *err) {
    TRY(whole_input(src, r->o, r->b, r->part, PB_ROOM, &r->file, err));
    TRY(name_failure(r, xplane_index(r), err));
    TRY(read_role(r, PLANE_TASK, facts_task, err));
    if (r->in) {
        int64_t zero = r->zero_ns == ABSENT_I64 ? r->in->start_unix_ns : r->zero_ns;
        r->shift_ns = r->in->time_of(r->in->context, zero);
    }
    TRY(read_role(r, PLANE_PROGRAMS, facts_programs, err));
    TRY(read_role(r, PLANE_GPU, read_device, err));
    TRY(read_role(r, PLANE_TPU, read_device, err));
    TRY(read_role(r, PLANE_OTHER, read_other, err));
    TRY(read_role(r, PLANE_HOST, read_cpu, err));
    TRY(read_role(r, PLANE_HOST, read_host, err));
    TRY(read_steps(r, err));
    if (r->n_events == 0 && is_replaced(buf_str(&r->file)))
        FAIL0(err, ERR_FORMAT, 0, MSG_XPLANE_REPLACED);
    TRY(name_failure(r, host_finish(r), err));
    TRY(facts_finish(r, err));
    part_finish(r->part);
    return OK;
}

static void free_reader(reader *r) {
    vec *vecs[] = {&r->planes,    &r->scopes,           &r->paths,    &r->hlo,   &r->hlo_shapes,
                   &r->works,     &r->computation_rows, &r->launches, &r->edges, &r->sizes,
                   &r->libraries, &r->cpu_runs,         &r->cpu_calls};
    map *maps[] = {&r->places,   &r->scope_map,    &r->path_map,     &r->hlo_names,
                   &r->hlo_ids,  &r->computations, &r->launch_map,   &r->run_map,
                   &r->size_map, &r->library_map,  &r->line_map,     &r->name_map,
                   &r->tid_map,  &r->cpu_run_map,  &r->cpu_call_map, &r->cpu_devices};
    for (size_t i = 0; i < N_OF(vecs); i++) vec_fini(vecs[i]);
    for (size_t i = 0; i < N_OF(maps); i++) map_fini(maps[i]);
    buf_fini(&r->file);
    mem_free(r);
}

/* Row 0 of what is counted from 1. */
static bool add_null_rows(reader *r) {
    scope_row *scope = vec_push(&r->scopes);
    if (scope) *scope = (scope_row){0};
    return scope;
}

status ingest_xplane(source *src, const ingest_options *o, builder *b, error *err) {
    return xplane_add(src, o, NULL, b, err);
}

status xplane_add(source *src, const ingest_options *o, const xplane_recording *in, builder *b,
                  error *err) {
    reader *r = mem_zalloc(sizeof *r);
    if (!r) FAIL_MEMORY(err);
    r->b = b;
    r->o = o;
    r->strings = builder_strings(b);
    r->part = builder_part(b);
    r->zero_ns = ABSENT_I64;
    r->in = in;
    r->has_steps = in && in->has_steps;
    r->planes = VEC_INIT(plane);
    r->scopes = VEC_INIT(scope_row);
    r->paths = VEC_INIT(op_path);
    r->hlo = VEC_INIT(hlo_row);
    r->hlo_shapes = VEC_INIT(str);
    r->works = VEC_INIT(work_op);
    r->computation_rows = VEC_INIT(computation_row);
    r->libraries = VEC_INIT(library_row);
    r->launches = VEC_INIT(launch_row);
    r->edges = VEC_INIT(edge);
    r->sizes = VEC_INIT(int64_t);
    r->cpu_runs = VEC_INIT(cpu_run);
    r->cpu_calls = VEC_INIT(cpu_call_row);
    builder_set_work_names_op(b, true);
    status st = r->part && add_null_rows(r)
                    ? read_all(r, src, err)
                    : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    free_reader(r);
    return st;
}
