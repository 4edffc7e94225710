/* page.c: finding a file of the page, and the form of it that a client wants. There are a
 * handful of files: a walk is enough. */
#include "serve/page.h"

extern const page_file page_files[];
extern const uint64_t n_page_files;

const page_file *page_find(str path) {
    if (str_eq(path, STR("/"))) path = STR("/index.html");
    for (uint64_t i = 0; i < n_page_files; i++)
        if (str_eq(str_of(page_files[i].path), path)) return &page_files[i];
    return NULL;
}

const page_file *page_at(uint64_t i) {
    return i < n_page_files ? &page_files[i] : NULL;
}

/* Takes the next part up to a mark, without the blanks around it; false when nothing is
 * left. */
static bool next_part(str *rest, str mark, str *part) {
    if (rest->n == 0) return false;
    *part = str_trim(str_cut(rest, mark));
    return true;
}

/* The weight among what follows a coding's name, "q=0.5"; 1 without one, 0 when it is not a
 * number. */
static double weight_of(str parameters) {
    double weight = 1;
    for (str part; next_part(&parameters, STR(";"), &part);)
        if (part.n >= 2 && str_eq_nocase(str_n(part.p, 2), STR("q=")) &&
            !str_to_f64(str_from(part, 2), &weight))
            return 0;
    return weight;
}

bool page_wants_gzip(str accept_encoding) {
    /* Negative: not given. A value for one coding has priority over the value for all
     * others. */
    double gzip = -1, others = -1, plain = -1;
    for (str coding; next_part(&accept_encoding, STR(","), &coding);) {
        str name;
        if (!next_part(&coding, STR(";"), &name)) continue;
        if (str_eq_nocase(name, STR("gzip")) || str_eq_nocase(name, STR("x-gzip")))
            gzip = weight_of(coding);
        else if (str_eq_nocase(name, STR("identity")))
            plain = weight_of(coding);
        else if (str_eq(name, STR("*")))
            others = weight_of(coding);
    }
    if (gzip < 0) gzip = others;
    return gzip > 0 && gzip >= plain;
}
