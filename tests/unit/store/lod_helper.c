#include "unit/store/lod_helper.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t text(scene *s, const char *name) {
    return intern_add(builder_strings(s->b), str_of(name));
}

void scene_init(scene *s) {
    s->b = builder_new();
    assert_non_null(s->b);
    s->p = builder_part(s->b);
    assert_non_null(s->p);
    builder_set_format(s->b, "test");
}

uint32_t scene_track(scene *s, int64_t pid, int64_t tid) {
    return part_track(s->p, (ident){.v = pid}, (ident){.v = tid});
}

void scene_slice(scene *s, uint32_t track, uint8_t kind, const char *name, int64_t start,
                 int64_t dur) {
    raw_slice r = {
        .start = start, .dur = dur, .name = text(s, name), .track = track, .kind = kind};
    assert_int_equal(part_slice(s->p, &r), OK);
}

void scene_kernel(scene *s, uint32_t track, const char *name, int32_t device, int64_t start,
                  int64_t dur) {
    raw_slice r = {
        .start = start, .dur = dur, .name = text(s, name), .track = track, .kind = KIND_KERNEL};
    raw_kernel k = {.correlation = ABSENT_I64,
                    .external = ABSENT_I64,
                    .stream = 7,
                    .context = 1,
                    .bytes = ABSENT_I64,
                    .graph_node = ABSENT_I64,
                    .shared_memory = 0,
                    .occupancy = NAN,
                    .blocks_per_sm = NAN,
                    .device = device,
                    .registers = 16};
    assert_int_equal(part_kernel(s->p, &k, &r), OK);
    assert_int_equal(part_slice(s->p, &r), OK);
}

void scene_instant(scene *s, uint32_t track, const char *name, int64_t time) {
    raw_instant r = {.time = time, .name = text(s, name), .track = track, .scope = 't'};
    assert_int_equal(part_instant(s->p, &r), OK);
}

void scene_counter(scene *s, uint32_t track, const char *name, int64_t time, double value) {
    raw_counter r = {.time = time,
                     .name = text(s, name),
                     .series = text(s, "value"),
                     .track = track,
                     .value = value};
    assert_int_equal(part_counter(s->p, &r), OK);
}

void scene_memory(scene *s, uint32_t track, int32_t device, int64_t time, int64_t allocated) {
    raw_memory r = {.time = time,
                    .address = 64,
                    .bytes = 8,
                    .allocated = allocated,
                    .reserved = ABSENT_I64,
                    .track = track,
                    .device = device,
                    .device_type = DEVICE_CUDA,
                    .kind = MEMORY_ALLOC};
    assert_int_equal(part_memory(s->p, &r), OK);
}

trace *scene_done(scene *s) {
    trace *t = NULL;
    assert_int_equal(builder_seal(s->b, NULL, &t, NULL), OK);
    builder_free(s->b);
    return t;
}

/* Some slices last a nanosecond, some half of everything. */
static int64_t random_length(void) {
    return (int64_t)1 << (rand() % 22) | (rand() & 1023 & (rand() % 2 ? -1 : 0));
}

trace *random_trace(uint32_t seed, int n) {
    static const uint8_t kinds[] = {KIND_OP,     KIND_OP,     KIND_PYTHON,
                                    KIND_MODULE, KIND_DRIVER, KIND_RUNTIME};
    scene s;
    char name[32];
    srand(seed);
    scene_init(&s);
    uint32_t tracks[5];
    for (int i = 0; i < 5; i++) tracks[i] = scene_track(&s, i < 3 ? 100 : 0, 1 + i);
    for (int i = 0; i < n; i++) {
        int64_t start = ((int64_t)rand() << 10 ^ rand()) % (1 << 24);
        int where = rand() % 5;
        snprintf(name, sizeof name, "n%d", rand() % 40);
        if (where < 3)
            scene_slice(&s, tracks[where], kinds[rand() % 6], name, start, random_length());
        else
            scene_kernel(&s, tracks[where], name, where - 3, start, random_length() / 8);
        if (i % 16 == 0) scene_instant(&s, tracks[where], name, start);
        if (i % 4 == 0) scene_counter(&s, tracks[0], "c", start, rand() % 1000);
        if (i % 4 == 1) scene_memory(&s, tracks[0], 0, start, rand() % 1000);
    }
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "Step#%d", i);
        scene_slice(&s, tracks[0], KIND_STEP, name, (int64_t)i << 22, (int64_t)1 << 22);
    }
    return scene_done(&s);
}

lod *lod_of(const trace *t) {
    lod *l = NULL;
    assert_int_equal(lod_new(t, NULL, &l, NULL), OK);
    return l;
}

uint32_t lane_of(const lod *l, lane_kind kind, uint32_t i) {
    for (uint32_t k = 1; k < l->n_lanes; k++)
        if (l->lanes[k].kind == kind && i-- == 0) return k;
    return 0;
}
