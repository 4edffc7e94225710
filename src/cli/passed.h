/* passed.h: a line about the files of a folder that are not read. */
#ifndef CLI_PASSED_H
#define CLI_PASSED_H

#include "session/discover.h"
#include "text/text.h"

/* "3 files skipped: 2 × Nsight Systems report, 1 × text"; the most frequent kinds first. */
void passed_line(buf *out, lang l, const catalogue *c);

#endif
