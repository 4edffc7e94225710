/* lanes.c: which lanes a timeline has, in which order, under which heads.
 *
 * The order is that of the page: steps; counters; devices, in each the streams that compute,
 * then those that communicate, then those that copy; processes, the one with the training
 * thread first, in each the training thread, the autograd thread, the others by busy time;
 * recording spans last.
 *
 *   training thread   has most of the steps; without steps, the busiest thread
 *   autograd thread   begins with nodes of the autograd engine
 *   role of a stream  what most of its time goes into, by a sample of up to 512 of its
 *                     slices: a stream does one thing, and a look at all would cost more
 *                     than drawing it
 *
 * Closed to begin with are Python frames, spans, threads and streams busy less than a
 * thousandth of the time, and all but one of a device's lanes of projected ranges. Nothing is
 * left out. */
#include "analyse/timeline/lanes.h"

#include "analyse/lexicon.h"

#include "analyse/comm/comm_kind.h"
#include "analyse/kind_names.h"
#include "base/num.h"
#include "base/sort.h"

enum { SAMPLE = 512, LOOK = 64 };

typedef enum {
    SECTION_STEPS,
    SECTION_COUNTERS,
    SECTION_DEVICES,
    SECTION_HOST,
    SECTION_END
} section;

/* A lane with the keys it is sorted by. */
typedef struct {
    timeline_lane lane;
    section section;
    uint32_t rank; /* of the group, then of the track in it */
    uint32_t role;
    int64_t busy_ns; /* of its track */
    int64_t group_busy_ns;
} placed_lane;

typedef struct {
    const lod *l;
    const trace *t;
    arena *arena;
    comm_names comm;
    uint32_t training;      /* track */
    int64_t *track_busy_ns; /* by track: row 0 of its first lane */
    int64_t *process_busy_ns;
    bool *autograd; /* by track */
    placed_lane *placed;
    uint32_t n;
    timeline_lanes *out;
} listing;

uint32_t lane_id_end(const lod *l) {
    return l->n_lanes + l->n_series + 2 * l->n_devices;
}

lane_class lane_class_of(const lod *l, uint32_t id, uint32_t *index) {
    if (id == 0 || id >= lane_id_end(l)) return LANE_UNKNOWN;
    *index = id;
    if (id < l->n_lanes) return LANE_IS_SLICES;
    *index = id - l->n_lanes;
    if (*index < l->n_series) return LANE_IS_SERIES;
    *index -= l->n_series;
    if (*index < l->n_devices) return LANE_IS_UTILIZATION;
    *index -= l->n_devices;
    return LANE_IS_LOAD;
}

/* ---- roles ------------------------------------------------------------------------------- */

static uint32_t find_training(const listing *q) {
    uint32_t best = 0, most = 0;
    uint32_t *steps = ARENA_ARRAY(q->arena, uint32_t, q->t->track.n);
    for (uint32_t i = 1; steps && i < q->t->step.n; i++)
        steps[trace_track_of(q->t, q->t->step.slice[i])]++;
    for (uint32_t i = 1; steps && i < q->t->track.n; i++)
        if (steps[i] > most) {
            most = steps[i];
            best = i;
        }
    for (uint32_t i = 1; !most && i < q->t->track.n; i++)
        if (q->t->track.kind[i] == TRACK_THREAD && q->track_busy_ns[i] > q->track_busy_ns[best])
            best = i;
    return best;
}

static bool is_autograd(const listing *q, const lod_lane *lane) {
    if (lane->kind != LANE_WORK) return false;
    const lod_row *r = &q->l->rows[lane->first_row];
    for (uint32_t i = r->first; i < r->end && i < r->first + LOOK; i++)
        if (lexicon_means(trace_slice_name(q->t, q->l->entries[i].id), MEANS_ENGINE))
            return true;
    return str_find_nocase(trace_str(q->t, q->t->track.name[lane->track]), STR("autograd"),
                           0) != SIZE_MAX;
}

static const char *const STREAM_ROLES[] = {"compute", "communication", "copy"};
static const char *const THREAD_ROLES[] = {"training", "autograd", "other"};

static uint32_t stream_role(listing *q, const lod_lane *lane) {
    int64_t time[3] = {0};
    const lod_row *r = &q->l->rows[lane->first_row];
    uint32_t n = r->end - r->first, step = n / SAMPLE + 1, best = 0;
    for (uint32_t i = r->first; i < r->end; i += step) {
        uint32_t slice = q->l->entries[i].id, k = trace_kernel_of(q->t, slice);
        uint8_t kind = q->t->slice.kind[slice];
        int role = kind == KIND_MEMCPY || kind == KIND_MEMSET ? 2
                   : k && comm_kernel_row(&q->comm, k)        ? 1
                                                              : 0;
        time[role] = add_i64(time[role], q->t->slice.dur[slice]);
    }
    for (uint32_t i = 1; i < 3; i++)
        if (time[i] > time[best]) best = i;
    return best;
}

static uint32_t thread_role(const listing *q, uint32_t track) {
    if (track == q->training) return 0;
    return q->autograd[track] ? 1 : 2;
}

/* ---- lanes ------------------------------------------------------------------------------- */

static double share_of(const listing *q, int64_t ns) {
    int64_t whole = sub_i64(q->t->end_ns, q->t->start_ns);
    return whole > 0 ? (double)ns / (double)whole : 0;
}

static timeline_lane blank_lane(uint32_t id, const char *kind) {
    return (timeline_lane){
        .id = id, .kind = kind, .max = NAN, .device = ABSENT_I32, .number = ABSENT_I64};
}

static void place_slices(listing *q, uint32_t id) {
    const lod_lane *lane = &q->l->lanes[id];
    uint32_t track = lane->track, process = q->t->track.process[track];
    placed_lane *p = &q->placed[q->n++];
    *p = (placed_lane){.lane = blank_lane(id, lane_kind_name(lane->kind))};
    p->lane.track = track;
    p->lane.n_rows = lane->n_rows;
    p->lane.n_slices = lane->n_slices;
    p->lane.busy = share_of(q, lane->busy_ns);
    if (lane->kind == LANE_STEPS) return;
    p->lane.name = trace_str(q->t, q->t->track.name[track]);
    p->lane.number = q->t->track.tid[track];
    p->busy_ns = q->track_busy_ns[track];
    p->lane.closed = lane->kind == LANE_PYTHON || lane->kind == LANE_SPAN;
    bool stream = q->t->track.kind[track] == TRACK_STREAM;
    p->section = stream                    ? SECTION_DEVICES
                 : lane->kind == LANE_SPAN ? SECTION_END
                                           : SECTION_HOST;
    if (stream) {
        p->role = lane->kind == LANE_INSTANTS ? 0 : stream_role(q, lane);
        p->lane.device = q->t->track.device[track];
        p->lane.role = STREAM_ROLES[p->role];
        return;
    }
    p->role = thread_role(q, track);
    p->lane.role = THREAD_ROLES[p->role];
    p->rank = process;
    p->group_busy_ns = q->process_busy_ns[process];
    p->lane.closed |= p->role == 2 && share_of(q, p->busy_ns) < 0.001;
}

static void place_series(listing *q, uint32_t i) {
    const lod_series *s = &q->l->series[i];
    placed_lane *p = &q->placed[q->n++];
    bool memory = s->track == 0;
    *p = (placed_lane){.lane = blank_lane(q->l->n_lanes + i, memory ? "memory" : "counter"),
                       .section = SECTION_COUNTERS,
                       .role = memory ? 1 : 2,
                       .rank = i};
    p->lane.track = s->track;
    p->lane.max = s->max;
    p->lane.n_slices = s->end - s->first;
    p->lane.series =
        memory ? s->reserved ? STR("reserved") : STR("allocated") : trace_str(q->t, s->series);
    if (!memory) {
        p->lane.name = trace_str(q->t, s->name);
        return;
    }
    p->lane.unit = "bytes";
    p->lane.device = s->device;
    p->lane.name = device_name(q->t, q->arena, s->device_type, s->device);
    /* The host's allocator says little about a training run. */
    p->lane.closed = s->device_type == DEVICE_CPU || s->reserved;
    p->lane.side = s->device_type == DEVICE_CPU ? "host" : "device";
}

static void place_utilization(listing *q, uint32_t i) {
    placed_lane *p = &q->placed[q->n++];
    *p = (placed_lane){.lane = blank_lane(q->l->n_lanes + q->l->n_series + i, "utilization"),
                       .section = SECTION_COUNTERS,
                       .rank = i};
    p->lane.unit = "share";
    p->lane.max = 1;
    p->lane.device = q->l->devices[i].device;
    p->lane.busy =
        share_of(q, lod_covered(&q->l->devices[i].busy, q->t->start_ns, q->t->end_ns));
}

/* A counter like the producer's own, so that it is drawn like any counter. */
static void place_load(listing *q, uint32_t i) {
    const lod_load *load = &q->l->devices[i].load;
    if (load->n == 0) return; /* not recorded */
    placed_lane *p = &q->placed[q->n++];
    uint32_t id = q->l->n_lanes + q->l->n_series + q->l->n_devices + i;
    *p = (placed_lane){
        .lane = blank_lane(id, "counter"), .section = SECTION_COUNTERS, .rank = i};
    p->lane.name = arena_printf(q->arena, "%.*s efficiency", STR_ARG(device_unit(q->t)));
    p->lane.series = STR("sm_efficiency");
    p->lane.unit = "share";
    p->lane.max = 1;
    p->lane.device = q->l->devices[i].device;
    p->lane.busy = lod_loaded(load, q->t->start_ns, q->t->end_ns);
}

static int cmp_i64(int64_t a, int64_t b) {
    return a < b ? -1 : a > b;
}

static int compare(uint32_t x, uint32_t y, const void *context) {
    const listing *q = context;
    const placed_lane *a = &q->placed[x], *b = &q->placed[y];
    int c = cmp_i64(a->section, b->section);
    if (c == 0 && a->section == SECTION_DEVICES) c = cmp_i64(a->lane.device, b->lane.device);
    if (c == 0 && a->section >= SECTION_HOST) {
        c = cmp_i64(a->rank != q->t->track.process[q->training],
                    b->rank != q->t->track.process[q->training]);
        if (c == 0) c = cmp_i64(b->group_busy_ns, a->group_busy_ns);
        if (c == 0) c = cmp_i64(a->rank, b->rank);
    }
    if (c == 0) c = cmp_i64(a->role, b->role);
    if (c == 0 && a->section == SECTION_HOST) c = cmp_i64(b->busy_ns, a->busy_ns);
    return c ? c : cmp_i64(a->lane.id, b->lane.id);
}

static bool is_ranges(const placed_lane *p) {
    return strcmp(p->lane.kind, "ranges") == 0;
}

/* A range of the user is projected on every stream that worked in it, so a device with twenty
 * streams has it twenty times. The stream with the most of them shows them, the others begin
 * closed; so do streams that are busy less than a thousandth of the time, except the busiest of
 * a device. */
static void close_ranges(listing *q, const uint32_t *order) {
    for (uint32_t first = 0, end; first < q->n; first = end) {
        int32_t device = q->placed[order[first]].lane.device;
        placed_lane *most[2] = {NULL, NULL}; /* by: is it a lane of ranges */
        for (end = first; end < q->n; end++) {
            placed_lane *p = &q->placed[order[end]];
            if (p->section != SECTION_DEVICES || p->lane.device != device) break;
            placed_lane **best = &most[is_ranges(p)];
            if (!*best || p->lane.busy > (*best)->lane.busy) *best = p;
        }
        if (end == first) end++; /* no lane of a device */
        for (uint32_t i = first; i < end && (most[0] || most[1]); i++) {
            placed_lane *p = &q->placed[order[i]];
            if (p != most[is_ranges(p)]) p->lane.closed |= is_ranges(p) || p->lane.busy < 0.001;
        }
    }
}

/* ---- groups ------------------------------------------------------------------------------ */

static status device_group(listing *q, timeline_group *g, error *err) {
    uint8_t type = DEVICE_CUDA;
    for (uint32_t i = 1; i < q->t->device.n; i++) {
        if (q->t->device.id[i] != g->device) continue;
        if (q->t->device.type[i] == DEVICE_CPU) continue;
        type = q->t->device.type[i];
        g->detail = trace_str(q->t, q->t->device.name[i]);
    }
    g->name = device_name(q->t, q->arena, type, g->device);
    if (!g->name.p) FAIL_MEMORY(err);
    return OK;
}

static status process_group(listing *q, uint32_t process, timeline_group *g, error *err) {
    const trace *t = q->t;
    g->name = trace_str(t, t->process.name[process]);
    g->detail = trace_str(t, t->process.labels[process]);
    g->pid = t->process.pid[process] == ABSENT_I64
                 ? trace_str(t, t->process.pid_text[process])
                 : arena_printf(q->arena, "%lld", (long long)t->process.pid[process]);
    if (!g->pid.p) FAIL_MEMORY(err);
    return OK;
}

/* Heads for devices and processes, where the sorted lanes change from one to the next. */
static status add_groups(listing *q, const uint32_t *order, error *err) {
    timeline_lanes *out = q->out;
    out->groups = ARENA_ARRAY(q->arena, timeline_group, q->n + 1);
    if (!out->groups) FAIL_MEMORY(err);
    const placed_lane *before = NULL;
    for (uint32_t i = 0; i < q->n; i++) {
        placed_lane *p = &q->placed[order[i]];
        if (p->section < SECTION_DEVICES) continue;
        bool device = p->section == SECTION_DEVICES;
        bool same = before && before->section == p->section &&
                    (device ? before->lane.device == p->lane.device : before->rank == p->rank);
        timeline_group *g = &out->groups[same ? out->n_groups - 1 : out->n_groups];
        if (!same) {
            *g = (timeline_group){.id = ++out->n_groups,
                                  .is_device = device,
                                  .device = p->lane.device,
                                  .closed = true};
            TRY(device ? device_group(q, g, err) : process_group(q, p->rank, g, err));
        }
        p->lane.group = g->id;
        g->closed &= p->lane.closed;
        before = p;
    }
    return OK;
}

/* ---- together ---------------------------------------------------------------------------- */

static status sum_tracks(listing *q, error *err) {
    q->track_busy_ns = ARENA_ARRAY(q->arena, int64_t, q->t->track.n + 1u);
    q->process_busy_ns = ARENA_ARRAY(q->arena, int64_t, q->t->process.n + 1u);
    q->autograd = ARENA_ARRAY(q->arena, bool, q->t->track.n + 1u);
    if (!q->track_busy_ns || !q->process_busy_ns || !q->autograd) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < q->l->n_lanes; i++) {
        const lod_lane *lane = &q->l->lanes[i];
        int64_t *sum = &q->track_busy_ns[lane->track];
        if (lane->track == 0 || lane->kind == LANE_PYTHON) continue;
        *sum = max_i64(*sum, lane->busy_ns);
        q->autograd[lane->track] |= is_autograd(q, lane);
    }
    for (uint32_t i = 1; i < q->t->track.n; i++) {
        int64_t *sum = &q->process_busy_ns[q->t->track.process[i]];
        *sum = add_i64(*sum, q->track_busy_ns[i]);
    }
    return OK;
}

status lanes_list(const lod *l, arena *a, timeline_lanes *out, error *err) {
    timeline_lanes made = {.n_lanes = 0};
    listing q = {.l = l, .t = l->t, .arena = a, .out = &made};
    uint32_t most = lane_id_end(l);
    TRY(trace_require(l->t, TRACE_TABLE(kernel) | TRACE_TABLE(comm) | TRACE_TABLE(device),
                      err));
    TRY(comm_names_init(&q.comm, l->t, a, err));
    TRY(sum_tracks(&q, err));
    q.training = find_training(&q);
    q.placed = ARENA_ARRAY(a, placed_lane, most);
    uint32_t *order = ARENA_ARRAY(a, uint32_t, 2 * (size_t)most);
    made.lanes = ARENA_ARRAY(a, timeline_lane, most);
    if (!q.placed || !order || !made.lanes) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < l->n_lanes; i++) place_slices(&q, i);
    for (uint32_t i = 0; i < l->n_series; i++) place_series(&q, i);
    for (uint32_t i = 0; i < l->n_devices; i++) place_utilization(&q, i);
    for (uint32_t i = 0; i < l->n_devices; i++) place_load(&q, i);
    for (uint32_t i = 0; i < q.n; i++) order[i] = i;
    sort_index(order, order + most, q.n, compare, &q);
    close_ranges(&q, order);
    TRY(add_groups(&q, order, err));
    for (uint32_t i = 0; i < q.n; i++) made.lanes[i] = q.placed[order[i]].lane;
    made.n_lanes = q.n;
    *out = made;
    return OK;
}
