/* step_window.h: a range of steps as a stretch of time, for what shows time and knows no
 * steps. */
#ifndef ANALYSE_STEP_WINDOW_H
#define ANALYSE_STEP_WINDOW_H

#include "question/window.h"
#include "store/trace.h"

/* From the start of the first step to the end of the last one, and of the device work that was
 * launched in between: offsets from the start of the trace. False: none of the steps is in
 * it. */
bool steps_window(const trace *t, step_range steps, time_window *out);

#endif
