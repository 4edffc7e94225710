/* rec_status.h: what became of this process, for the `tacho record` that started it. */
#ifndef RECORD_REC_STATUS_H
#define RECORD_REC_STATUS_H

#include <stdint.h>

/* Maps the page that TACHO_STATUS names and counts this program. Once, when it is loaded. */
void rec_status_load(void);
/* A recording has begun. */
void rec_status_began(void);
/* A recording could not begin; `code` is errno. Any thread. */
void rec_status_failed(int code);
/* The program ends, and has waited so long for the recorder. */
void rec_status_ended(int64_t ns);

#endif
