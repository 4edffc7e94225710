/* export_helper.h: what an export wrote, as text. */
#ifndef TESTS_EXPORT_HELPER_H
#define TESTS_EXPORT_HELPER_H

#include "export/export.h"

/* The exported text, ended by NUL, to be freed with free(). Fails the test when export fails. */
char *export_text(const trace *t, const export_options *o);
/* True when the text is strict JSON. */
bool is_json(const char *text);
/* Number of times `part` occurs in `text`. */
int count_of(const char *text, const char *part);

#endif
