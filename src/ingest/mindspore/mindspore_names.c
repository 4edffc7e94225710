/* mindspore_names.c: which files belong to MindSpore's profiler, by their names.
 *
 * A pattern of mindspore_files.def is compared from the left; # takes as many digits as there
 * are, * as few bytes as let the rest match. Names come from directories we do not control: the
 * comparison has one level of backtracking for each *, and patterns have at most three, so it
 * ends soon on any name. */
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

typedef struct {
    const char *names, *header;
    bool sure;
    ms_reader read;
} file_row;

static const file_row FILES[] = {
#define FILE(kind, names, sure, header, reader) {names, header, sure, reader},
#include "ingest/mindspore/mindspore_files.def"
#undef FILE
};
enum { N_FILES = (int)(sizeof FILES / sizeof *FILES) };

int ms_n_kinds(void) {
    return N_FILES;
}

ms_reader ms_reader_of(int kind) {
    return kind >= 0 && kind < N_FILES ? FILES[kind].read : NULL;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Does the rest of the name fit the rest of the pattern? *id is set by #. */
static bool fits(str name, str pattern, int64_t *id) {
    while (pattern.n) {
        if (*pattern.p == '*') {
            pattern = str_from(pattern, 1);
            for (size_t i = 0; i <= name.n; i++)
                if (fits(str_from(name, i), pattern, id)) return true;
            return false;
        }
        if (*pattern.p == '#') {
            size_t n = 0;
            while (n < name.n && is_digit(name.p[n])) n++;
            if (n == 0 || n > 9 || !str_to_i64(str_n(name.p, n), id)) return false;
            name = str_from(name, n);
        } else {
            if (!name.n || *name.p != *pattern.p) return false;
            name = str_from(name, 1);
        }
        pattern = str_from(pattern, 1);
    }
    return name.n == 0;
}

/* The i-th word of a text, separated by single blanks; false after the last. */
static bool next_word(str *rest, str *word, char separator) {
    if (!rest->n) return false;
    size_t n = 0;
    while (n < rest->n && rest->p[n] != separator) n++;
    *word = str_n(rest->p, n);
    *rest = str_from(*rest, n + 1);
    return true;
}

bool mindspore_name_parse(str file, mindspore_name *out) {
    /* NAME.done only says that a raw file is whole. */
    if (file.n > 200 || str_ends(file, STR(".done"))) return false;
    if (str_ends(file, STR(".gz"))) file.n -= 3;
    for (int i = 0; i < N_FILES; i++) {
        str rest = str_of(FILES[i].names), pattern;
        while (next_word(&rest, &pattern, ' ')) {
            int64_t id = MINDSPORE_ANY_ID;
            if (!fits(file, pattern, &id)) continue;
            *out = (mindspore_name){.kind = i, .id = id};
            return true;
        }
    }
    return false;
}

bool mindspore_name_is_sure(str file) {
    mindspore_name n;
    return mindspore_name_parse(file, &n) && FILES[n.kind].sure;
}

int ms_kind_of_text(str head) {
    for (int i = 0; i < N_FILES; i++) {
        str rest = str_of(FILES[i].header), start;
        while (next_word(&rest, &start, '|'))
            if (start.n && str_starts(head, start)) return i;
    }
    return -1;
}

bool mindspore_is_table(str head) {
    return ms_kind_of_text(head) >= 0;
}

bool mindspore_folder_parse(str folder, str *worker, str *stamp) {
    static const str END = {"_ascend_ms", 10};
    if (folder.n <= END.n || !str_ends(folder, END)) return false;
    str stem = str_n(folder.p, folder.n - END.n);
    size_t n = stem.n;
    while (n && is_digit(stem.p[n - 1])) n--;
    *stamp = n > 1 && stem.p[n - 1] == '_' ? str_from(stem, n) : str_n("", 0);
    *worker = stamp->n ? str_n(stem.p, n - 1) : stem;
    return true;
}

const char *const MINDSPORE_PLACES[N_MINDSPORE_PLACES] = {
    "", "/FRAMEWORK", "/ASCEND_PROFILER_OUTPUT", "/data", "/host_info"};

bool mindspore_is_part(str folder) {
    static const char *const parts[] = {
        "FRAMEWORK", "ASCEND_PROFILER_OUTPUT", "data", "hccl_info", "host_info", "logs",
        "msadvisor", "dynamic_shape_info"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (str_eq(folder, str_of(parts[i]))) return true;
    return str_starts(folder, STR("PROF_"));
}
