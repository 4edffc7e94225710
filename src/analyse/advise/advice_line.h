/* advice_line.h: the line of the program that a piece of advice is about. */
#ifndef ANALYSE_ADVICE_LINE_H
#define ANALYSE_ADVICE_LINE_H

#include "analyse/advise/advice_events.h"
#include "analyse/operators/line_of.h"

/* The line to which most of what the events cost belongs: a row of table frame. 0: none has
 * half of it, or it is a function around whole steps. The line of
 * a gap is what the thread that launched the work after it did meanwhile. */
status advice_line_find(const line_view *v, const event_list *events, uint32_t *out,
                        error *err) MUST_USE;

#endif
