/* rec_port.h: HTTP on ports of the loopback: GET /metrics, POST /trigger. Runs on the
 * helper. */
#ifndef RECORD_REC_PORT_H
#define RECORD_REC_PORT_H

#include "record/rec_int.h"

/* Sockets to wait for, -1 where there is none: two that listen, the others of clients. Ports
 * are opened when this process records: a shell that only starts programs must not take
 * them. */
enum { REC_PORT_LISTENS = 2, REC_PORT_CLIENTS = 8, REC_PORT_SOCKETS = 10 };
void rec_port_sockets(bool records, int to[REC_PORT_SOCKETS]);
/* There is something to read at the socket with this index. Never waits. */
void rec_port_serve(int which, const rec_file *f);
void rec_port_forked(void);

#endif
