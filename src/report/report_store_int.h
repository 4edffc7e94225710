/* report_store_int.h: the answers of a report, packed, and what finds them again.
 *
 *     <script type="text/plain" id="tacho-7">H4sIA…</script>     gzip as base64, one for
 *                                                                each part
 *
 * Base64 has no sign that means something to HTML, so nothing a trace holds can end the script
 * around it. The index, a part like the others, has the number of each answer by its
 * question. */
#ifndef REPORT_STORE_INT_H
#define REPORT_STORE_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "base/status.h"

typedef struct {
    buf parts;   /* as they are in the file */
    buf index;   /* members of the index' object "answers", without braces */
    buf tiles;   /* rows of its array "tiles" */
    buf slices;  /* rows of its array "slices" */
    buf scratch; /* one packed part */
    map stored;  /* hash of an answer that is inside → its number */
    uint32_t n_parts, n_answers;
    uint64_t n_slices;
} report_store;

void report_store_fini(report_store *s);
/* Packs a part and gives it the next number. */
status report_store_add(report_store *s, str bytes, uint32_t *number, error *err) MUST_USE;
/* The same for the answer to a question, found by its key. Questions with equal answers share
 * a part: those about a summary and about all its ranks are the same. */
status report_store_answer(report_store *s, str key, str bytes, error *err) MUST_USE;
/* A part under a given name, already packed: files of the page, the index. */
void report_put_part(buf *out, const char *id, str packed);
void report_put_base64(buf *out, str bytes);
/* Text for HTML: the title alone is not packed. */
void report_put_html(buf *out, str text);

#endif
