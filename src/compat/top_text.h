/* top_text.h: the answer of `top` as MegEngine's profile_analyze prints it. */
#ifndef CLI_TOP_TEXT_H
#define CLI_TOP_TEXT_H

#include "compat/top.h"

typedef struct {
    bool wiki;      /* pipe tables with bars */
    bool only_list; /* name, type and id of each record */
    bool summary, device, host;
    bool copy_time;
    bool grouped; /* records are groups */
} top_layout;

status top_text_write(const top_result *r, const top_layout *how, arena *a, buf *out,
                      error *err) MUST_USE;

/* A number as Python's "{:.3}" writes it: three digits, at least one decimal, a power of ten
 * from 100 and below 1e-4. */
void top_text_digits(buf *out, double v);

#endif
