/* fuzz_questions.h: everything that can be asked of a trace that an enemy made, alone and as one of several. */
#ifndef TESTS_FUZZ_QUESTIONS_H
#define TESTS_FUZZ_QUESTIONS_H

#include <fcntl.h>
#include <unistd.h>

#include "analyse/registry.h"
#include "analyse/timeline/minimap.h"
#include "analyse/timeline/viewport.h"
#include "export/export.h"
#include "fuzz/fuzz.h"

static inline void export_all(trace *t) {
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (uint32_t i = 0; export_form_name(i); i++)
        (void)!export_trace(t, &(export_options){.form = str_of(export_form_name(i))}, fd,
                            NULL);
    close(fd);
}

static inline void ask_input(const analysis_input *in) {
    params p = PARAMS_WHOLE;
    for (uint32_t i = 0; registry_analysis(i); i++) {
        arena a;
        answer out;
        arena_init(&a, 256 << 20);
        (void)!registry_analysis(i)->run(in, &p, &a, &out, NULL);
        arena_fini(&a);
    }
}

static inline void ask_all(trace *t) {
    analysis_trace one = {.trace = t};
    ask_input(&(analysis_input){.traces = &one, .n_traces = 1});
}

/* Two ranks of one job, compared with another run; `plain` is not hostile. */
static inline void ask_together(trace *t, trace *plain) {
    analysis_trace ranks[] = {{.trace = t, .rank = 0, .worker = STR("a")},
                              {.trace = plain, .rank = 1, .worker = STR("b")}};
    analysis_trace others[] = {ranks[1], ranks[0]};
    analysis_input before = {.traces = others, .n_traces = 2};
    ask_input(&(analysis_input){.traces = ranks, .n_traces = 2, .against = &before});
}

/* What the server draws: the strip, all lanes from far and from near. */
static inline void draw_all(const trace *t) {
    arena a;
    lod *l = NULL;
    timeline_lanes lanes;
    minimap strip, range = {.from_ns = t->start_ns, .to_ns = t->end_ns, .width_px = 100};
    viewport out;
    arena_init(&a, 256 << 20);
    if (t->start_ns < t->end_ns && lod_new(t, NULL, &l, NULL) == OK &&
        lanes_list(l, &a, &lanes, NULL) == OK) {
        viewport_lane *all = ARENA_ARRAY(&a, viewport_lane, lanes.n_lanes + 1);
        for (uint32_t i = 0; all && i < lanes.n_lanes; i++) all[i].id = lanes.lanes[i].id;
        (void)!minimap_make(l, &range, &a, &strip, NULL);
        for (int64_t near = t->end_ns;; near = t->start_ns + 1) {
            viewport_question q = {.from_ns = t->start_ns,
                                   .to_ns = near,
                                   .width_px = 1000,
                                   .lanes = all,
                                   .n_lanes = all ? lanes.n_lanes : 0};
            (void)!viewport_make(l, &q, &a, &out, NULL);
            if (near == t->start_ns + 1) break;
        }
    }
    lod_free(l);
    arena_fini(&a);
}

#endif
