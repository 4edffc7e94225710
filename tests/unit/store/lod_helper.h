/* lod_helper.h: sealed traces for the tests of the level of detail: made by hand, or at random. */
#ifndef TESTS_LOD_HELPER_H
#define TESTS_LOD_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "store/builder.h"
#include "store/lod.h"

typedef struct {
    builder *b;
    part *p;
} scene;

void scene_init(scene *s);
uint32_t scene_track(scene *s, int64_t pid, int64_t tid);
void scene_slice(scene *s, uint32_t track, uint8_t kind, const char *name, int64_t start,
                 int64_t dur);
void scene_kernel(scene *s, uint32_t track, const char *name, int32_t device, int64_t start,
                  int64_t dur);
void scene_instant(scene *s, uint32_t track, const char *name, int64_t time);
void scene_counter(scene *s, uint32_t track, const char *name, int64_t time, double value);
void scene_memory(scene *s, uint32_t track, int32_t device, int64_t time, int64_t allocated);
/* The sealed trace, the caller's; the scene is gone. */
trace *scene_done(scene *s);

/* n slices on three threads and two streams, nested, overlapping, of all lengths. */
trace *random_trace(uint32_t seed, int n);
lod *lod_of(const trace *t);
/* A lane of the kind, the i-th; 0 when there is none. */
uint32_t lane_of(const lod *l, lane_kind kind, uint32_t i);

#endif
