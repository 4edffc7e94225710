/* hub.h: events to many listeners, as the text of server-sent events.
 *
 * A listener that has read everything sleeps; publishing wakes it. One that is far behind gets no
 * old events any more, but a word that everything may have changed. */
#ifndef SERVE_HUB_H
#define SERVE_HUB_H

#include "base/status.h"

typedef struct hub hub;
typedef struct listener listener;

hub *hub_new(void);    /* NULL when out of memory */
void hub_free(hub *h); /* no listener is left */

/* Sends `data` (one line) as an event of this name; name NULL: a comment, to keep lines open. */
void hub_publish(hub *h, const char *name, str data);
/* Lets all listeners read what they have left and then the end. */
void hub_end(hub *h);

/* sleep and wake are called under the hub's lock. `first` is sent before anything else. NULL when
 * out of memory or when there are too many. */
listener *hub_join(hub *h, str first, void (*sleep)(void *), void (*wake)(void *),
                   void *context);
void hub_leave(hub *h, listener *l);
uint32_t hub_listeners(hub *h);

/* Up to n bytes. 0: nothing there, the listener sleeps; HUB_END: the end. */
#define HUB_END SIZE_MAX
size_t hub_read(hub *h, listener *l, char *to, size_t n);

enum { HUB_MOST_LISTENERS = 64 };

#endif
