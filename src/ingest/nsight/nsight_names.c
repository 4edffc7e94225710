/* nsight_names.c: strings by their numbers, and names in the spelling that others use, so that
 * a kernel has the same name no matter which tool recorded it. */
#include <ctype.h>

#include "ingest/nsight/nsight_int.h"

uint32_t nsight_string(reader *r, str s) {
    uint32_t id = intern_add(r->strings, s);
    r->failed |= id == UINT32_MAX;
    return id == UINT32_MAX ? 0 : id;
}

static status take_string(void *context, db_rows *row) {
    reader *r = context;
    uint32_t *at = map_at(&r->names, (uint64_t)db_int(row, 0, 0));
    if (!at) return ERR_MEMORY;
    *at = nsight_string(r, db_text(row, 1));
    return OK;
}

status nsight_read_names(reader *r, error *err) {
    static const char *const columns[] = {"id", "value"};
    return nsight_table(r, "StringIds", columns, N_OF(columns), take_string, err);
}

uint32_t nsight_name(const reader *r, int64_t id) {
    uint32_t name = map_get(&r->names, (uint64_t)id);
    return name == MAP_NONE ? 0 : name;
}

/* "(int)4" → "4", "(unsigned int)4" → "4u", "(bool)1" → "true": how many bytes were taken. */
static size_t clean_number(str s, buf *out) {
    static const struct {
        str cast, end;
    } casts[] = {{STR("(int)"), STR("")},           {STR("(unsigned int)"), STR("u")},
                 {STR("(long)"), STR("l")},         {STR("(unsigned long)"), STR("ul")},
                 {STR("(short)"), STR("")},         {STR("(unsigned short)"), STR("")},
                 {STR("(unsigned char)"), STR("")}, {STR("(long long)"), STR("ll")}};
    if (str_starts(s, STR("(bool)0")) || str_starts(s, STR("(bool)1"))) {
        buf_add_cstr(out, s.p[6] == '1' ? "true" : "false");
        return 7;
    }
    for (size_t i = 0; i < N_OF(casts); i++) {
        size_t at = casts[i].cast.n, from = at;
        if (!str_starts(s, casts[i].cast)) continue;
        if (at < s.n && s.p[at] == '-') at++;
        if (at == s.n || !isdigit((unsigned char)s.p[at])) return 0;
        while (at < s.n && isdigit((unsigned char)s.p[at])) at++;
        buf_add(out, s.p + from, at - from);
        buf_add_str(out, casts[i].end);
        return at;
    }
    return 0;
}

static void clean_kernel(str s, buf *out) {
    for (size_t i = 0; i < s.n;) {
        str rest = str_from(s, i);
        size_t n = s.p[i] == '(' ? clean_number(rest, out) : 0;
        if (!n && str_starts(rest, STR("<unnamed>"))) {
            buf_add_cstr(out, "(anonymous namespace)");
            n = sizeof "<unnamed>" - 1;
        }
        if (!n) buf_add_byte(out, s.p[i]);
        i += n ? n : 1;
    }
}

static void clean_call(str s, buf *out) {
    size_t n = s.n;
    while (n && isdigit((unsigned char)s.p[n - 1])) n--;
    bool versioned = n < s.n && n > 2 && s.p[n - 1] == 'v' && s.p[n - 2] == '_';
    buf_add(out, s.p, versioned ? n - 2 : s.n);
}

/* Each name once. */
static uint32_t cleaned(reader *r, uint32_t name, void (*clean)(str, buf *)) {
    uint32_t *at = map_at(&r->clean, name);
    buf text = {0};
    if (!at) {
        r->failed = true;
        return name;
    }
    if (*at != MAP_NONE) return *at;
    clean(intern_get(r->strings, name), &text);
    r->failed |= !buf_ok(&text);
    *at = r->failed ? name : nsight_string(r, buf_str(&text));
    buf_fini(&text);
    return *at;
}

uint32_t nsight_kernel_name(reader *r, uint32_t name) {
    return name ? cleaned(r, name, clean_kernel) : 0;
}

uint32_t nsight_call_name(reader *r, uint32_t name) {
    return name ? cleaned(r, name, clean_call) : 0;
}
