/* cmd_serve.c: `tacho serve`: the web page of a folder of traces, until it is stopped.
 *
 * The address goes to standard output, so that a script can read it, and is flushed before
 * anything is asked. SIGINT and SIGTERM end the server cleanly: they are blocked in all threads
 * and taken here, so no handler runs anywhere. A second one ends the program at once. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "io/remote.h"
#include "serve/server.h"

/* Who names no port takes any near the usual one; who names one means it. */
enum { DEFAULT_PORT = 8080, NEXT_PORTS = 50 };
#define UPLOAD_BYTES ((uint64_t)4 << 30)

static status check_options(const options *o, error *err) {
    if (o->n_traces == 0)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_NO_TRACE, arg_cstr("command", o->command.name));
    if (o->n_traces > 1)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_ONE_TRACE, arg_cstr("command", o->command.name),
             arg_int("count", o->n_traces));
    if (o->sandbox && o->no_sandbox)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_STEP_AND_TIME, arg_cstr("step", "--sandbox"),
             arg_cstr("window", "--no-sandbox"));
    if (o->port != ABSENT_I64 && o->port > UINT16_MAX)
        FAIL(err, ERR_ARG, NOPOS, MSG_SERVE_BAD_PORT, arg_id("port", o->port));
    return OK;
}

static server_options server_options_of(const options *o) {
    return (server_options){
        .path = o->traces[0],
        .host = o->host.p,
        .port = o->port == ABSENT_I64 ? DEFAULT_PORT : (uint16_t)o->port,
        .next_ports = o->port == ABSENT_I64 ? NEXT_PORTS : 0,
        .threads = o->threads == ABSENT_I64 ? 0 : (int)min_i64(o->threads, 1024),
        .no_cache = o->no_cache,
        .follow_links = o->follow_links,
        .token = o->token,
        .sandbox = o->no_sandbox ? SANDBOX_NONE
                   : o->sandbox  ? SANDBOX_MUST
                                 : SANDBOX_TRY,
        .remote = remote_is_url(o->traces[0]),
        .source_root = o->source_root.p,
        .words = o->words,
        .upload_bytes =
            o->upload_limit == ABSENT_I64 ? UPLOAD_BYTES : (uint64_t)o->upload_limit,
        .memory_limit_bytes = options_memory_bytes(o),
    };
}

/* On stderr, so that the address stays the one line of stdout. */
static void say_other_port(const options *o, const server *s) {
    error note;
    str owner = server_port_owner(s);
    char taken[8], port[8]; /* ports are names, not counts: no separators */
    bool known = owner.n > 0;
    snprintf(taken, sizeof taken, "%u", (unsigned)DEFAULT_PORT);
    snprintf(port, sizeof port, "%u", server_port(s));
    arg args[] = {arg_cstr("taken", taken), arg_cstr("port", port), arg_text("owner", owner)};
    (void)error_set(&note, OK, NOPOS, known ? MSG_SERVE_OTHER_PORT_BY : MSG_SERVE_OTHER_PORT,
                    known ? 3 : 2, args);
    (void)cli_complain(o, &note);
}

/* What the server gave up, or why it did not. */
static void say_sandbox(const options *o, const server *s) {
    error note;
    sandbox_state has = server_sandbox(s);
    arg version = arg_id("version", has.landlock);
    if (has.landlock)
        error_set(&note, OK, NOPOS, has.seccomp ? MSG_SERVE_SANDBOX : MSG_SERVE_SANDBOX_FILES,
                  1, &version);
    else
        error_set(&note, OK, NOPOS,
                  has.seccomp ? MSG_SERVE_SANDBOX_CALLS : MSG_SERVE_SANDBOX_NONE, 0, NULL);
    (void)cli_complain(o, &note);
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
    if (how.next_ports && server_port(s) != how.port && !o->quiet) say_other_port(o, s);
    if (how.sandbox != SANDBOX_NONE && !o->quiet) say_sandbox(o, s);
    say_address(o, s);
    while (sigwait(&ends, &which) != 0) {}
    pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    server_stop(s);
    return EXIT_DONE;
}
