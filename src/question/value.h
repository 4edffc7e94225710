/* value.h: the values a question is made of, and the one way in which each is written.
 *
 *   FLAG      0|1, true|false, yes|no       CHOICE   one of a list a|b|c
 *   COUNT     0, 1, 2, …                    ORDER    COLUMN[:asc|:desc], several joined by ,
 *   SIZE      512M, 4GiB, 100 (bytes)       STEPS    3, 3..5, 3.., ..5
 *   TIME      a position in the trace or a length of time: 12.5ms, 250us, 1.2s, 800ns, 2min,
 *             or whole nanoseconds without a unit
 *   FROM, TO  TIME as an end of a window: open when it is not given
 *   DURATION  how long to record: a TIME that needs its unit, because 30 is meant as seconds
 *   TEXT, FILE  anything */
#ifndef QUESTION_VALUE_H
#define QUESTION_VALUE_H

#include "base/status.h"
#include "question/window.h"

typedef enum {
    VALUE_FLAG,
    VALUE_TEXT,
    VALUE_FILE,
    VALUE_CHOICE,
    VALUE_ORDER,
    VALUE_COUNT,
    VALUE_SIZE,
    VALUE_DURATION,
    VALUE_TIME,
    VALUE_FROM,
    VALUE_TO,
    VALUE_STEPS,
} value_kind;

/* The field that holds a value of each kind. */
typedef bool value_FLAG;
typedef str value_TEXT, value_FILE, value_CHOICE, value_ORDER;
typedef int64_t value_COUNT, value_SIZE, value_DURATION, value_TIME, value_FROM, value_TO;
typedef step_range value_STEPS;

/* How a reader wrote a name, for the words of an error: `--from 12`, `from=12`. */
typedef struct {
    str name;
    const char *joint; /* between the name and its value */
} spelling;

/* Not given: false, {NULL, 0}, ABSENT_I64; an end of a window and steps: open. */
void value_clear(value_kind kind, void *field);
/* Reads all of `text` into the field of this kind; `choices` is the list of a CHOICE. False
 * when it is something else: the field is untouched. Texts are borrowed. */
bool value_parse(value_kind kind, const char *choices, str text, void *field);
/* ERR_ARG, with what is wrong about the value, under the name the reader wrote. */
status value_fail(value_kind kind, const char *choices, const spelling *as, str text,
                  error *err);
/* The same of a value that must have a form such as A..B|all, which is shown as it is. */
status value_fail_form(const char *form, const spelling *as, str text, error *err);

/* TIME alone. */
bool value_time(str text, int64_t *out_ns);
/* Is `one` a member of the list a|b|c? */
bool value_in_list(const char *list, str one);
/* Are these two spellings of one name? - and _ are the same. */
bool value_same_name(str a, str b);

#endif
