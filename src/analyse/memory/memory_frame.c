/* memory_frame.c: who asked for memory, where only the call stack tells.
 *
 * A block of a memory snapshot has no operator, but a stack of frames: the user's code, the
 * library's code it went through, the framework, the allocator. The one that says most names
 * the block:
 *
 *     1. the innermost Python frame outside PyTorch and Python's library:  model.py:123 forward
 *     2. the innermost operator, for stacks without Python (autograd):     aten::mm
 *     3. the innermost Python frame, 4. the innermost native one outside the allocator
 *
 * A frame's parent has a smaller number, so the best frame of every stack is found in one pass
 * from the outermost on: the parent's, unless the frame itself is as good. */
#include "analyse/lexicon.h"
#include "analyse/memory/memory_view.h"
#include "base/intern.h"

/* From what says least to what says most. */
enum { FRAME_ALLOCATOR, FRAME_NATIVE, FRAME_LIBRARY, FRAME_OPERATOR, FRAME_USER };

static str base_name(str path) {
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/' || path.p[i - 1] == '\\') return str_from(path, i);
    return path;
}

/* What follows the installed packages' folder in a path; {NULL, 0} when it is none of them. */
static str inside_packages(str file) {
    size_t at = str_find(file, STR("-packages/"), 0);
    if (at == SIZE_MAX) at = str_find(file, STR("-packages\\"), 0);
    return at == SIZE_MAX ? STR_NONE : str_from(file, at + 10);
}

/* Models often live in installed packages, so these count; PyTorch itself and what comes with
 * Python does not. <string> and <frozen …> are not files. */
static bool is_user_file(str file) {
    str package = inside_packages(file);
    if (package.p) return !lexicon_means(package, MEANS_LIBRARY_PACKAGE);
    return file.p[0] != '<' && !lexicon_means(file, MEANS_LIBRARY_FILE);
}

/* The word between a prefix and the "::" after it; {NULL, 0} when the name is another. */
static str word_after(str name, str prefix) {
    if (!str_starts(name, prefix)) return STR_NONE;
    str rest = str_from(name, prefix.n);
    size_t end = str_find(rest, STR("::"), 0);
    return end == SIZE_MAX ? STR_NONE : str_n(rest.p, end);
}

/* at::_ops::mm::call(…) is the operator aten::mm,
 * torch::autograd::generated::MmBackward0::apply(…) the node of its backward. An empty tensor
 * says nothing: who wanted it is further out. */
static str operator_of(str name, bool *is_aten) {
    str word = word_after(name, STR("at::_ops::"));
    *is_aten = word.p != NULL;
    if (str_starts(word, STR("empty"))) return STR_NONE;
    return word.p ? word : word_after(name, STR("torch::autograd::generated::"));
}

static uint8_t class_of(const trace *t, uint32_t frame) {
    str file = trace_str(t, t->frame.file[frame]), name = trace_str(t, t->frame.name[frame]);
    bool is_aten;
    if (file.n && (str_ends(file, STR(".py")) || file.p[0] == '<'))
        return is_user_file(file) ? FRAME_USER : FRAME_LIBRARY;
    if (operator_of(name, &is_aten).n) return FRAME_OPERATOR;
    return lexicon_means(name, MEANS_ALLOCATOR_FRAME) ? FRAME_ALLOCATOR : FRAME_NATIVE;
}

/* What comes after "file.py(12): ". */
static str function_of(const trace *t, uint32_t frame) {
    str name = trace_str(t, t->frame.name[frame]);
    size_t at = t->frame.file[frame] ? str_find(name, STR("): "), 0) : SIZE_MAX;
    return at == SIZE_MAX ? name : str_from(name, at + 3);
}

static str make_label(const memory_view *m, uint32_t frame) {
    const trace *t = m->t;
    str name = trace_str(t, t->frame.name[frame]), file = trace_str(t, t->frame.file[frame]);
    bool is_aten = false;
    str op = m->frame_class[frame] == FRAME_OPERATOR ? operator_of(name, &is_aten) : STR_NONE;
    if (op.n) return arena_printf(m->arena, "%s%.*s", is_aten ? "aten::" : "", STR_ARG(op));
    if (!file.n) return name;
    str base = base_name(file), function = function_of(t, frame);
    return arena_printf(m->arena, "%.*s:%u %.*s", STR_ARG(base), t->frame.line[frame],
                        STR_ARG(function));
}

static bool same_label(const void *row, const void *key) {
    return str_eq(*(const str *)row, *(const str *)key);
}

/* Frames of one text are one label, whatever they were called by. */
static status add_label(memory_view *m, uint32_t site, error *err) {
    bool is_new;
    str text = make_label(m, site);
    if (!text.p) FAIL_MEMORY(err);
    uint32_t at = groups_at(&m->labels, intern_hash(text), same_label, &text, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    if (is_new) *GROUP_ROW(&m->labels, str, at) = text;
    m->label_of[site] = at + 1;
    return OK;
}

status memory_frames_init(memory_view *m, error *err) {
    const trace *t = m->t;
    size_t n = (size_t)t->frame.n + 1;
    bool any = false;
    for (uint32_t i = 1; i < t->memory.n && !any; i++) any = t->memory.frame[i] != 0;
    TRY(groups_init(&m->labels, m->arena, sizeof(str), err));
    if (!any) return OK;
    m->site_of = ARENA_ARRAY(m->arena, uint32_t, n);
    m->frame_class = ARENA_ARRAY(m->arena, uint8_t, n);
    m->label_of = ARENA_ARRAY(m->arena, uint32_t, n);
    if (!m->site_of || !m->frame_class || !m->label_of) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->frame.n; i++) {
        uint32_t outer = m->site_of[t->frame.parent[i]];
        m->frame_class[i] = class_of(t, i);
        m->site_of[i] = outer && m->frame_class[outer] > m->frame_class[i] ? outer : i;
    }
    for (uint32_t i = 1; i < t->memory.n; i++)
        for (uint32_t site = memory_site(m, i); site && !m->label_of[site];
             site = memory_outer_site(m, site))
            TRY(add_label(m, site, err));
    return OK;
}

uint32_t memory_site(const memory_view *m, uint32_t row) {
    return m->site_of ? m->site_of[m->t->memory.frame[row]] : 0;
}

uint32_t memory_outer_site(const memory_view *m, uint32_t site) {
    uint32_t outer = m->site_of[m->t->frame.parent[site]];
    return m->frame_class[outer] == FRAME_USER ? outer : 0;
}

str memory_label(const memory_view *m, uint32_t label) {
    return *GROUP_ROW(&m->labels, str, label - 1);
}
