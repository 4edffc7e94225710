/* rec_trigger.h: rules that write the last seconds of a flight recorder when something
 * happens. */
#ifndef RECORD_REC_TRIGGER_H
#define RECORD_REC_TRIGGER_H

#include "record/rec_int.h"

/* The rules, as TACHO_TRIGGER has them (rec_trigger.c); NULL or empty: none. rec_cycle_lock. */
void rec_trigger_arm(const char *rules);
/* How much more than its window a flight recorder keeps: another process may fire late, and
 * what came before a hang is its evidence. */
double rec_trigger_late_seconds(void);
/* Looks whether one of them applies. Called by the helper. */
void rec_trigger_tick(void);
/* On request, this process and all others of its folder write what they have. What was written
 * less than a second ago, because another process was asked, was written for this. `path` gets
 * the file. */
int rec_trigger_outside(const char *rule, const char *why, char *path, size_t size);
/* A counter is not a number. Any thread. */
void rec_trigger_not_a_number(const char *counter);
void rec_trigger_forked(void);

#endif
