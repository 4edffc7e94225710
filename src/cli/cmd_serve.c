/* cmd_serve.c: `tacho serve`: the web page of a folder of traces, until somebody ends it.
 *
 * The address goes to standard output, so that a script can read it, and is flushed before anything
 * is asked. SIGINT and SIGTERM end the server cleanly: they are blocked in all threads and taken
 * here, so no handler runs anywhere. A second one ends the program at once. */
#include <signal.h>
#include <unistd.h>

#include "base/num.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "serve/server.h"

enum { DEFAULT_PORT = 8080 };

static status check_options(const options *o, error *err) {
    if (o->n_traces == 0)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_NO_TRACE, arg_cstr("command", o->command.name));
    if (o->n_traces > 1)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_ONE_TRACE, arg_cstr("command", o->command.name),
             arg_int("count", o->n_traces));
    if (o->port != ABSENT_I64 && o->port > UINT16_MAX)
        FAIL(err, ERR_ARG, NOPOS, MSG_SERVE_BAD_PORT, arg_id("port", o->port));
    return OK;
}

static server_options server_options_of(const options *o) {
    return (server_options){
        .path = o->traces[0],
        .host = o->host.p,
        .port = o->port == ABSENT_I64 ? DEFAULT_PORT : (uint16_t)o->port,
        .threads = o->threads == ABSENT_I64 ? 0 : (int)min_i64(o->threads, 1024),
        .no_cache = o->no_cache,
        .follow_links = o->follow_links,
        .memory_limit_bytes = o->memory_limit == ABSENT_I64 ? 0 : (uint64_t)o->memory_limit,
    };
}

static void say_address(const options *o, const server *s) {
    buf line = {0};
    text_put(&line, o->words, MSG_SERVE_READY, arg_cstr("path", o->traces[0]),
             arg_cstr("url", server_url(s)));
    buf_add_byte(&line, '\n');
    if (buf_ok(&line)) (void)!write(STDOUT_FILENO, line.p, line.n);
    buf_fini(&line);
}

int cmd_serve(options *o) {
    error err = {0};
    server *s = NULL;
    sigset_t ends;
    int which;
    if (check_options(o, &err) != OK) return cli_complain(o, &err);
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* before any thread exists: all inherit it */
    server_options how = server_options_of(o);
    if (server_start(&how, &s, &err) != OK) return cli_complain(o, &err);
    say_address(o, s);
    while (sigwait(&ends, &which) != 0) {}
    pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    server_stop(s);
    return EXIT_DONE;
}
