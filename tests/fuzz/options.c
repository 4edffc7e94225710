/* options.c: the command line. Words come from the input, one a line; the first chooses the command.
 * Whatever they are, they are understood or refused as a wrong command line, and every number that
 * was understood is one the commands can work with. */
#include "cli/complete.h"
#include "fuzz/fuzz.h"

enum { MOST_WORDS = 24 };

static bool pick_command(str word, command *out) {
    uint32_t n = 0;
    if (command_find(word, out)) return true;
    CHECK(command_unknown(word, true, NULL) == ERR_ARG);
    while (command_at(n, out)) n++;
    return n && word.n && command_at((uint8_t)word.p[0] % n, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1), *words[MOST_WORDS];
    int n = 0;
    memcpy(text, data, size);
    text[size] = 0;
    for (char *p = text; p && n < MOST_WORDS; n++) {
        words[n] = p;
        p = strchr(p, '\n');
        if (p) *p++ = 0;
    }
    uint32_t n_split;
    arena split;
    arena_init(&split, 1 << 20);
    const str *parts = complete_split(&split, str_n((const char *)data, size), &n_split);
    for (uint32_t i = 0; parts && i < n_split; i++) CHECK(parts[i].n <= size);
    arena_fini(&split);
    options o = {.words = LANG_EN};
    error err = {0};
    arena a;
    arena_init(&a, 1 << 20);
    if (pick_command(str_of(words[0]), &o.command)) {
        status s = options_parse(&a, n - 1, words + 1, &o, &err);
        CHECK(s == OK || (s == ERR_ARG && err.message != MSG_NONE));
        if (s == OK) {
            const question *q = &o.question;
            CHECK(o.n_traces <= MOST_WORDS && q->params.n_extra <= MOST_WORDS);
            CHECK(o.threads == ABSENT_I64 || o.threads >= 0);
            CHECK(q->limit == ABSENT_I64 || q->limit >= 0);
            CHECK(o.memory_limit == ABSENT_I64 || o.memory_limit >= 0);
            params p = options_params(&o, NULL);
            (void)options_form(&o);
            CHECK(p.first_step <= p.last_step && p.from_ns < p.to_ns);
        }
    }
    arena_fini(&a);
    free(text);
    return 0;
}
