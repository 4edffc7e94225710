/* text.h: words for ids: every sentence a user reads, in the reader's language.
 *
 * A message is a sentence of messages.def with {name} where a named value goes; the type of the
 * value decides how it is written (base/fmt). Nothing else in the program holds sentences. */
#ifndef TEXT_TEXT_H
#define TEXT_TEXT_H

#include "base/buf.h"
#include "base/status.h"

typedef enum { LANG_EN = 0, LANG_ZH, N_LANGS } lang;

/* "en" or "zh". */
const char *lang_name(lang l);
/* By name; false when there is no such language. */
bool lang_of(str name, lang *out);
/* From a locale such as zh_CN.UTF-8; English for all we do not speak. */
lang lang_of_locale(const char *locale);

/* The sentence as written in messages.def; "" for an unknown id. Static. */
const char *text_get(uint16_t message, lang l);
/* The word for a value of a column that is one of ours (kernel, critical); the value itself
 * where there is none. For eyes: programs read the value. */
str text_value_word(const char *column, str value, lang l);
/* The words of headers.def above a column, above a table; the name itself where there are none.
 * Static, or the name that was given. */
const char *text_header(const char *column, lang l);
const char *text_title(const char *table, lang l);
/* Appends the sentence with its values. A value that is not given stays as {name}. */
void text_format(buf *out, lang l, uint16_t message, const arg *args, uint32_t n_args);
/* The same with a sentence that is not in messages.def. */
void text_fill(buf *out, str sentence, const arg *args, uint32_t n_args);
/* Appends one value as a sentence shows it. */
void text_value(buf *out, const arg *a);
/* Appends the sentence of an error, with its file and the byte of the input where known. */
void text_error(buf *out, lang l, const error *err);
/* The same without the file that error_add_file named, for a row that has a column for it. */
void text_reason(buf *out, lang l, const error *err);

/* text_put(out, l, MSG_X, arg_int("count", 3)); at least one value. */
#define text_put(out, l, message, ...)                       \
    text_format((out), (l), (message), (arg[]){__VA_ARGS__}, \
                (uint32_t)(sizeof((arg[]){__VA_ARGS__}) / sizeof(arg)))

#endif
