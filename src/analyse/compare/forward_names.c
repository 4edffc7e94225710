/* forward_names.c: see forward_names.h. */
#include "analyse/compare/forward_names.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

str name_without_engine(str name) {
    static const str engine = {"autograd::engine::evaluate_function: ", 37};
    return str_starts(name, engine) ? str_from(name, engine.n) : name;
}

/* "MmBackward0", "CopyBackwards" → their length without that; the whole length otherwise. */
static size_t length_of_forward(str name) {
    size_t n = name.n;
    while (n && is_digit(name.p[n - 1])) n--;
    if (n && name.p[n - 1] == 's') n--;
    str stem = str_n(name.p, n);
    return str_ends(stem, STR("Backward")) ? n - 8 : name.n;
}

bool name_is_backward(str name) {
    str node = name_without_engine(name);
    return node.n != name.n || length_of_forward(node) != node.n;
}

str name_without_pass(str name, arena *a) {
    str node = name_without_engine(name);
    node.n = length_of_forward(node);
    size_t space = str_find(node, STR("::"), 0);
    while (space < node.n) {
        node = str_from(node, space + 2);
        space = str_find(node, STR("::"), 0);
    }
    char *out = ARENA_ARRAY(a, char, node.n + 1);
    size_t n = 0;
    if (!out) return STR_NONE;
    for (size_t i = 0; i < node.n; i++) {
        char c = node.p[i];
        if (c == '_') continue;
        out[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return str_n(out, n);
}
