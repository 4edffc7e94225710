/* width.h: how many cells of a terminal a text takes, and texts that fit.
 *
 * Texts come from files we did not write: control characters, direction overrides and broken
 * UTF-8 are replaced while writing, so that no name can move the cursor or change colors. */
#ifndef PRESENT_WIDTH_H
#define PRESENT_WIDTH_H

#include "base/buf.h"

/* Cells of the text as width_put writes it. */
size_t width_of(str s);
/* Appends the cleaned text. */
void width_put(buf *out, str s);
/* The same in at most `cells`: a longer one loses the parameters of a C++ signature, then its
 * middle to one …. Returns the cells used. */
size_t width_put_short(buf *out, str s, size_t cells);
/* The same for a reader who knows the frameworks: a template that is too long loses its
 * namespaces before its middle. */
size_t width_put_name(buf *out, str s, size_t cells);
/* Appends the cleaned text in lines of at most `cells`, broken at blanks or between characters
 * of two cells; every line starts with `indent` blanks, which count, and ends in a line break.
 * 0 cells: one line. */
void width_put_lines(buf *out, str s, size_t indent, size_t cells);

#endif
