/* pickle_text.h: texts as the older protocols of pickle write them. Both replace *out. */
#ifndef INGEST_PICKLE_TEXT_H
#define INGEST_PICKLE_TEXT_H

#include "base/buf.h"

/* Protocol 0 writes texts as Latin-1 with \u and \U for the rest. */
void pickle_text_escaped(str s, buf *out);
/* Python 2 writes a byte string as it would be typed: quotes and backslashes. False: it is no
 * such text. */
bool pickle_text_quoted(str s, buf *out);

#endif
