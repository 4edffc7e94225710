/* help.c: --help, made from commands.def, options.def, registry.def and messages.def.
 *
 * Two columns: a name, and what it means, wrapped to the width of the terminal after the
 * widest name (or on a separate line when the name is too long). Chinese breaks between any two
 * characters, other text between words. Help of an analysis holds the definition of every
 * column it answers with: the same sentences the JSON carries as `help`. */
#include "cli/help.h"

#include <string.h>

#include "base/message_ids_cli.h"
#include "present/width.h"

#define INDENT 2
#define NAMES 26 /* cells for names before their meaning starts */

/* Bytes of the next piece that stays whole: a run of ASCII up to a blank or after the bar of a
 * choice, or one character. */
static size_t piece_bytes(str s) {
    size_t n = 1;
    if ((unsigned char)s.p[0] < 0x80) {
        while (n < s.n && (unsigned char)s.p[n] < 0x80 && s.p[n] != ' ' && s.p[n - 1] != '|')
            n++;
    } else {
        while (n < s.n && ((unsigned char)s.p[n] & 0xc0) == 0x80) n++;
        /* a closing mark never starts a line */
        static const char *const marks[] = {"，", "。", "；", "：", "、", "）", "？"};
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
            str mark = str_of(marks[i]);
            if (str_starts(str_from(s, n), mark)) return n + mark.n;
        }
    }
    return n;
}

/* Writes s from cell `at` on, broken so that lines end before `width`, later lines indented. */
static void put_wrapped(buf *out, str s, size_t at, uint32_t width) {
    size_t cell = at;
    while (s.n != 0) {
        bool blank = s.p[0] == ' ';
        str rest = blank ? str_from(s, 1) : s;
        if (rest.n == 0) break;
        size_t n = piece_bytes(rest), cells = width_of(str_n(rest.p, n));
        if (cell + cells + blank > width && cell > at) {
            buf_add_byte(out, '\n');
            buf_add_repeat(out, ' ', at);
            cell = at;
        } else if (blank && cell > at) {
            buf_add_byte(out, ' ');
            cell++;
        }
        buf_add(out, rest.p, n);
        cell += cells;
        s = str_from(rest, n);
    }
    buf_add_byte(out, '\n');
}

static void put_row(buf *out, str name, str meaning, uint32_t width) {
    size_t cells = width_of(name);
    buf_add_repeat(out, ' ', INDENT);
    buf_add_str(out, name);
    if (INDENT + cells + 2 > NAMES) {
        buf_add_byte(out, '\n');
        buf_add_repeat(out, ' ', NAMES);
    } else {
        buf_add_repeat(out, ' ', NAMES - INDENT - cells);
    }
    put_wrapped(out, meaning, NAMES, width);
}

static void put_line(buf *out, lang l, uint16_t message) {
    buf_add_cstr(out, text_get(message, l));
    buf_add_byte(out, '\n');
}

static void put_usage(buf *out, lang l, const char *name, const char *arguments) {
    buf line = {0};
    buf_printf(&line, "tacho %s%s%s", name, arguments[0] ? " " : "", arguments);
    text_put(out, l, MSG_CLI_USAGE, arg_text("line", buf_str(&line)));
    buf_add_byte(out, '\n');
    if (!buf_ok(&line)) out->failed = true;
    buf_fini(&line);
}

static void put_intro(buf *out, lang l, uint32_t width) {
    put_usage(out, l, "[COMMAND]", "TRACE [--option]…");
    buf_add_byte(out, '\n');
    put_wrapped(out, str_of(text_get(MSG_CLI_INTRO, l)), 0, width);
}

/* The names of a group in one line, and its example below. */
static void put_group(buf *out, lang l, const command_group *g, uint32_t width) {
    command c;
    buf names = {0};
    for (uint32_t i = 0; command_in_group(g, i, &c); i++)
        buf_printf(&names, "%s%s", names.n ? ", " : "", c.name);
    put_row(out, str_of(text_get(g->title, l)), buf_str(&names), width);
    if (g->example[0]) {
        buf_add_repeat(out, ' ', NAMES);
        buf_printf(out, "$ %s\n", g->example);
    }
    if (!buf_ok(&names)) out->failed = true;
    buf_fini(&names);
}

void help_short(buf *out, lang l, uint32_t width) {
    const command_group *g;
    put_intro(out, l, width);
    buf_add_byte(out, '\n');
    for (uint32_t i = 0; (g = command_group_at(i)) != NULL; i++) put_group(out, l, g, width);
    buf_add_byte(out, '\n');
    put_wrapped(out, str_of(text_get(MSG_CLI_PATH_IS_OVERVIEW, l)), 0, width);
    put_wrapped(out, str_of(text_get(MSG_CLI_ALL_HELP, l)), 0, width);
}

void help_program(buf *out, lang l, uint32_t width) {
    const command_group *g;
    command c;
    put_intro(out, l, width);
    put_wrapped(out, str_of(text_get(MSG_CLI_TRACE_IS, l)), 0, width);
    put_wrapped(out, str_of(text_get(MSG_CLI_PATH_IS_OVERVIEW, l)), 0, width);
    for (uint32_t i = 0; (g = command_group_at(i)) != NULL; i++) {
        buf_add_byte(out, '\n');
        put_line(out, l, g->title);
        for (uint32_t k = 0; command_in_group(g, k, &c); k++)
            put_row(out, str_of(c.name), str_of(text_get(c.help, l)), width);
    }
    buf_add_byte(out, '\n');
    put_wrapped(out, str_of(text_get(MSG_CLI_MORE_HELP, l)), 0, width);
}

static void put_option(buf *out, lang l, const term *i, uint32_t width) {
    buf name = {0}, meaning = {0};
    if (i->letter != 0) buf_printf(&name, "-%c, ", i->letter);
    buf_printf(&name, "--%s", i->name);
    if (i->kind == VALUE_CHOICE)
        buf_printf(&meaning, "%s: ", i->value);
    else if (i->value[0] != '\0')
        buf_printf(&name, " %s", i->value);
    buf_add_cstr(&meaning, text_get(i->help, l));
    put_row(out, buf_str(&name), buf_str(&meaning), width);
    if (!buf_ok(&name) || !buf_ok(&meaning)) out->failed = true;
    buf_fini(&name);
    buf_fini(&meaning);
}

static void put_params(buf *out, lang l, const analysis_info *a, uint32_t width) {
    const param_info *p;
    for (uint32_t i = 0; (p = registry_param(a->name, i)) != NULL; i++) {
        buf name = {0}, meaning = {0};
        buf_add_cstr(&name, "--");
        for (const char *c = p->name; *c; c++) buf_add_byte(&name, *c == '_' ? '-' : *c);
        /* A list too long for the line may be broken after its bars. */
        bool is_long = strlen(p->values) + 2 > width - NAMES;
        for (const char *v = p->values; *v; v++) {
            buf_add_byte(&meaning, *v);
            if (*v == '|' && is_long) buf_add_byte(&meaning, ' ');
        }
        if (p->values[0] != '\0') buf_add_cstr(&meaning, ": ");
        buf_add_cstr(&meaning, text_get(p->help, l));
        put_row(out, buf_str(&name), buf_str(&meaning), width);
        if (!buf_ok(&name) || !buf_ok(&meaning)) out->failed = true;
        buf_fini(&name);
        buf_fini(&meaning);
    }
}

static void put_field(buf *out, lang l, const field_info *f, uint32_t width) {
    buf meaning = {0};
    buf_add_cstr(&meaning, text_get(f->help, l));
    if (f->when[0] != '\0') {
        str condition = str_of(f->when);
        size_t equals = str_find(condition, STR("="), 0);
        str value = str_from(condition, equals + 1);
        buf option = {0};
        buf_add_cstr(&option, "--");
        for (size_t i = 0; i < equals; i++)
            buf_add_byte(&option, condition.p[i] == '_' ? '-' : condition.p[i]);
        if (!str_eq(value, STR("yes"))) { /* a flag has no value */
            buf_add_byte(&option, ' ');
            buf_add_str(&option, value);
        }
        buf_add_byte(&meaning, ' ');
        text_put(&meaning, l, MSG_CLI_ONLY_WHEN, arg_text("condition", buf_str(&option)));
        buf_fini(&option);
    }
    put_row(out, str_of(f->name), buf_str(&meaning), width);
    if (!buf_ok(&meaning)) out->failed = true;
    buf_fini(&meaning);
}

static void put_results(buf *out, lang l, const analysis_info *a, uint32_t width) {
    const result_info *r;
    const field_info *f;
    for (uint32_t i = 0; (r = registry_result(a->name, i)) != NULL; i++) {
        buf_add_byte(out, '\n');
        text_put(out, l, MSG_CLI_TABLE, arg_cstr("name", r->name));
        buf_add_byte(out, '\n');
        for (uint32_t k = 0; (f = registry_field(r, k)) != NULL; k++)
            put_field(out, l, f, width);
    }
}

void help_command(buf *out, const command *c, lang l, uint32_t width) {
    const term *o;
    put_usage(out, l, c->name, c->arguments);
    buf_add_byte(out, '\n');
    put_wrapped(out, str_of(text_get(c->help, l)), 0, width);
    if (c->groups & CHOOSE) put_wrapped(out, str_of(text_get(MSG_CLI_TRACE_IS, l)), 0, width);
    buf_add_byte(out, '\n');
    put_line(out, l, MSG_CLI_OPTIONS);
    if (c->analysis) put_params(out, l, c->analysis, width);
    for (uint32_t i = 0; (o = option_at(i)) != NULL; i++)
        if (o->groups & c->groups) put_option(out, l, o, width);
    if (c->analysis) put_results(out, l, c->analysis, width);
}
