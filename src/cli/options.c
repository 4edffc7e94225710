/* options.c: reading the command line by the tables options.def, commands.def and registry.def.
 *
 * An option is --name VALUE, --name=VALUE or -x VALUE; what starts with no dash, and everything
 * behind --, is a trace; - alone is standard input. A command knows only the options of its
 * groups and, when it is an analysis, the parameters of registry.def (_ written as -), so --to
 * means the end of a window for an analysis and a form for export. Behind the program that record
 * shall run every word is the program's.
 *
 * A name that is not there is answered with the nearest one that is, by edit distance: the
 * usual slip is one letter. Values are checked here, by kind, and never again. */
#include "cli/options.h"

#include <stdlib.h>

#include "base/fmt.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "cli/commands.h"

static const option_info OPTIONS[] = {
#define OPTION(field, name, letter, kind, value, groups, help) \
    {name, letter, KIND_OF_##kind, value, groups, MSG_##help, offsetof(options, field)},
#include "cli/options.def"
#undef OPTION
};

static const command COMMANDS[] = {
#define COMMAND(name, arguments, groups, help) \
    {#name, arguments, groups, MSG_##help, cmd_##name, NULL},
#include "cli/commands.def"
#undef COMMAND
};

#define N_OPTIONS (sizeof OPTIONS / sizeof *OPTIONS)
#define N_COMMANDS (sizeof COMMANDS / sizeof *COMMANDS)
#define MAX_NAME 40 /* longest name the edit distance looks at */

const option_info *option_at(uint32_t i) {
    return i < N_OPTIONS ? &OPTIONS[i] : NULL;
}

bool command_at(uint32_t i, command *out) {
    uint32_t n = 0;
    for (const analysis_info *a; (a = registry_analysis(n)) != NULL; n++) {
        if (n != i) continue;
        *out = (command){.name = a->name,
                         .arguments = "TRACE",
                         .groups = ANALYSIS_GROUPS,
                         .help = a->help,
                         .run = strcmp(a->name, "top") == 0 ? cmd_top : cmd_analysis,
                         .analysis = a};
        return true;
    }
    if (i - n >= N_COMMANDS) return false;
    *out = COMMANDS[i - n];
    return true;
}

bool command_find(str name, command *out) {
    command c;
    for (uint32_t i = 0; command_at(i, &c); i++) {
        if (!str_eq(str_of(c.name), name)) continue;
        *out = c;
        return true;
    }
    return false;
}

/* ---- the nearest name -------------------------------------------------------------------- */

/* Letters to change, add, drop or swap to make b of a. */
static size_t edit_distance(str a, str b) {
    size_t rows[3][MAX_NAME + 1] = {{0}};
    if (a.n > MAX_NAME || b.n > MAX_NAME) return SIZE_MAX;
    for (size_t j = 0; j <= b.n; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t best = above[j - 1] + (a.p[i - 1] != b.p[j - 1]);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            bool swap = i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1];
            if (swap && before[j - 2] + 1 < best) best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[a.n % 3][b.n];
}

typedef struct {
    str wanted;
    const char *name;
    size_t distance;
} nearest;

static void offer(nearest *n, const char *name) {
    size_t d = edit_distance(n->wanted, str_of(name));
    size_t allowed = 1 + n->wanted.n / 4;
    if (d <= allowed && d < n->distance) {
        n->name = name;
        n->distance = d;
    }
}

const char *command_near(str name) {
    nearest n = {.wanted = name, .distance = SIZE_MAX};
    command c;
    for (uint32_t i = 0; command_at(i, &c); i++) offer(&n, c.name);
    return n.name;
}

/* ---- finding an option ------------------------------------------------------------------- */

static bool belongs(const option_info *i, const command *c) {
    return (i->groups & c->groups) != 0;
}

static const option_info *find_option(const command *c, str name) {
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const option_info *o = &OPTIONS[i];
        bool letter = name.n == 1 && o->letter != 0 && o->letter == name.p[0];
        if (belongs(o, c) && (letter || str_eq(str_of(o->name), name))) return o;
    }
    return NULL;
}

/* --group-by is the parameter group_by. */
static bool is_spelling(const char *param, str name) {
    str p = str_of(param);
    if (p.n != name.n) return false;
    for (size_t i = 0; i < p.n; i++)
        if (name.p[i] != (p.p[i] == '_' ? '-' : p.p[i])) return false;
    return true;
}

/* Other spellings of parameters, of the programs an analysis replaces. */
static const struct {
    const char *analysis, *given, *param;
} SPELLINGS[] = {{"top", "t", "top"}, {"top", "wiki", "confluence"}};

static const param_info *find_param(const command *c, str name) {
    const param_info *p = NULL;
    if (!c->analysis) return NULL;
    for (size_t i = 0; i < sizeof SPELLINGS / sizeof *SPELLINGS; i++)
        if (strcmp(SPELLINGS[i].analysis, c->analysis->name) == 0 &&
            str_eq(name, str_of(SPELLINGS[i].given)))
            name = str_of(SPELLINGS[i].param);
    for (uint32_t i = 0; (p = registry_param(c->analysis->name, i)) != NULL; i++)
        if (is_spelling(p->name, name)) return p;
    return NULL;
}

static status fail_unknown(const command *c, str given, str name, error *err) {
    nearest n = {.wanted = name, .distance = SIZE_MAX};
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (belongs(&OPTIONS[i], c)) offer(&n, OPTIONS[i].name);
    char spelled[MAX_NAME + 3] = "--";
    if (c->analysis) {
        const param_info *p;
        for (uint32_t i = 0; (p = registry_param(c->analysis->name, i)) != NULL; i++)
            offer(&n, p->name);
    }
    if (!n.name)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_UNKNOWN_OPTION, arg_cstr("command", c->name),
             arg_text("name", given));
    for (size_t i = 0; i < MAX_NAME && n.name[i]; i++)
        spelled[i + 2] = n.name[i] == '_' ? '-' : n.name[i];
    FAIL(err, ERR_ARG, NOPOS, MSG_CLI_UNKNOWN_OPTION_NEAR, arg_cstr("command", c->name),
         arg_text("name", given), arg_cstr("near", spelled));
}

/* ---- values ------------------------------------------------------------------------------ */

static bool list_has(const char *list, str one) {
    param_info p = {.values = list};
    return registry_allows(&p, one);
}

/* 3 or 3..5; 3.. and ..5 are open. */
static bool parse_steps(str s, option_STEPS *out) {
    option_STEPS v = {ABSENT_I64, ABSENT_I64};
    size_t dots = str_find(s, STR(".."), 0);
    str first = dots == SIZE_MAX ? s : str_n(s.p, dots);
    str last = dots == SIZE_MAX ? s : str_from(s, dots + 2);
    if (first.n != 0 && !str_to_i64(first, &v.first)) return false;
    if (last.n != 0 && !str_to_i64(last, &v.last)) return false;
    if (first.n == 0 && last.n == 0) return false;
    if (first.n == 0) v.first = 0;
    if (last.n == 0) v.last = INT64_MAX;
    if (v.first > v.last) return false;
    *out = v;
    return true;
}

static status set_value(const option_info *i, str given, str value, options *o, error *err) {
    void *field = (char *)o + i->offset;
    uint16_t wrong = MSG_NONE;
    int64_t number;
    switch (i->kind) {
    case KIND_OF_FLAG: *(bool *)field = true; break;
    case KIND_OF_TEXT:
    case KIND_OF_FILE: *(str *)field = value; break;
    case KIND_OF_CHOICE:
        if (!list_has(i->value, value))
            wrong = MSG_CLI_BAD_CHOICE;
        else
            *(str *)field = value;
        break;
    case KIND_OF_COUNT:
        if (!str_to_i64(value, &number) || number < 0)
            wrong = MSG_CLI_BAD_NUMBER;
        else
            *(int64_t *)field = number;
        break;
    case KIND_OF_SIZE:
        if (!fmt_parse_bytes(value, field)) wrong = MSG_CLI_BAD_SIZE;
        break;
    case KIND_OF_TIME:
        if (!fmt_parse_duration(value, field)) wrong = MSG_CLI_BAD_TIME;
        break;
    case KIND_OF_STEPS:
        if (!parse_steps(value, field)) wrong = MSG_CLI_BAD_STEPS;
        break;
    }
    if (wrong == MSG_NONE) return OK;
    FAIL(err, ERR_ARG, NOPOS, wrong, arg_text("name", given), arg_text("value", value),
         arg_cstr("choices", i->value));
}

static status set_param(const param_info *p, str given, str value, options *o, error *err) {
    if (!registry_allows(p, value))
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_BAD_CHOICE, arg_text("name", given),
             arg_text("value", value), arg_cstr("choices", p->values));
    uint32_t at = 0;
    bool again = strcmp(p->type, "TEXT") == 0; /* of the others the last one counts */
    while (at < o->n_params && (again || o->params[at].param != p)) at++;
    if (at == sizeof o->params / sizeof *o->params)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_TOO_MANY, arg_text("name", given));
    o->params[at].param = p;
    o->params[at].value = value;
    if (at == o->n_params) o->n_params++;
    return OK;
}

/* ---- the walk over argv ------------------------------------------------------------------ */

typedef struct {
    int argc, at;
    char **argv;
} words_left;

/* The option at w->at, with its value, which may be the next word. */
static status parse_option(words_left *w, options *o, error *err) {
    str word = str_of(w->argv[w->at++]);
    bool is_long = str_starts(word, STR("--"));
    size_t equals = is_long ? str_find(word, STR("="), 0) : SIZE_MAX;
    str given = equals == SIZE_MAX ? word : str_n(word.p, equals);
    str name = str_from(given, is_long ? 2 : 1);
    str value = equals == SIZE_MAX ? STR_NONE : str_from(word, equals + 1);
    if (is_long && name.n == 1) name.n = 0; /* --o is not -o */
    const option_info *i = find_option(&o->command, name);
    if (!i && !is_long && name.n > 1) { /* -oFILE */
        i = find_option(&o->command, str_n(name.p, 1));
        if (i) value = str_from(name, 1);
    }
    const param_info *p = i ? NULL : find_param(&o->command, name);
    if (!i && !p) return fail_unknown(&o->command, given, name, err);
    bool flag = i ? i->kind == KIND_OF_FLAG : strcmp(p->type, "FLAG") == 0;
    if (flag && value.p)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_VALUE_UNWANTED, arg_text("name", given));
    if (!flag && !value.p) {
        if (w->at == w->argc)
            FAIL(err, ERR_ARG, NOPOS, MSG_CLI_VALUE_MISSING, arg_text("name", given),
                 arg_cstr("value", i ? i->value : p->values));
        value = str_of(w->argv[w->at++]);
    }
    if (!i) return set_param(p, given, flag ? STR("yes") : value, o, err);
    return set_value(i, given, value, o, err);
}

static void clear_fields(options *o) {
    for (size_t i = 0; i < N_OPTIONS; i++) {
        char *field = (char *)o + OPTIONS[i].offset;
        switch (OPTIONS[i].kind) {
        case KIND_OF_COUNT:
        case KIND_OF_SIZE:
        case KIND_OF_TIME: *(int64_t *)(void *)field = ABSENT_I64; break;
        case KIND_OF_STEPS:
            *(option_STEPS *)(void *)field = (option_STEPS){ABSENT_I64, ABSENT_I64};
            break;
        default: break;
        }
    }
}

/* What one option alone cannot know. */
static status check_together(const options *o, error *err) {
    bool window = o->from != ABSENT_I64 || o->to != ABSENT_I64;
    if (window && o->step.first != ABSENT_I64)
        FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_STEP_AND_TIME);
    int64_t end = o->to != ABSENT_I64 ? o->to : o->until;
    if (end != ABSENT_I64 && max_i64(o->from, 0) >= end)
        FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_EMPTY_WINDOW);
    return OK;
}

status options_parse(arena *a, int argc, char **argv, options *o, error *err) {
    words_left w = {.argc = argc, .argv = argv};
    bool only_traces = false;
    clear_fields(o);
    o->traces = ARENA_ARRAY(a, const char *, (size_t)argc + 1);
    if (!o->traces) FAIL_MEMORY(err);
    while (w.at < w.argc) {
        const char *word = w.argv[w.at];
        if (only_traces || word[0] != '-' || word[1] == '\0') {
            o->traces[o->n_traces++] = word;
            w.at++;
            only_traces |= (o->command.groups & RECORD) != 0; /* the rest is the program's */
        } else if (strcmp(word, "--") == 0) {
            only_traces = true;
            w.at++;
        } else {
            TRY(parse_option(&w, o, err));
        }
        if (o->lang.p) (void)lang_of(o->lang, &o->words); /* for the next error's words */
    }
    if (o->logdir.p) o->traces[o->n_traces++] = o->logdir.p;
    return check_together(o, err);
}

/* Variables that MindSpore's users set for its profiler stand for options that were not given. */
static void add_from_environment(const options *o, params *made) {
    static const struct {
        const char *analysis, *param, *variable;
    } known[] = {{"steps", "fp_point", "PROFILING_FP_START"},
                 {"steps", "fp_point", "FP_POINT"},
                 {"steps", "bp_point", "PROFILING_BP_END"},
                 {"steps", "bp_point", "BP_POINT"},
                 {"steps", "end_point", "PROFILING_ITER_END"}};
    for (size_t i = 0; o->command.analysis && i < sizeof known / sizeof *known; i++) {
        const char *value = getenv(known[i].variable);
        bool given =
            strcmp(o->command.analysis->name, known[i].analysis) != 0 || !value || !*value;
        for (uint32_t k = 0; k < made->n_extra; k++)
            given |= str_eq(made->extra[k].name, str_of(known[i].param));
        if (given || made->n_extra == sizeof made->extra / sizeof *made->extra) continue;
        made->extra[made->n_extra].name = str_of(known[i].param);
        made->extra[made->n_extra++].value = str_of(value);
    }
}

params options_params(const options *o, pool *p) {
    params made = {.from_ns = o->from,
                   .to_ns = o->to,
                   .first_step = o->step.first,
                   .last_step = o->step.last,
                   .pool = p};
    for (uint32_t i = 0; i < o->n_params; i++) {
        str name = str_of(o->params[i].param->name);
        if (str_eq(name, STR("group_by"))) {
            (void)group_of(o->params[i].value, &made.group);
            continue;
        }
        made.extra[made.n_extra].name = name;
        made.extra[made.n_extra++].value = o->params[i].value;
    }
    add_from_environment(o, &made);
    return made;
}

form options_form(const options *o) {
    form f = FORM_TEXT;
    if (o->format.p) (void)form_of(o->format, &f);
    return o->json ? FORM_JSON : f;
}
