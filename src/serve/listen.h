/* listen.h: the socket the server listens on. */
#ifndef SERVE_LISTEN_H
#define SERVE_LISTEN_H

#include "base/buf.h"
#include "base/status.h"

typedef struct {
    int fd;
    uint16_t port; /* the real one when 0 was asked for */
    bool loopback; /* reachable from this machine alone */
    bool ipv6;
} listen_socket;

/* host: a name or address. A port that is taken: the first free one of the next_ports after it;
 * when there is none, ERR_IO with the owner of the port and the next free one. */
status listen_open(const char *host, uint16_t port, uint16_t next_ports, listen_socket *out,
                   error *err) MUST_USE;
/* "tacho (123)", name and process that listens on a port; false when it is unknown. */
bool listen_owner(uint16_t port, buf *out);

#endif
