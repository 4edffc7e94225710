/* traits.c: the rows of formats.def by name. */
#include "store/traits.h"

typedef struct {
    str name;
    framework framework;
    uint32_t traits;
} format_row;

static const format_row *find_format(str name) {
    static const format_row rows[] = {
#define FORMAT(name, framework, traits) {STR(name), FRAMEWORK_##framework, traits},
#include "store/formats.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_eq(rows[i].name, name)) return &rows[i];
    return NULL;
}

uint32_t format_traits(str format) {
    const format_row *row = find_format(format);
    return row ? row->traits : 0;
}

framework format_framework(str format) {
    const format_row *row = find_format(format);
    return row ? row->framework : FRAMEWORK_NONE;
}
