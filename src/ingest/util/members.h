/* members.h: the members of many JSON objects that are written the same way.
 *
 * Most objects of a file have the keys of the one before, in the same order. The bytes between
 * the value before a member and its own value are remembered, with what the reader takes its
 * key for:
 *
 *     {"end": 0.25, "kern": 0.24}        row 0  the start of an object, after it comes 1
 *      1^^^^^^    2^^^^^^^^^             row 1  after it comes 2
 *
 * Where the same bytes come again, one comparison reads the member. So it is with values: one
 * in quotes or brackets that is the last one again needs no walk to its end, and what was made
 * of that one counts. Everything remembered is a slice of the file's text, which has SOURCE_PAD
 * bytes after it. */
#ifndef INGEST_MEMBERS_H
#define INGEST_MEMBERS_H

#include "ingest/util/scan.h"
#include "store/builder.h"

typedef struct {
    const char *p, *end;
} cursor;

#define MEMBER_UNKNOWN UINT32_MAX

typedef struct {
    str lead;         /* from the value before it to its own */
    str key;          /* in it, between the quotes */
    uint32_t meaning; /* the reader's; MEMBER_UNKNOWN at first */
    uint8_t next[2];  /* rows that came after it; 0 = none */
    str text;         /* its last value in quotes or brackets; none: 0 bytes */
    bool has_value;   /* the reader set the two below for this text */
    raw_value value;
    uint32_t text_id;
} member;

enum { N_MEMBERS = 24 };
typedef struct {
    member rows[N_MEMBERS]; /* row 0: the start of an object */
    size_t n;               /* rows made so far, without row 0 */
} members;

/* ---- without memory ---- */

/* The next key of an object; the cursor is at its value then. False at the object's end and at
 * damage. */
bool next_key(cursor *c, str *key);
/* The value at the cursor, which is after it then; STR_NONE when there is none. */
str take_value(cursor *c);
/* The end of the object that began at `from`: at the cursor, when the walk through its members
 * got there; else where the brackets match. */
bool leave_object(cursor *c, const char *from);

/* ---- with it ---- */

/* The slow way of next_member. */
member *members_learn(members *all, cursor *c, member *before);

/* Does the text at the cursor begin with this one, and not end with it? */
static inline bool members_repeats(const cursor *c, str text) {
    return text.n && (size_t)(c->end - c->p) > text.n && scan_equal(c->p, text.p, text.n);
}

/* next_key, with what is known of the member. `before` is the one before it, row 0 at first. */
static inline member *next_member(members *all, cursor *c, member *before) {
    if (*c->p == '}') return NULL;
    for (size_t i = 0; i < 2; i++) {
        member *m = &all->rows[before->next[i]];
        if (!members_repeats(c, m->lead) || (uint8_t)c->p[m->lead.n] <= ' ') continue;
        c->p += m->lead.n;
        return m;
    }
    return members_learn(all, c, before);
}

/* take_value of a member. When it is the last one again, m->has_value says whether something
 * was made of that; otherwise it is false. */
static inline str take_value_of(member *m, cursor *c) {
    const char *from = c->p;
    if (members_repeats(c, m->text)) {
        c->p += m->text.n;
        return str_n(from, m->text.n);
    }
    str text = take_value(c);
    bool closed = text.p && (*from == '"' || *from == '[' || *from == '{');
    m->text = closed ? text : STR_NONE;
    m->has_value = false;
    return text;
}

/* Which of the names the key is; n when it is none of them. Always the same ones for the same
 * `members`. */
static inline unsigned member_name(member *m, const str *names, unsigned n) {
    if (m->meaning == MEMBER_UNKNOWN)
        for (m->meaning = 0; m->meaning < n && !str_eq(m->key, names[m->meaning]);)
            m->meaning++;
    return m->meaning;
}

#endif
