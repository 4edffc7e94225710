/* stacks.c: the call stack an op was called from, as one number.
 *
 * Python frames of a thread nest like everything else; a second stack of the op scan holds the
 * open ones, each with the id of the distinct path (caller's id, name) that leads to it. So
 * equal stacks get equal ids at one map lookup for each frame, and the text is made only for
 * the groups that are shown. Ids with the top bit are rows of table frame, where the producer
 * wrote the stack itself.
 *
 * A path puts ops between the frames: outer's path, the frames from outer's stack to the op's,
 * the op. Its nodes are of the same kind and share the same table.
 *
 * A frame that overlaps another partially is a sibling of it, as in the store. */
#include "analyse/operators/stacks.h"

#include "base/buf.h"
#include "base/num.h"

#define GIVEN 0x80000000u /* the id is a row of table frame */
/* Frames between an op and the op around it: beyond this a file is made to be slow. */
enum { MAX_BETWEEN = 1000 };
/* Frames of a text. A group for each of n nested frames would have n texts of n names: after so
 * many bytes of text together there are only a few names in each. */
enum { MAX_FRAMES = 1000, FEW_FRAMES = 32, MAX_TEXT_BYTES = 64 << 20 };

struct stack_open {
    int64_t end_ns;
    uint32_t id;
};

typedef struct {
    uint32_t caller, name;
} node;

status stacks_init(stacks *s, const trace *t, arena *a, error *err) {
    *s = (stacks){.t = t};
    return groups_init(&s->nodes, a, sizeof(node), err);
}

void stacks_new_track(stacks *s) {
    s->n_open = 0;
}

static bool same_node(const void *row, const void *key) {
    return memcmp(row, key, sizeof(node)) == 0;
}

/* 0 when out of memory. */
static uint32_t find_node(stacks *s, uint32_t caller, uint32_t name) {
    node key = {caller, name};
    bool is_new;
    uint32_t at = groups_at(&s->nodes, hash_pair(caller, name), same_node, &key, &is_new);
    if (at == GROUP_NONE || at >= GIVEN - 1) return 0;
    if (is_new) *GROUP_ROW(&s->nodes, node, at) = key;
    return at + 1;
}

static bool push_open(stacks *s, int64_t end_ns, uint32_t id) {
    if (s->n_open == s->cap_open) {
        uint32_t cap = s->cap_open ? s->cap_open * 2 : 128;
        void *grown = arena_grow(s->nodes.arena, s->open, s->cap_open * sizeof *s->open,
                                 cap * sizeof *s->open);
        if (!grown) return false;
        s->open = grown;
        s->cap_open = cap;
    }
    s->open[s->n_open++] = (struct stack_open){end_ns, id};
    return true;
}

status stacks_enter(stacks *s, uint32_t slice, error *err) {
    int64_t start = s->t->slice.start[slice], end = add_i64(start, s->t->slice.dur[slice]);
    while (s->n_open &&
           (start >= s->open[s->n_open - 1].end_ns || end > s->open[s->n_open - 1].end_ns))
        s->n_open--;
    uint32_t caller = s->n_open ? s->open[s->n_open - 1].id : 0;
    uint32_t id = find_node(s, caller, s->t->slice.name[slice]);
    if (!id || !push_open(s, end, id)) FAIL_MEMORY(err);
    return OK;
}

uint32_t stacks_of(stacks *s, uint32_t op_row, int64_t start_ns) {
    if (op_row && s->t->op.frame[op_row]) return GIVEN | s->t->op.frame[op_row];
    while (s->n_open && start_ns >= s->open[s->n_open - 1].end_ns) s->n_open--;
    return s->n_open ? s->open[s->n_open - 1].id : 0;
}

bool stacks_split(const stacks *s, uint32_t id, uint32_t *caller, uint32_t *name) {
    if (id & GIVEN) {
        uint32_t row = id & ~GIVEN;
        if (row >= s->t->frame.n) return false;
        uint32_t above = s->t->frame.parent[row];
        *name = s->t->frame.name[row];
        *caller =
            above && above < row ? GIVEN | above : 0; /* callers have smaller rows: no circle */
        return true;
    }
    if (!id) return false;
    node n = *GROUP_ROW(&s->nodes, node, id - 1);
    *name = n.name;
    *caller = n.caller;
    return true;
}

/* The names from the stack `inner` out to `outer`, innermost first, and how many; MAX_BETWEEN
 * when `outer` is not around `inner`. */
static uint32_t names_between(const stacks *s, uint32_t inner, uint32_t outer,
                              uint32_t names[MAX_BETWEEN]) {
    uint32_t n = 0;
    while (inner != outer && n < MAX_BETWEEN && stacks_split(s, inner, &inner, &names[n])) n++;
    return inner == outer ? n : MAX_BETWEEN;
}

uint32_t stacks_path(stacks *s, stack_place outer, uint32_t stack, uint32_t name) {
    uint32_t names[MAX_BETWEEN], n = 0, id = outer.path, caller, last;
    if (!outer.path) return find_node(s, stack, name);
    if (stack != outer.stack) {
        n = names_between(s, stack, outer.stack, names);
        if (n == MAX_BETWEEN && names_between(s, outer.stack, stack, names) == MAX_BETWEEN)
            return find_node(s, stack, name);
        if (n == MAX_BETWEEN) n = 0;
    }
    if (!n && stacks_split(s, id, &caller, &last) && last == name) return id;
    while (n && id) id = find_node(s, id, names[--n]);
    return id ? find_node(s, id, name) : 0;
}

str stacks_text(stacks *s, uint32_t id, arena *a) {
    if (!id) return STR("");
    buf text = {0};
    uint32_t most = s->text_bytes < MAX_TEXT_BYTES ? MAX_FRAMES : FEW_FRAMES, n = 0;
    for (uint32_t name; n < most && stacks_split(s, id, &id, &name); n++) {
        if (text.n) buf_add_byte(&text, ';');
        buf_add_str(&text, trace_str(s->t, name));
    }
    if (n == most && id) buf_add_cstr(&text, ";…");
    s->text_bytes += text.n;
    str out = buf_ok(&text) ? arena_str(a, buf_str(&text)) : STR_NONE;
    buf_fini(&text);
    return out;
}
