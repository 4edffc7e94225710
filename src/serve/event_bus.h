/* event_bus.h: events to many listeners, as the text of server-sent events, and to clients that
 * poll, as a list.
 *
 * A listener that has read everything sleeps; publishing wakes it. A listener that is too many
 * events late gets no old events but one that says that everything may have changed; a client
 * that polls too late learns that it missed some. */
#ifndef SERVE_EVENT_BUS_H
#define SERVE_EVENT_BUS_H

#include "base/buf.h"
#include "base/status.h"

typedef struct event_bus event_bus;
typedef struct listener listener;

event_bus *event_bus_new(void);    /* NULL when out of memory */
void event_bus_free(event_bus *h); /* no listener is left */

/* Sends `data` (one line) as an event of this name; name NULL: a comment, to keep lines
 * open. */
void event_bus_publish(event_bus *h, const char *name, str data);
/* Lets all listeners read what they have left and then the end, and waits until they have left,
 * at most so long: a client may have stopped reading. */
void event_bus_end(event_bus *h, int64_t patience_ns);

/* sleep and wake are called under the hub's lock. `first` is sent before anything else. NULL
 * when out of memory or when there are too many. */
listener *event_bus_join(event_bus *h, str first, void (*sleep)(void *), void (*wake)(void *),
                         void *context);
void event_bus_leave(event_bus *h, listener *l);
uint32_t event_bus_listeners(event_bus *h);

/* Up to n bytes. 0: nothing there, the listener sleeps; EVENT_BUS_END: the end. */
#define EVENT_BUS_END SIZE_MAX
size_t event_bus_read(event_bus *h, listener *l, char *to, size_t n);

/* Appends the events from number `since` on, as objects of a JSON list without its brackets.
 * Returns the number to ask for next. *missed: some of them are no longer known, or `since` is
 * a number of another server; then nothing is appended. */
uint64_t event_bus_since(event_bus *h, uint64_t since, buf *out, bool *missed);

enum { EVENT_BUS_MOST_LISTENERS = 64 };

#endif
