/* fuzzy.c: letters in order, beginnings of words first.
 *
 * A needle fits when its letters are in the text in this order and none of them is far from the
 * one before: at most GAP other letters are skipped, unless the next one begins a word, which
 * may be anywhere after it. Without that rule a short needle would fit nearly every kernel
 * name, which has some hundred letters.
 *
 *   cnvbw     aten::convolution_backward    c n v, then the words' beginning b, then w after it
 *   abn       aten::batch_norm              three beginnings of words
 *
 * A letter at the beginning of a word scores most, one right after the letter before it less,
 * any other least; a long text loses a little. The best way to place the letters is found, not
 * the first: one pass over the text with the best score of every beginning of the needle so
 * far. */
#include "base/fuzzy.h"

#include <limits.h>

#include "base/num.h"

enum {
    GAP = 3,
    SCORE_WORD = 240,
    SCORE_NEXT = 120,
    SCORE_LETTER = 20,
    SCORE_WHOLE = 100000, /* more than FUZZY_LETTERS beginnings of words */
    NONE = INT_MIN / 2,
};

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

static char to_lower(char c) {
    return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

/* Bytes of other alphabets are letters. */
static bool is_letter(char c) {
    return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || (c >= '0' && c <= '9') ||
           ((unsigned char)c & 0x80);
}

static bool begins_word(str s, size_t i) {
    if (i == 0 || !is_letter(s.p[i - 1])) return true;
    return is_upper(s.p[i]) && !is_upper(s.p[i - 1]);
}

static bool has_in_order(str needle, str text) {
    size_t k = 0;
    for (size_t i = 0; i < text.n && k < needle.n; i++)
        k += to_lower(text.p[i]) == to_lower(needle.p[k]);
    return k == needle.n;
}

/* Scores of the first k + 1 letters. */
typedef struct {
    int best;            /* with the last of them anywhere so far */
    int recent[GAP + 1]; /* with the last of them 1 … GAP + 1 bytes ago */
} prefix;

/* The best score with letter k at byte i. */
static int place_letter(const prefix *before, bool word) {
    int best = NONE;
    if (word) best = before->best + SCORE_WORD;
    for (int gap = 0; gap <= GAP; gap++) {
        int score = before->recent[gap] + (gap == 0 ? SCORE_NEXT : SCORE_LETTER);
        if (score > best) best = score;
    }
    return best;
}

static void shift_recent(prefix *p, int newest) {
    for (int gap = GAP; gap > 0; gap--) p->recent[gap] = p->recent[gap - 1];
    p->recent[0] = newest;
    if (newest > p->best) p->best = newest;
}

static int best_placing(str needle, str text) {
    prefix at[FUZZY_LETTERS];
    for (size_t k = 0; k < needle.n; k++) {
        at[k].best = NONE;
        for (int gap = 0; gap <= GAP; gap++) at[k].recent[gap] = NONE;
    }
    for (size_t i = 0; i < text.n; i++) {
        bool word = begins_word(text, i);
        for (size_t k = needle.n;
             COUNT_DOWN(k);) { /* backwards: the letter before has not been placed yet */
            int score = NONE;
            if (to_lower(text.p[i]) == to_lower(needle.p[k]))
                score = k ? place_letter(&at[k - 1], word) : word ? SCORE_WORD : SCORE_LETTER;
            shift_recent(&at[k], score < 0 ? NONE : score);
        }
    }
    return at[needle.n - 1].best;
}

int fuzzy_score(str needle, str text) {
    if (needle.n == 0) return 1;
    int length = text.n < 10000 ? (int)text.n : 10000;
    size_t whole = str_find_nocase(text, needle, 0);
    if (whole != SIZE_MAX)
        return 2 * SCORE_WHOLE + (begins_word(text, whole) ? SCORE_WHOLE / 2 : 0) - length;
    if (needle.n > FUZZY_LETTERS || !has_in_order(needle, text)) return 0;
    int score = best_placing(needle, text);
    if (score <= 0) return 0;
    return score > length / 10 + 1 ? score - length / 10 : 1;
}
