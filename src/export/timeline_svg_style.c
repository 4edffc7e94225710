/* timeline_svg_style.c: the colors of a picture: those of the page, by the same rules.
 *
 * A fill comes from the kind of the slice. Names of one kind differ by four tints of it: mixed
 * with the ground, which is an opacity. Words in a box are near-black or white, whichever reads
 * better on that tint in that theme. */
#include <math.h>

#include "analyse/comm/comm_kind.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "export/timeline_svg_int.h"

static const uint32_t FILLS[N_FILLS][2] = {
#define FILL(token, light, dark, word) {light, dark},
#include "export/svg_colors.def"
};
static const uint16_t FILL_WORDS[N_FILLS] = {
#define FILL(token, light, dark, word) MSG_##word,
#include "export/svg_colors.def"
};
enum { LIGHT, DARK };
static const struct {
    const char *name;
    uint32_t colors[2];
} GROUNDS[] = {
#define GROUND(token, light, dark) {#token, {light, dark}},
#include "export/svg_colors.def"
};
enum {
#define GROUND(token, light, dark) GROUND_##token,
#include "export/svg_colors.def"
};

/* As web/src/draw/timeline/colors.ts has them. */
static const double TINTS[N_TINTS] = {0, 0.14, 0.28, 0.4};

static const uint8_t FILL_OF_KIND[N_KINDS + 1] = {
    [KIND_OTHER] = FILL_cpu_exec,
    [KIND_SPAN] = FILL_track,
    [KIND_STEP] = FILL_cpu_exec,
    [KIND_ANNOTATION] = FILL_cpu_exec,
    [KIND_COLLECTIVE] = FILL_communication,
    [KIND_PYTHON] = FILL_other,
    [KIND_MODULE] = FILL_other,
    [KIND_DATA] = FILL_data_loader,
    [KIND_FORWARD] = FILL_cpu_exec,
    [KIND_BACKWARD] = FILL_cpu_exec,
    [KIND_OPTIMIZER] = FILL_cpu_exec,
    [KIND_OP] = FILL_cpu_exec,
    [KIND_RUNTIME] = FILL_runtime,
    [KIND_DRIVER] = FILL_runtime,
    [KIND_SYNC] = FILL_runtime,
    [KIND_OVERHEAD] = FILL_other,
    [KIND_DEVICE_ANNOTATION] = FILL_track,
    [KIND_KERNEL] = FILL_kernel,
    [KIND_MEMCPY] = FILL_memcpy,
    [KIND_MEMSET] = FILL_memset,
    [KIND_ASYNC] = FILL_c9,
    [KIND_OP_PHASE] = FILL_cpu_exec,
    [KIND_FRAMEWORK] = FILL_other,
    [KIND_GARBAGE] = FILL_other,
    [KIND_COMPILE] = FILL_other,
    [KIND_IMPORT] = FILL_other,
    [VIEWPORT_INSTANT] = FILL_other,
};

svg_fill svg_fill_of(uint8_t kind, str name) {
    if (kind == KIND_KERNEL && comm_kernel_name(name)) return FILL_communication;
    return kind <= N_KINDS ? (svg_fill)FILL_OF_KIND[kind] : FILL_other;
}

/* FNV-1a, as the page: the same name has the same tint in both (of a name in ASCII). */
WRAPS uint32_t svg_tint_of(uint8_t kind, str name) {
    uint32_t h = 0x811C9DC5u;
    bool plain = kind == KIND_DATA || kind == KIND_STEP || kind == KIND_SPAN ||
                 kind == KIND_DEVICE_ANNOTATION;
    for (size_t i = 0; i < name.n; i++) h = (h ^ (uint8_t)name.p[i]) * 0x01000193u;
    return plain ? 0 : (h ^ h >> 15) & (N_TINTS - 1);
}

uint16_t svg_fill_word(svg_fill f) {
    return FILL_WORDS[f];
}

/* ---- inks -------------------------------------------------------------------------------- */

/* Relative luminance as WCAG defines it. */
static double luminance(const double rgb[3]) {
    static const double weight[3] = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double v = rgb[i] / 255;
        sum += weight[i] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static bool wants_dark_ink(uint32_t fill, uint32_t ground, double tint) {
    static const double ink[3] = {11, 13, 17};
    double mixed[3];
    for (int i = 0; i < 3; i++) {
        double a = fill >> (16 - 8 * i) & 0xFF, b = ground >> (16 - 8 * i) & 0xFF;
        mixed[i] = a + (b - a) * tint;
    }
    double l = luminance(mixed);
    return (l + 0.05) / (luminance(ink) + 0.05) >= 1.05 / (l + 0.05);
}

static void add_theme(buf *b, int theme) {
    for (size_t i = 0; i < sizeof GROUNDS / sizeof *GROUNDS; i++)
        buf_printf(b, ".%s{fill:#%06X}", GROUNDS[i].name, GROUNDS[i].colors[theme]);
    for (int f = 0; f < N_FILLS; f++) {
        buf_printf(b, ".f%d{fill:#%06X}", f, FILLS[f][theme]);
        for (int tint = 0; tint < N_TINTS; tint++)
            buf_printf(b, ".i%d%d{fill:%s}", f, tint,
                       wants_dark_ink(FILLS[f][theme], GROUNDS[GROUND_surface].colors[theme],
                                      TINTS[tint])
                           ? "#0B0D11"
                           : "#FFF");
    }
    buf_add_byte(b, '\n');
}

void svg_add_style(buf *b) {
    buf_add_cstr(b, "<style>\n"
                    "text{font:11px Inter,\"Segoe UI\",system-ui,-apple-system,Roboto,"
                    "\"Noto Sans\",\"PingFang SC\",\"Microsoft YaHei\",\"Noto Sans CJK SC\","
                    "sans-serif}.big{font-size:14px;font-weight:600}.strong{font-weight:600}"
                    ".end{text-anchor:end}\n");
    for (int i = 1; i < N_TINTS; i++) buf_printf(b, ".m%d{fill-opacity:%.2f}", i, 1 - TINTS[i]);
    for (int i = 0; i < N_LEVELS - 1; i++)
        buf_printf(b, ".s%d{opacity:%.2f}", i, 0.35 + 0.65 * i / (N_LEVELS - 1));
    buf_add_byte(b, '\n');
    add_theme(b, LIGHT);
    buf_add_cstr(b, "@media (prefers-color-scheme:dark){\n");
    add_theme(b, DARK);
    buf_add_cstr(b, "}\n</style>\n");
}
