/* nearest.c: edit distance between short names.
 *
 * A name is near when a few slips (a letter wrong, missing, added, or two swapped) make it of
 * what was written, one slip more for every four letters; or when it begins with at least three
 * letters that were written. Case does not count, and - and _ are the same. Names of more than
 * LONGEST bytes are listed, never guessed. */
#include "base/nearest.h"

#include <stdint.h>
#include <stdio.h>

enum { LONGEST = 64, LEAST_PREFIX = 3 };

static char fold(char c) {
    if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
    return c == '_' ? '-' : c;
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Letters to change, add, drop or swap to make b of a. Three rows of the table are enough: a
 * swap looks two rows back. */
static size_t edit_distance(str a, str b) {
    size_t rows[3][LONGEST + 1] = {{0}};
    for (size_t j = 0; j <= b.n; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            char x = fold(a.p[i - 1]), y = fold(b.p[j - 1]);
            row[j] = least(above[j - 1] + (x != y), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == fold(b.p[j - 2]) && fold(a.p[i - 2]) == y)
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[a.n % 3][b.n];
}

static bool begins_with(str name, str start) {
    if (start.n < LEAST_PREFIX || name.n < start.n) return false;
    for (size_t i = 0; i < start.n; i++)
        if (fold(name.p[i]) != fold(start.p[i])) return false;
    return true;
}

/* SIZE_MAX: not near. A beginning counts as one slip more than the most that are allowed, so
 * that a name with few slips wins. */
static size_t distance_of(str wanted, str name) {
    size_t allowed = 1 + wanted.n / 4;
    if (!wanted.n || wanted.n > LONGEST || name.n > LONGEST) return SIZE_MAX;
    size_t distance = edit_distance(wanted, name);
    if (distance <= allowed && distance < wanted.n) return distance;
    return begins_with(name, wanted) ? allowed + 1 : SIZE_MAX;
}

name_hint hint_for(str wanted) {
    return (name_hint){.wanted = wanted, .distance = SIZE_MAX};
}

static void list_name(name_hint *h, str name) {
    size_t room = sizeof h->list - h->list_bytes;
    if (h->n_listed != h->n || h->n == HINT_NAMES || name.n + 3 > room) return;
    h->list_bytes += (size_t)snprintf(h->list + h->list_bytes, room, "%s%.*s",
                                      h->n_listed ? ", " : "", STR_ARG(name));
    h->n_listed++;
}

void hint_consider(name_hint *h, str name) {
    size_t distance = distance_of(h->wanted, name);
    if (distance >= h->distance) return;
    h->near = name;
    h->distance = distance;
}

void hint_offer(name_hint *h, str name) {
    hint_consider(h, name);
    list_name(h, name);
    h->n++;
}

void hint_offer_choices(name_hint *h, const char *choices) {
    for (str rest = str_of(choices); rest.n;) {
        hint_offer(h, str_cut(&rest, STR("|")));
    }
}

arg hint_near(const name_hint *h) {
    return arg_text("near", h->near);
}

static bool is_listed(const name_hint *h) {
    return !h->near.n || h->n_listed == h->n;
}

arg hint_list(const name_hint *h) {
    return arg_text("list", str_n(h->list, is_listed(h) ? h->list_bytes : 0));
}

arg hint_more(const name_hint *h) {
    bool cut = is_listed(h) && h->n > h->n_listed;
    return cut ? arg_int("more", h->n - h->n_listed) : (arg){.name = "more", .type = ARG_NONE};
}
