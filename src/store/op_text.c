/* op_text.c: lists of the op table; they never allocate, and damage ends them quietly. */
#include "store/op_text.h"

#include "base/json.h"

op_list op_list_open(str text) {
    json_iter it = json_open(text);
    return (op_list){it.p, it.end, it.object};
}

bool op_list_next(op_list *l, str *item) {
    json_iter it = {l->p, l->end, l->named};
    str key;
    bool more = json_next(&it, &key, item);
    l->p = it.p;
    return more;
}

str op_list_named(str text, str name) {
    return json_member(text, name);
}

bool op_item_i64(str item, int64_t *out) {
    return json_i64(item, out);
}

bool op_item_f64(str item, double *out) {
    return json_f64(item, out);
}

str op_item_text(str item) {
    return json_text(item);
}
