/* timeline_svg_int.h: what the files that draw a timeline share. */
#ifndef EXPORT_TIMELINE_SVG_INT_H
#define EXPORT_TIMELINE_SVG_INT_H

#include "analyse/timeline/viewport.h"
#include "export/timeline_svg.h"

typedef enum {
#define FILL(token, light, dark, word) FILL_##token,
#include "export/svg_colors.def"
    N_FILLS
} svg_fill;

enum { N_TINTS = 4, N_LEVELS = 4 };

/* Sizes of the page's timeline. */
enum {
    GUTTER_PX = 210,
    HEAD_PX = 52,
    RULER_PX = 24,
    GROUP_PX = 21,
    COUNTER_PX = 34,
    RIGHT_PX = 14
};

/* A lane and its place. */
typedef struct {
    const timeline_lane *lane;
    const timeline_group *head;  /* the group that begins with it, or NULL */
    uint32_t first_run, end_run; /* in the viewport */
    uint32_t counter;            /* in the viewport; UINT32_MAX: none */
    uint32_t n_rows, n_tall;     /* rows drawn; those with room for words */
    uint32_t y_px, height_px;
} svg_lane;

typedef struct {
    const lod *l;
    const trace *t;
    const timeline_svg_options *o;
    arena *arena;
    buf *out;
    timeline_lanes all;
    viewport v;
    svg_lane *lanes;
    uint32_t n_lanes, n_left_out;
    uint32_t width_px, plot_px, height_px;
    uint32_t least_titled_px; /* narrower boxes are parts of a path */
    bool used[N_FILLS];
    buf paths[N_FILLS * N_TINTS * N_LEVELS]; /* of the lane that is being drawn */
    buf scratch;
} svg_picture;

/* The style sheet: fills, tints, inks, for both themes. */
void svg_add_style(buf *b);
/* The fill of a slice of this kind and name, and its tint. */
svg_fill svg_fill_of(uint8_t kind, str name);
uint32_t svg_tint_of(uint8_t kind, str name);
uint16_t svg_fill_word(svg_fill f);

/* Top of a row inside its lane, and its height. */
uint32_t svg_row_top(const svg_lane *n, uint32_t row);
uint32_t svg_row_height(const svg_lane *n, uint32_t row);
/* Places the lanes that have something to show; rows: how many have room for words. */
void svg_place_lanes(svg_picture *p, uint32_t most_rows);

/* The boxes of a lane, its counter, the steps. */
void svg_add_boxes(svg_picture *p, const svg_lane *n);
void svg_add_counter(svg_picture *p, const svg_lane *n);
void svg_add_steps(svg_picture *p, uint32_t y_px);
/* Horizontal place of a time. */
static inline double svg_x(const svg_picture *p, int64_t time_ns) {
    double share =
        (double)sub_i64(time_ns, p->v.from_ns) / (double)sub_i64(p->v.to_ns, p->v.from_ns);
    return GUTTER_PX + share * p->plot_px;
}

/* Title, ruler with its lines, names at the left, legend. */
void svg_add_head(svg_picture *p);
void svg_add_ruler(svg_picture *p);
void svg_add_gutter(svg_picture *p, const svg_lane *n);
void svg_add_legend(svg_picture *p, uint32_t y_px);
/* Steps with time in the part that is shown: the first and the last by number; false: none. */
bool svg_steps_shown(const trace *t, int64_t from_ns, int64_t to_ns, int64_t *first,
                     int64_t *last);

#endif
