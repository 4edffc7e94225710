/* op_text.h: the lists in the columns op.shapes, op.types and op.inputs.
 *
 * Their form is part of the schema: lists as JSON writes them, as the producer wrote them.
 *
 *     op_list l = op_list_open(trace_str(t, t->op.shapes[row]));      [[8, 512], [512, 64]]
 *     for (str one; op_list_next(&l, &one);) …                        [8, 512] */
#ifndef STORE_OP_TEXT_H
#define STORE_OP_TEXT_H

#include "base/str.h"

typedef struct {
    const char *p, *end;
    bool named; /* the items have names */
} op_list;

/* A text that is not a list has no items. */
op_list op_list_open(str text);
/* The next item as it is written; false after the last, and where the text is damaged. */
bool op_list_next(op_list *l, str *item);
/* The item of this name in a list whose items have names; STR_NONE when there is none. */
str op_list_named(str text, str name);
/* An item as a number; false when it is not one. */
bool op_item_i64(str item, int64_t *out);
bool op_item_f64(str item, double *out);
/* A text without its quotes; anything else as it is. */
str op_item_text(str item);

#endif
