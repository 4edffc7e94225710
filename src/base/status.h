/* status.h: how a function says that it failed.
 *
 * A function that can fail returns `status` and takes `error *err` as its last parameter; err
 * may be NULL. On failure the outputs are untouched and *err holds what a person needs: the
 * status, the byte of the input where it happened, the id of a sentence in text/messages.def
 * and its named values. The sentence itself is made by text/, in the language of the reader.
 *
 * Four words, four meanings: BUG() is our mistake and aborts; FAIL() fills an error and
 * returns; a warning is counted in a trace's quality table; die() exists only in cli/.
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* generated from text/messages.def: those that every file may need */
#include "base/message_ids.h"
#include "base/str.h"

typedef enum {
    OK = 0,
    ERR_IO = -1,          /* the operating system refused */
    ERR_FORMAT = -2,      /* the bytes are not what they should be */
    ERR_UNSUPPORTED = -3, /* understood, but not something we read */
    ERR_LIMIT = -4,       /* larger than we allow */
    ERR_ARG = -5,         /* the caller or the command line is wrong */
    ERR_NOT_FOUND = -6,
    ERR_CANCELLED = -7,
    ERR_MEMORY = -8,
} status;

#define NOPOS UINT64_MAX

/* One named value of a message. The type decides how present/ and text/ write it. */
typedef enum {
    ARG_NONE = 0,
    ARG_INT,   /* plain count, shown as 12,345 */
    ARG_TEXT,  /* string */
    ARG_BYTES, /* size in bytes, shown as 1.50 MB */
    ARG_TIME,  /* nanoseconds, shown as 12.5 ms */
    ARG_SHARE, /* 0…1, shown as 34.0 % */
    ARG_REAL,  /* plain number */
    ARG_PLAIN, /* a number that is a name (process, port, rank, step): shown as 12345 */
    ARG_WORDS, /* a message with the values of the sentence around it; words, not a value */
} arg_type;

typedef struct {
    const char *name; /* static: the placeholder, e.g. "path" for {path} */
    arg_type type;
    union {
        int64_t i; /* INT, BYTES, TIME, PLAIN; WORDS: message id */
        double d;  /* SHARE, REAL */
        str text;  /* TEXT: borrowed; in an error it points into error.text */
    } u;
} arg;

#define MAX_ARGS 20

typedef struct error {
    status status;
    uint64_t offset; /* byte in the input, or NOPOS */
    uint16_t message;
    uint8_t n_args;
    arg args[MAX_ARGS];
    char text[1024]; /* the error's own copy of its text values */
    uint32_t text_used;
} error;

static inline arg arg_int(const char *name, int64_t v) {
    return (arg){.name = name, .type = ARG_INT, .u.i = v};
}
static inline arg arg_id(const char *name, int64_t v) {
    return (arg){.name = name, .type = ARG_PLAIN, .u.i = v};
}
static inline arg arg_bytes(const char *name, int64_t v) {
    return (arg){.name = name, .type = ARG_BYTES, .u.i = v};
}
static inline arg arg_time(const char *name, int64_t ns) {
    return (arg){.name = name, .type = ARG_TIME, .u.i = ns};
}
static inline arg arg_share(const char *name, double v) {
    return (arg){.name = name, .type = ARG_SHARE, .u.d = v};
}
static inline arg arg_real(const char *name, double v) {
    return (arg){.name = name, .type = ARG_REAL, .u.d = v};
}
static inline arg arg_words(const char *name, uint16_t message) {
    return (arg){.name = name, .type = ARG_WORDS, .u.i = message};
}
static inline arg arg_text(const char *name, str v) {
    return (arg){.name = name, .type = ARG_TEXT, .u.text = v};
}
static inline arg arg_cstr(const char *name, const char *v) {
    return arg_text(name, str_of(v));
}

/* Fills *err (if not NULL) and returns `code`. `args` is an array of `n` named values, copied;
 * text values are copied into the error and cut when they do not fit. */
status error_set(error *err, status code, uint64_t offset, uint16_t message, int n,
                 const arg *args);

/* Text values point into the error itself, so an error is copied with this, never by `=`. */
static inline void error_copy(error *to, const error *from) {
    (void)error_set(to, from->status, from->offset, from->message, from->n_args, from->args);
}

/* Adds which file it is about, where the message does not say so itself (as {path} or {url}):
 * text_error then begins with it. For those who open a file whose readers do not know its name.
 */
void error_add_file(error *err, str path);

/* FAIL(err, ERR_IO, NOPOS, MSG_CANNOT_OPEN, arg_cstr("path", p)); at least one value. */
#define FAIL(err, code, off, msg, ...)            \
    return error_set((err), (code), (off), (msg), \
                     (int)(sizeof((arg[]){__VA_ARGS__}) / sizeof(arg)), (arg[]){__VA_ARGS__})
/* The same without values. */
#define FAIL0(err, code, off, msg) return error_set((err), (code), (off), (msg), 0, NULL)
/* Out of memory, everywhere the same sentence. */
#define FAIL_MEMORY(err) return error_set((err), ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL)

/* Forwards a failure. */
#define TRY(expr)                                  \
    do {                                           \
        status try_status_ = (expr);               \
        if (try_status_ != OK) return try_status_; \
    } while (0)

/* Our own mistake: says where and aborts. Input can never reach it. */
_Noreturn void bug_at(const char *file, int line, const char *what);
#define BUG(what) bug_at(__FILE__, __LINE__, (what))

#define MUST_USE __attribute__((warn_unused_result))

#endif
