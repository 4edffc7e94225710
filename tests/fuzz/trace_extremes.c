/* trace_extremes.c: a good trace file, in which one column after the other is set to numbers at the ends of their range.
 *
 * Chance seldom makes a whole column large, which is what sums run over with. Here nothing is left to it: each column
 * of numbers, and then all those of a table at once, is set to the largest, to the smallest and largest in turn, and to
 * one half of each; then everything is asked, of the trace alone and of it as one of two ranks that are compared with
 * another run. What the file check refuses costs nothing. TRACE_EXTREMES=COLUMN asks about one column and says so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_file.h"
#include "fuzz/fuzz_questions.h"
#include "store/columns.h"

typedef enum { LARGE, IN_TURN, RISING, N_WAYS } way;

/* Rising: what must be in order is accepted, and is as far apart as it can be. */
static int64_t whole(way w, uint64_t row, uint64_t n, int64_t least, int64_t most) {
    if (w == LARGE) return most;
    bool small = w == IN_TURN ? row % 2 == 0 : row <= n / 2;
    return small ? least : most;
}

static double real(way w, uint64_t row, uint64_t n) {
    return whole(w, row, n, -1, 1) > 0 ? 1e300 : -1e300;
}

/* Row 0 is the null row and stays. False: no column of numbers. */
static bool set_column(uint8_t *file, const file_section *s, way w) {
    const uint64_t n = s->rows;
    void *p = file + s->offset;
    for (uint64_t i = 1; i < n; i++) {
        switch (s->type) {
        case TYPE_I64: ((int64_t *)p)[i] = whole(w, i, n, INT64_MIN + 1, INT64_MAX); break;
        case TYPE_U64: ((uint64_t *)p)[i] = (uint64_t)whole(w, i, n, 0, INT64_MAX) * 2; break;
        case TYPE_F64: ((double *)p)[i] = real(w, i, n); break;
        case TYPE_I32:
            ((int32_t *)p)[i] = (int32_t)whole(w, i, n, INT32_MIN + 1, INT32_MAX);
            break;
        default: return false;
        }
    }
    return true;
}

static bool fits(const file_section *s, size_t size) {
    return s->rows > 1 && s->offset % 8 == 0 && s->offset <= size &&
           s->size_bytes <= size - s->offset && s->elem_bytes &&
           s->rows <= s->size_bytes / s->elem_bytes;
}

static void ask(const uint8_t *data, size_t size, trace *plain) {
    trace *t = open_hostile(data, size);
    if (!t) return;
    export_all(t);
    ask_all(t);
    ask_together(t, plain);
    draw_all(t);
    trace_release(t);
}

/* Is the column set, when the one to be set is `first`, alone or with its table? */
static bool is_set(const file_section *s, const file_section *first, bool with_table) {
    size_t n = strcspn(first->name, ".");
    return s == first || (with_table && strncmp(s->name, first->name, n + 1) == 0);
}

/* False: there is nothing to set. */
static bool make(uint8_t *copy, const uint8_t *data, size_t size, const file_section *first,
                 bool with_table, way w) {
    const file_header *h = (const file_header *)data;
    const file_section *toc = (const file_section *)(data + sizeof *h);
    memcpy(copy, data, size);
    bool any = false;
    for (uint32_t i = 0; i < h->n_sections; i++)
        if (is_set(&toc[i], first, with_table) && fits(&toc[i], size))
            any |= set_column(copy, &toc[i], w);
    return any;
}

static bool begins_table(const file_section *toc, uint32_t i) {
    size_t n = strcspn(toc[i].name, ".");
    return i == 0 || strncmp(toc[i].name, toc[i - 1].name, n + 1) != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *only = getenv("TRACE_EXTREMES");
    trace *plain = open_hostile(data, size);
    uint8_t *copy = plain ? malloc(size) : NULL;
    const file_header *h = (const file_header *)data;
    const file_section *toc = (const file_section *)(data + sizeof *h);
    for (uint32_t i = 0; copy && i < h->n_sections; i++) {
        if (only && strcmp(toc[i].name, only) != 0) continue;
        for (int k = 0; k < 2 * N_WAYS; k++) {
            bool with_table = k >= N_WAYS;
            if (with_table && !begins_table(toc, i)) continue;
            if (!make(copy, data, size, &toc[i], with_table, (way)(k % N_WAYS))) continue;
            if (only) fprintf(stderr, "%s, way %d\n", toc[i].name, k);
            ask(copy, size, plain);
        }
    }
    free(copy);
    trace_release(plain);
    return 0;
}
