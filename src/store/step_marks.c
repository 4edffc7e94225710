/* step_marks.c: which names mark a step. The patterns are few and short: a name is compared
 * with each of them, once for each distinct name. A star matches as much as it can, so that a
 * hostile name costs its length times that of the pattern and no more. */
#include "store/step_marks.h"

typedef enum {
    MARK_NO_GROUP = 0,
    MARK_VLLM,
    MARK_SGLANG,
    MARK_ATOM,
    MARK_LIGHTNING,
    MARK_LIGHTNING_STEP,
    MARK_LIGHTNING_EVAL,
    MARK_PARAM,
    MARK_NUMBERED,
    MARK_NUMBERED_BATCH,
    MARK_DIFFUSION,
    MARK_NAMED,
    MARK_EXECUTE,
    MARK_VLLM_FRAME,
    MARK_SGLANG_FRAME,
    MARK_MEGATRON_FRAME,
    MARK_TRAINER_FRAME,
    N_MARK_GROUPS
} mark_group;

enum { RANGE, FRAME, NUMBER };

static const step_mark MARKS[] = {
#define MARK(group, where, least, pattern) \
    {pattern, MARK_##group, least, where == FRAME, where == NUMBER},
#include "store/step_marks.def"
};

static char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_filler(char c) {
    return c == ' ' || c == '_' || c == ':' || c == '=' || c == '-' || c == '#';
}

/* Position in the name after what the pattern's character stands for; SIZE_MAX: it does not
 * match. Fillers and digits are taken as far as they go. */
static size_t match_one(char p, str name, size_t at) {
    if (p == ' ') {
        while (at < name.n && is_filler(name.p[at])) at++;
        return at;
    }
    if (at >= name.n) return SIZE_MAX;
    if (p != '%') return to_lower(p) == to_lower(name.p[at]) ? at + 1 : SIZE_MAX;
    if (!is_digit(name.p[at])) return SIZE_MAX;
    while (at < name.n && is_digit(name.p[at])) at++;
    return at;
}

bool step_mark_matches(str pattern, str name) {
    size_t p = 0, at = 0, star = SIZE_MAX, resume = 0;
    for (;;) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            resume = at;
            continue;
        }
        if (p == pattern.n && at == name.n) return true;
        size_t next = p < pattern.n ? match_one(pattern.p[p], name, at) : SIZE_MAX;
        if (next != SIZE_MAX) {
            at = next;
            p++;
            continue;
        }
        if (star == SIZE_MAX || resume >= name.n) return false;
        at = ++resume; /* the last star takes one character more */
        p = star + 1;
    }
}

const step_mark *step_mark_of(str name, bool frame) {
    for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++)
        if (MARKS[i].frame == frame && step_mark_matches(str_of(MARKS[i].pattern), name))
            return &MARKS[i];
    return NULL;
}

unsigned step_mark_groups(void) {
    return N_MARK_GROUPS;
}

bool is_optimizer_step(slice_kind kind, str name) {
    static const struct {
        slice_kind kind;
        str pattern;
    } rows[] = {
#define OPTIMIZER(kind, pattern) {kind, STR(pattern)},
#include "store/step_marks.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind && step_mark_matches(rows[i].pattern, name)) return true;
    return false;
}
