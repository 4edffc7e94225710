/* made_profile.c: see the header. */
#include "unit/ingest/made_profile.h"

void put_varint(buf *b, uint64_t v) {
    for (; v >= 0x80; v >>= 7) buf_add_byte(b, (char)(v | 0x80));
    buf_add_byte(b, (char)v);
}

void put_int(buf *b, uint32_t number, uint64_t v) {
    put_varint(b, number << 3);
    put_varint(b, v);
}

void put_text(buf *b, uint32_t number, str s) {
    put_varint(b, number << 3 | 2);
    put_varint(b, s.n);
    buf_add_str(b, s);
}

void put_message(buf *b, uint32_t number, buf *inner) {
    put_text(b, number, buf_str(inner));
    buf_fini(inner);
}

plane_writer begin_plane(const char *name) {
    return (plane_writer){.name = name};
}

void put_entry(plane_writer *p, uint32_t number, uint64_t id, buf *value) {
    buf entry = {0};
    put_int(&entry, 1, id);
    put_message(&entry, 2, value);
    put_message(&p->tables, number, &entry);
}

uint64_t event_name(plane_writer *p, const char *name, const char *display) {
    buf value = {0};
    uint64_t id = ++p->n_names;
    put_int(&value, 1, id);
    put_text(&value, 2, str_of(name));
    if (display) put_text(&value, 4, str_of(display));
    put_entry(p, 4, id, &value);
    return id;
}

uint64_t stat_name(plane_writer *p, const char *name) {
    buf value = {0};
    uint64_t id = ++p->n_stats;
    put_int(&value, 1, id);
    put_text(&value, 2, str_of(name));
    put_entry(p, 5, id, &value);
    return id;
}

void put_stat_int(plane_writer *p, buf *to, uint32_t field, const char *name, int64_t v) {
    buf stat = {0};
    put_int(&stat, 1, stat_name(p, name));
    put_int(&stat, 4, (uint64_t)v);
    put_message(to, field, &stat);
}

/* As a reference: its text is the name of another stat. */
void put_stat_ref(plane_writer *p, buf *to, uint32_t field, const char *name,
                  const char *text) {
    buf stat = {0};
    put_int(&stat, 1, stat_name(p, name));
    put_int(&stat, 7, stat_name(p, text));
    put_message(to, field, &stat);
}

buf event_at(uint64_t name, uint64_t start_ns, uint64_t dur_ns) {
    buf e = {0};
    put_int(&e, 1, name);
    put_int(&e, 2, start_ns * 1000);
    put_int(&e, 3, dur_ns * 1000);
    return e;
}

void put_line(plane_writer *p, int64_t id, const char *name, buf *events) {
    buf l = {0};
    put_int(&l, 1, (uint64_t)id);
    put_text(&l, 2, str_of(name));
    put_int(&l, 3, 500); /* ns: all times of the line count from here */
    buf_add_str(&l, buf_str(events));
    buf_fini(events);
    put_message(&p->lines, 3, &l);
}

void end_plane(plane_writer *p, buf *file) {
    buf body = {0};
    put_text(&body, 2, str_of(p->name));
    buf_add_str(&body, buf_str(&p->lines)); /* before the tables, as XLA writes them */
    buf_add_str(&body, buf_str(&p->tables));
    buf_add_str(&body, buf_str(&p->stats));
    buf_fini(&p->lines);
    buf_fini(&p->tables);
    buf_fini(&p->stats);
    put_message(file, 1, &body);
}

buf event_of(plane_writer *p, const char *name, uint64_t start_ns, uint64_t dur_ns) {
    return event_at(event_name(p, name, NULL), start_ns, dur_ns);
}

void put_event(plane_writer *p, buf *events, const char *name, uint64_t start_ns,
               uint64_t dur_ns) {
    buf e = event_of(p, name, start_ns, dur_ns);
    put_message(events, 4, &e);
}
