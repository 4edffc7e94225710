/* announce.h: what the catalogue reports, as events of the bus (docs/SERVER.md, "events"). */
#ifndef SERVE_ANNOUNCE_H
#define SERVE_ANNOUNCE_H

#include "serve/service.h"

void announce(service *s, const live_event *e);
/* Something in the list of runs changed. */
void announce_runs(service *s);

#endif
