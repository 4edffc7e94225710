/* rec_metrics.h: the page of rec_live.h as Prometheus' text, in a file or on a port of the
 * loopback.
 *
 * rec_port.h answers there, and takes POST /trigger when a trigger asks for it. */
#ifndef RECORD_REC_METRICS_H
#define RECORD_REC_METRICS_H

#include <tacho/live.h>

#include "record/rec_int.h"

/* A folder for WORKER.prom, or the number of a port, to which the local rank is added; NULL or
 * empty: none. rec_cycle_lock. */
void rec_metrics_want(const char *where);
/* A port for POST /trigger; 0: none. The two may be the same. */
void rec_metrics_want_trigger(int port);
/* Writes the file. Called by the helper, as all below. */
void rec_metrics_tick(const tacho_live_page *page);
/* The ports that are wanted; 0: none. */
void rec_metrics_ports(int *metrics, int *trigger);
/* True when the numbers are being watched: device records must not stay in a buffer for
 * long. */
bool rec_metrics_are_wanted(void);
/* The text; its length, at most size - 1. */
size_t rec_metrics_text(const tacho_live_page *page, char *to, size_t size);
void rec_metrics_end(void);
void rec_metrics_forked(void);

#endif
