/* kernel_arch.c: which generation of GPUs a kernel was built for, by its name.
 *
 * A number counts only where a word ends after it: sm80_xmma, cutlass_80_simt; not sm8000. */
#include "analyse/operators/kernel_arch.h"

static const struct {
    const char *word;
    int arch; /* 0: digits follow */
} words[] = {
    {"cutlass_", 0}, {"_sm", 0},      {"sm", 0},       {"maxwell_", 50}, {"pascal_", 60},
    {"volta_", 70},  {"turing_", 75}, {"ampere_", 80}, {"hopper_", 90},
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The number of two or three digits at the front, 0 when there is none. */
static int leading_arch(str text) {
    size_t n = 0;
    int number = 0;
    for (; n < text.n && n < 4 && is_digit(text.p[n]); n++)
        number = number * 10 + (text.p[n] - '0');
    if (n < 2 || n > 3 || (n < text.n && is_letter(text.p[n]))) return 0;
    return number >= 50 && number < 200 ? number : 0;
}

int kernel_arch(str name) {
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        str word = str_of(words[w].word);
        for (size_t at = str_find(name, word, 0); at != SIZE_MAX;
             at = str_find(name, word, at + 1)) {
            bool begins = at == 0 || word.p[0] == '_' || !is_letter(name.p[at - 1]);
            int arch =
                words[w].arch ? words[w].arch : leading_arch(str_from(name, at + word.n));
            if (begins && arch) return arch;
        }
    }
    return 0;
}

bool kernel_is_unaligned(str name) {
    return str_find(name, STR("_align1"), 0) != SIZE_MAX &&
           str_find(name, STR("_align16"), 0) == SIZE_MAX;
}
