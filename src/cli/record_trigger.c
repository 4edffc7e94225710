/* record_trigger.c: the rules of `tacho record --trigger`, checked and in the words of the
 * recorder.
 *
 * The recorder takes what it is given (src/record/rec_trigger.c) and says nothing; errors are
 * reported here, before the program runs. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/record_run.h"

static const str SIGNALS[] = {STR("USR1"),  STR("USR2"), STR("HUP"),
                              STR("WINCH"), STR("URG"),  STR("QUIT")};

typedef struct {
    str name;
    uint16_t wants; /* what it needs, MSG_NONE: nothing */
    bool (*put)(str value, buf *to);
} rule;

static bool put_factor(str value, buf *to) {
    double f;
    if (!str_to_f64(value, &f) || !(f > 1)) return false;
    buf_add_str(to, value);
    return true;
}

static bool put_time(str value, buf *to) {
    int64_t ns;
    char text[64];
    if (!fmt_parse_duration(value, &ns) || ns <= 0) return false;
    snprintf(text, sizeof text, "%.9f", (double)ns * 1e-9);
    buf_add_cstr(to, text);
    return true;
}

static bool put_signal(str value, buf *to) {
    if (str_starts(value, STR("SIG"))) value = str_from(value, 3);
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
        if (str_eq(value, SIGNALS[i])) {
            buf_add_str(to, value);
            return true;
        }
    return false;
}

/* The program may change its folder: the path is made absolute. */
static bool put_path(str value, buf *to) {
    char here[PATH_MAX];
    if (!value.n) return false;
    if (value.p[0] != '/' && getcwd(here, sizeof here)) {
        buf_add_cstr(to, here);
        buf_add_byte(to, '/');
    }
    buf_add_str(to, value);
    return true;
}

static bool put_port(str value, buf *to) {
    int64_t port;
    if (!str_to_i64(value, &port) || port < 1 || port > 65535) return false;
    buf_add_str(to, value);
    return true;
}

static const rule RULES[] = {
    {STR("slow"), MSG_TRIGGER_WANTS_FACTOR, put_factor},
    {STR("hang"), MSG_TRIGGER_WANTS_TIME, put_time},
    {STR("oom"), MSG_NONE, NULL},
    {STR("nan"), MSG_NONE, NULL},
    {STR("signal"), MSG_TRIGGER_WANTS_SIGNAL, put_signal},
    {STR("file"), MSG_TRIGGER_WANTS_PATH, put_path},
    {STR("http"), MSG_TRIGGER_WANTS_PORT, put_port},
};

static status put_rule(const options *o, str word, buf *to, error *err) {
    size_t equals = str_find(word, STR("="), 0);
    str name = equals == SIZE_MAX ? word : str_n(word.p, equals);
    str value = equals == SIZE_MAX ? str_n("", 0) : str_from(word, equals + 1);
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
        const rule *r = &RULES[i];
        if (!str_eq(name, r->name)) continue;
        buf_add_str(to, name);
        if (!r->put) return OK;
        buf_add_byte(to, '=');
        if (r->put(value, to)) return OK;
        FAIL(err, ERR_ARG, NOPOS, MSG_TRIGGER_VALUE, arg_text("rule", name),
             arg_cstr("what", text_get(r->wants, o->words)));
    }
    FAIL(err, ERR_ARG, NOPOS, MSG_TRIGGER_UNKNOWN, arg_text("rule", word));
}

status record_trigger(const options *o, buf *to, error *err) {
    str rest = o->trigger;
    if (!rest.p) return OK;
    if (!steps_are_all(o->steps)) FAIL0(err, ERR_ARG, NOPOS, MSG_TRIGGER_AND_STEPS);
    for (bool more = true; more;) {
        size_t comma = str_find(rest, STR(","), 0);
        str word = comma == SIZE_MAX ? rest : str_n(rest.p, comma);
        if (to->n) buf_add_byte(to, ',');
        TRY(put_rule(o, word, to, err));
        more = comma != SIZE_MAX;
        if (more) rest = str_from(rest, comma + 1);
    }
    if (!buf_ok(to)) FAIL_MEMORY(err);
    return OK;
}
