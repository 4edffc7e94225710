#include "unit/export/export_helper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/str.h"

char *export_text(const trace *t, const export_options *o) {
    FILE *f = tmpfile();
    assert_non_null(f);
    assert_int_equal(export_trace(t, o, fileno(f), NULL), OK);
    long n = ftell(f);
    fseek(f, 0, SEEK_END);
    n = ftell(f);
    rewind(f);
    char *text = malloc((size_t)n + 1);
    assert_int_equal(fread(text, 1, (size_t)n, f), (size_t)n);
    text[n] = 0;
    fclose(f);
    return text;
}

bool is_json(const char *text) {
    buf b = {0};
    unsigned flags = json_normal(str_of(text), &b);
    buf_fini(&b);
    return flags == 0;
}

/* Not strstr: AddressSanitizer measures the whole text for each call. */
int count_of(const char *text, const char *part) {
    str rest = str_of(text), wanted = str_of(part);
    int n = 0;
    for (size_t at; (at = str_find(rest, wanted, 0)) != SIZE_MAX; n++)
        rest = str_from(rest, at + wanted.n);
    return n;
}
