/* foreign.c: what a file is, by its first bytes. Every file is a format or gets one sentence that names it,
 * in both languages. A name never overrules bytes that tell, and beyond 64 KiB only databases
 * say anything. */
#include "session/foreign.h"
#include "fuzz/fuzz.h"
#include "io/source.h"
#include "session/sniff.h"
#include "text/text.h"

#define NEAR ((size_t)64 << 10)

static void check_sentence(uint16_t message, const char *needle) {
    for (int l = 0; l < N_LANGS; l++) {
        str sentence = str_of(text_get(message, (lang)l));
        CHECK(sentence.n && str_find(sentence, str_of(needle), 0) != SIZE_MAX);
    }
}

/* Seen through gzip and zstd, as a file is. */
static void check_source(str bytes) {
    source *s = NULL;
    const format *f = NULL;
    error why = {0};
    CHECK(source_open_memory(bytes, &s, NULL) == OK);
    status st = sniff_source(s, "x", &f, &why);
    CHECK(st == OK ? f != NULL : st == ERR_UNSUPPORTED || st == ERR_FORMAT);
    if (st != OK) check_sentence(why.message, "{path}");
    source_close(s);
}

static void check_names(str bytes) {
    static const str names[] = {STR("a/b.nsys-rep"), STR("events.out.tfevents.1"), STR("x.csv"),
                                STR("/")};
    const foreign *told = foreign_of(bytes, STR_NONE);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const foreign *named = foreign_of(bytes, names[i]);
        CHECK(named == (told ? told : foreign_of_name(names[i])));
    }
    if (told) check_sentence(told->message, "{path}");
    if (told) check_sentence(told->what, "");
}

/* The same start, then something else. */
static void check_distance(str bytes) {
    static char far[NEAR + 4096];
    if (bytes.n > NEAR || str_starts(bytes, STR("SQLite format 3"))) return;
    memset(far, ' ', sizeof far);
    memcpy(far, bytes.p, bytes.n);
    const foreign *told = foreign_of(str_n(far, NEAR), STR_NONE);
    memcpy(far + NEAR, bytes.p, bytes.n < 4096 ? bytes.n : 4096);
    CHECK(foreign_of(str_n(far, sizeof far), STR_NONE) == told);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str bytes = {(const char *)data, size};
    check_source(bytes);
    check_names(bytes);
    check_distance(bytes);
    return 0;
}
