/* made_profile.h: profiles of XLA, written field by field. */
#ifndef TESTS_MADE_PROFILE_H
#define TESTS_MADE_PROFILE_H

#include "base/buf.h"

/* ---- protobuf ---- */
void put_varint(buf *b, uint64_t v);
void put_int(buf *b, uint32_t number, uint64_t v);
void put_text(buf *b, uint32_t number, str s);
/* `inner` is freed. */
void put_message(buf *b, uint32_t number, buf *inner);

/* ---- planes ---- */
/* A plane under construction; names get numbers from 1 in the order of `names`. */
typedef struct {
    buf lines, tables, stats;
    const char *name;
    uint64_t n_names, n_stats;
} plane_writer;

plane_writer begin_plane(const char *name);
void put_entry(plane_writer *p, uint32_t number, uint64_t id, buf *value);
uint64_t event_name(plane_writer *p, const char *name, const char *display);
uint64_t stat_name(plane_writer *p, const char *name);
void put_stat_int(plane_writer *p, buf *to, uint32_t field, const char *name, int64_t v);
/* As a reference: its text is the name of another stat. */
void put_stat_ref(plane_writer *p, buf *to, uint32_t field, const char *name, const char *text);
buf event_at(uint64_t name, uint64_t start_ns, uint64_t dur_ns);
/* An event under its own name: to put stats into, or as it is. */
buf event_of(plane_writer *p, const char *name, uint64_t start_ns, uint64_t dur_ns);
void put_event(plane_writer *p, buf *events, const char *name, uint64_t start_ns,
               uint64_t dur_ns);
/* All times of the line count from 500 ns. */
void put_line(plane_writer *p, int64_t id, const char *name, buf *events);
void end_plane(plane_writer *p, buf *file);

#endif
