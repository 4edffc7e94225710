/* page.c: finding a file of the page. There are a handful: a walk is enough. */
#include "serve/page.h"

extern const page_file page_files[];
extern const uint64_t n_page_files;

const page_file *page_find(str path) {
    if (str_eq(path, STR("/"))) path = STR("/index.html");
    for (uint64_t i = 0; i < n_page_files; i++)
        if (str_eq(str_of(page_files[i].path), path)) return &page_files[i];
    return NULL;
}

/* One coding with its weight: "gzip;q=0.5". */
static bool allows(str coding) {
    size_t mark = str_find(coding, STR(";"), 0);
    str name = str_trim(mark == SIZE_MAX ? coding : str_n(coding.p, mark));
    double weight = 1;
    if (!str_eq_nocase(name, STR("gzip")) && !str_eq(name, STR("*"))) return false;
    size_t q = mark == SIZE_MAX ? SIZE_MAX : str_find(coding, STR("q="), mark);
    if (q != SIZE_MAX && !str_to_f64(str_trim(str_from(coding, q + 2)), &weight)) return false;
    return weight > 0;
}

bool page_accepts_gzip(str accept_encoding, bool present) {
    if (!present) return true;
    for (str rest = accept_encoding; rest.n > 0;) {
        size_t end = str_find(rest, STR(","), 0);
        if (allows(end == SIZE_MAX ? rest : str_n(rest.p, end))) return true;
        rest = end == SIZE_MAX ? STR_NONE : str_from(rest, end + 1);
    }
    return false;
}
