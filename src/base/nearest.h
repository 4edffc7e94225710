/* nearest.h: what to say about an unknown name: the known name that was most likely meant, and
 * a few of those that exist.
 *
 *     name_hint h = hint_for(wanted);
 *     for (…) hint_offer(&h, known);
 *     FAIL(err, ERR_ARG, NOPOS, MSG_X, arg_text("name", wanted), HINT_ARGS(&h));
 *
 * The message ends in {hint}, which is MSG_NAME_HINT: "; did you mean X?" or the names that
 * exist. It is made of {near} (empty: nothing is near), {list} (the first names, empty when the
 * near one says enough) and {more} (how many names the list leaves out, unknown when none). */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include "base/status.h"

enum { HINT_NAMES = 6, HINT_LIST_BYTES = 256 };

typedef struct {
    str wanted;
    str near; /* borrowed from what was offered */
    size_t distance;
    uint32_t n;        /* names offered */
    uint32_t n_listed; /* of them in `list` */
    size_t list_bytes;
    char list[HINT_LIST_BYTES];
} name_hint;

name_hint hint_for(str wanted);
/* Names in the order in which a list shall show them. Among equally near ones the first wins.
 */
void hint_offer(name_hint *h, str name);
/* The same of a name that may be meant but is not listed. */
void hint_consider(name_hint *h, str name);
/* Every name of a list a|b|c. */
void hint_offer_choices(name_hint *h, const char *choices);

/* Texts point into the hint; error_set copies them. */
arg hint_near(const name_hint *h);
arg hint_list(const name_hint *h);
arg hint_more(const name_hint *h);
#define HINT_ARGS(h) hint_near(h), hint_list(h), hint_more(h), arg_words("hint", MSG_NAME_HINT)

#endif
