/* passed.c: a line about the files of a folder that are not read: how many, and what they are.
 *
 * Kinds are counted and named, the files themselves are listed by `tacho info`. Files of
 * profilers come before files that could not be traces. */
#include "cli/passed.h"

enum { MOST_KINDS = 6, MOST_COUNTED = 64 };

typedef struct {
    uint16_t what;
    bool reported; /* there is more to say about it than its noun */
    int64_t n;
} kind;

static uint32_t count_kinds(const catalogue *c, kind *v) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_passed; i++) {
        const passed_file *p = &c->passed[i];
        uint32_t k = 0;
        while (k < n && v[k].what != p->what) k++;
        if (k == MOST_COUNTED) continue;
        if (k == n) v[n++] = (kind){.what = p->what, .reported = p->message != MSG_NONE};
        v[k].n++;
    }
    return n;
}

static bool comes_before(const kind *a, const kind *b) {
    return a->reported != b->reported ? a->reported : a->n > b->n;
}

static void sort_kinds(kind *v, uint32_t n) {
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && comes_before(&v[k], &v[k - 1]); k--) {
            kind swap = v[k];
            v[k] = v[k - 1];
            v[k - 1] = swap;
        }
}

void passed_line(buf *out, lang l, const catalogue *c) {
    kind v[MOST_COUNTED];
    buf list = {0};
    if (c->n_passed == 1) {
        text_put(out, l, MSG_PASSED_ONE, arg_text("name", c->passed[0].path),
                 arg_cstr("what", text_get(c->passed[0].what, l)));
        return;
    }
    uint32_t n = count_kinds(c, v);
    sort_kinds(v, n);
    for (uint32_t i = 0; i < n && i < MOST_KINDS; i++) {
        if (i) buf_add_cstr(&list, ", ");
        text_put(&list, l, MSG_PASSED_ITEM, arg_int("count", v[i].n),
                 arg_cstr("what", text_get(v[i].what, l)));
    }
    if (n > MOST_KINDS) buf_add_cstr(&list, ", …");
    text_put(out, l, MSG_PASSED_MANY, arg_int("count", c->n_passed),
             arg_text("list", buf_str(&list)));
    if (!buf_ok(&list)) out->failed = true;
    buf_fini(&list);
}
