/* members.c: members of objects read key by key; what is new to a table of members. */
#include "ingest/util/members.h"

#include "base/json.h"

bool next_key(cursor *c, str *key) {
    const char *p = c->p, *end = c->end;
    while (p < end && (json_is_space(*p) || *p == ',')) p++;
    c->p = p;
    if (p == end || *p != '"') return false;
    const char *close = scan_string(p + 1, end);
    if (close < end && *close == '\\') close = json_string_end(p + 1, end);
    if (!close || close >= end) return false;
    *key = str_n(p + 1, (size_t)(close - p - 1));
    p = json_space(close + 1, end);
    if (p == end || *p != ':') return false;
    c->p = json_space(p + 1, end);
    return c->p < end;
}

str take_value(cursor *c) {
    const char *from = c->p, *stop = NULL;
    if (*from == '"') {
        stop = scan_string(from + 1, c->end);
        stop = stop < c->end && *stop == '"' ? stop + 1 : NULL;
    }
    if (!stop) stop = json_value_end(from, c->end);
    if (!stop) return STR_NONE;
    c->p = stop;
    return str_n(from, (size_t)(stop - from));
}

bool leave_object(cursor *c, const char *from) {
    const char *stop = c->p < c->end && *c->p == '}' ? c->p + 1 : json_value_end(from, c->end);
    if (stop) c->p = stop;
    return stop != NULL;
}

/* The row of these bytes; when they are new, the oldest one is given up for them. */
static size_t row_of(members *all, str lead, str key) {
    size_t n = all->n < N_MEMBERS - 1 ? all->n : N_MEMBERS - 1;
    for (size_t i = 1; i <= n; i++)
        if (str_eq(all->rows[i].lead, lead)) return i;
    size_t row = 1 + all->n++ % (N_MEMBERS - 1);
    all->rows[row] = (member){.lead = lead, .key = key, .meaning = MEMBER_UNKNOWN};
    return row;
}

member *members_learn(members *all, cursor *c, member *before) {
    const char *from = c->p;
    str key;
    if (!next_key(c, &key)) return NULL;
    size_t row = row_of(all, str_n(from, (size_t)(c->p - from)), key);
    if (before->next[0] != row) {
        before->next[1] = before->next[0];
        before->next[0] = (uint8_t)row;
    }
    return &all->rows[row];
}
