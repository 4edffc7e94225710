/* options.c: reading the command line by the tables options.def, commands.def and registry.def.
 *
 * An option is --name VALUE, --name=VALUE or -x VALUE; what starts with no dash, and everything
 * after --, is a trace; - alone is standard input. A command knows only the options of its
 * groups and, when it is an analysis, the parameters of registry.def, so --to means the end of
 * a window for an analysis and a form for export. After the program that record shall run every
 * word is the program's.
 *
 * A name that does not exist is answered with the nearest one that does (base/nearest.h).
 * Values are read by question/, as from every other door. */
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/message_ids_columns.h"
#include "base/nearest.h"
#include "base/num.h"
#include "cli/commands.h"

static const term OPTIONS[] = {
#define ROW(at, name, letter, kind, value, groups, help) \
    {name, VALUE_##kind, value, groups, MSG_##help, letter, offsetof(options, at)},
#define OPTION ROW
#define ASKED_ROW(field, name, kind, value, help, groups) \
    ROW(question.field, name, 0, kind, value, groups, help)
#define ASKED(field, groups) TERM_##field(ASKED_ROW, groups)
#define RENAMED_ROW(field, name, kind, value, help, other, groups, words) \
    ROW(question.field, other, 0, kind, value, groups, words)
#define ASKED_AS(field, name, groups, help) TERM_##field(RENAMED_ROW, name, groups, help)
#include "cli/options.def"
};

static const command COMMANDS[] = {
#define COMMAND(name, arguments, groups, help) \
    {#name, arguments, groups, MSG_##help, cmd_##name, NULL},
#include "cli/commands.def"
};

static const struct {
    const char *name, *arguments;
    uint32_t groups;
    int (*run)(options *o);
} OWN[] = {
#define OF_ANALYSIS(name, arguments, groups, run) {#name, arguments, groups, run},
#include "cli/commands.def"
};

static const command_group GROUPS[] = {
#define GROUP(title, commands, example) {MSG_##title, commands, example},
#include "cli/groups.def"
#undef GROUP
};

#define N_OPTIONS N_OF(OPTIONS)
#define N_COMMANDS N_OF(COMMANDS)
#define LONGEST_OPTION 64

const term *option_at(uint32_t i) {
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
                         .run = cmd_analysis,
                         .analysis = a};
        for (size_t k = 0; k < N_OF(OWN); k++) {
            if (strcmp(a->name, OWN[k].name) != 0) continue;
            out->run = OWN[k].run;
            out->arguments = OWN[k].arguments;
            out->groups |= OWN[k].groups;
        }
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

const command_group *command_group_at(uint32_t i) {
    return i < N_OF(GROUPS) ? &GROUPS[i] : NULL;
}

/* The i-th word of a list; empty after the last. */
static str nth_word(const char *list, uint32_t i) {
    str rest = str_of(list);
    for (;; i--) {
        str word = str_cut(&rest, STR(" "));
        if (i == 0 || !word.n) return word;
    }
}

static bool is_listed(const char *name) {
    for (size_t g = 0; g < N_OF(GROUPS); g++) {
        str word;
        for (uint32_t i = 0; (word = nth_word(GROUPS[g].commands, i)).n; i++)
            if (str_eq(word, str_of(name))) return true;
    }
    return false;
}

bool command_in_group(const command_group *g, uint32_t i, command *out) {
    uint32_t n = 0;
    for (str name; (name = nth_word(g->commands, n)).n; n++)
        if (n == i) return command_find(name, out);
    if (g->title != MSG_CLI_GROUP_TIME) return false;
    for (uint32_t k = 0; command_at(k, out) && out->analysis; k++)
        if (!is_listed(out->name) && n++ == i) return true;
    return false;
}

status command_unknown(str name, bool is_path, error *err) {
    name_hint near = hint_for(name);
    command c;
    for (uint32_t i = 0; command_at(i, &c); i++) hint_offer(&near, str_of(c.name));
    FAIL(err, ERR_ARG, NOPOS, MSG_CLI_UNKNOWN_COMMAND, arg_text("name", name), hint_near(&near),
         is_path ? arg_int("file", 1) : (arg){.name = "file", .type = ARG_NONE});
}

/* ---- finding an option ------------------------------------------------------------------- */

static const term *find_option(const command *c, str name) {
    for (size_t i = 0; name.n == 1 && i < N_OPTIONS; i++)
        if ((OPTIONS[i].groups & c->groups) && OPTIONS[i].letter == name.p[0])
            return &OPTIONS[i];
    return term_find(OPTIONS, N_OPTIONS, c->groups, name);
}

/* Other spellings of parameters, of the programs an analysis replaces. */
static const struct {
    const char *analysis, *given, *param;
} SPELLINGS[] = {{"top", "t", "top"}, {"top", "wiki", "confluence"}};

static const param_info *find_param(const command *c, str name) {
    if (!c->analysis) return NULL;
    for (size_t i = 0; i < N_OF(SPELLINGS); i++)
        if (strcmp(SPELLINGS[i].analysis, c->analysis->name) == 0 &&
            str_eq(name, str_of(SPELLINGS[i].given)))
            name = str_of(SPELLINGS[i].param);
    return registry_find_param(c->analysis->name, name);
}

static status fail_unknown(const options *o, str given, str name, error *err) {
    const command *c = &o->command;
    name_hint near = hint_for(name);
    if (o->is_implied) hint_offer(&near, STR("version")); /* tacho --versio */
    char spelled[LONGEST_OPTION + 3] = "";
    const param_info *p;
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (OPTIONS[i].groups & c->groups) hint_offer(&near, str_of(OPTIONS[i].name));
    for (uint32_t i = 0; c->analysis && (p = registry_param(c->analysis->name, i)); i++)
        hint_offer(&near, str_of(p->name));
    if (near.near.n) snprintf(spelled, sizeof spelled, "--%.*s", STR_ARG(near.near));
    for (char *s = spelled; *s; s++)
        if (*s == '_') *s = '-';
    FAIL(err, ERR_ARG, NOPOS, MSG_CLI_UNKNOWN_OPTION, arg_cstr("command", c->name),
         arg_text("name", given), arg_cstr("near", spelled));
}

/* ---- the walk over argv ------------------------------------------------------------------ */

typedef struct {
    int argc, at;
    char **argv;
} words_left;

/* Forms that people ask `export` for and another line gives. No C library of Debian writes
 * Parquet. */
static const struct {
    const char *form, *line;
} MADE_OTHERWISE[] = {
    {"parquet",
     "tacho export TRACE --to arrow | python3 -c \"import sys, pyarrow as a, "
     "pyarrow.parquet as p; p.write_table(a.ipc.open_stream(sys.stdin.buffer).read_all(), "
     "'slice.parquet')\""},
    {"md", "tacho overview TRACE --format md >FILE.md"},
    {"html", "tacho report TRACE -o FILE.html"},
    {"pdf", "tacho report TRACE -o FILE.html && chromium --headless --virtual-time-budget=9000 "
            "--print-to-pdf=FILE.pdf FILE.html"},
};

static status check_export_form(str wanted, error *err) {
    for (size_t i = 0; i < N_OF(MADE_OTHERWISE); i++)
        if (str_eq(wanted, str_of(MADE_OTHERWISE[i].form)))
            FAIL(err, ERR_ARG, NOPOS, MSG_EXPORT_OTHERWISE, arg_text("name", wanted),
                 arg_cstr("line", MADE_OTHERWISE[i].line));
    return OK;
}

/* The option at w->at, with its value, which may be the next word. */
static status parse_option(words_left *w, options *o, error *err) {
    str word = str_of(w->argv[w->at++]);
    bool is_long = str_starts(word, STR("--"));
    size_t equals = is_long ? str_find(word, STR("="), 0) : SIZE_MAX;
    str given = equals == SIZE_MAX ? word : str_n(word.p, equals);
    str name = str_from(given, is_long ? 2 : 1);
    str value = equals == SIZE_MAX ? STR_NONE : str_from(word, equals + 1);
    if (is_long && name.n == 1) name.n = 0; /* --o is not -o */
    const term *t = find_option(&o->command, name);
    if (!t && !is_long && name.n > 1) { /* -oFILE */
        t = find_option(&o->command, str_n(name.p, 1));
        if (t) value = str_from(name, 1);
    }
    const param_info *p = t ? NULL : find_param(&o->command, name);
    if (!t && !p) return fail_unknown(o, given, name, err);
    bool flag = (t ? t->kind : p->kind) == VALUE_FLAG;
    if (flag && value.p)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_VALUE_UNWANTED, arg_text("name", given));
    if (!flag && !value.p) {
        if (w->at == w->argc)
            FAIL(err, ERR_ARG, NOPOS, MSG_CLI_VALUE_MISSING, arg_text("name", given),
                 arg_cstr("value", t ? t->value : p->values));
        value = str_of(w->argv[w->at++]);
    }
    spelling as = {given, " "};
    if (flag) value = STR("yes");
    if (t && t->offset == offsetof(options, export_to)) TRY(check_export_form(value, err));
    return t ? term_set(t, &as, value, o, err)
             : params_add(&o->question.params, p, &as, value, err);
}

/* Variables that MindSpore's users set for its profiler stand for options that were not
 * given. */
static status add_from_environment(options *o, error *err) {
    static const struct {
        const char *analysis, *param, *variable;
    } known[] = {{"steps", "fp_point", "PROFILING_FP_START"},
                 {"steps", "fp_point", "FP_POINT"},
                 {"steps", "bp_point", "PROFILING_BP_END"},
                 {"steps", "bp_point", "BP_POINT"},
                 {"steps", "end_point", "PROFILING_ITER_END"}};
    params *to = &o->question.params;
    for (size_t i = 0; o->command.analysis && i < N_OF(known); i++) {
        const char *value = getenv(known[i].variable);
        spelling as = {str_of(known[i].variable), "="};
        const param_info *p =
            registry_find_param(o->command.analysis->name, str_of(known[i].param));
        bool wanted = strcmp(o->command.analysis->name, known[i].analysis) == 0 && p;
        if (!wanted || !value || !*value || param_text(to, str_of(p->name)).p) continue;
        TRY(params_add(to, p, &as, str_of(value), err));
    }
    return OK;
}

/* ---- TRACE@STEPS of a comparison --------------------------------------------------------- */

/* Cuts a path at its last @ where steps follow, and no file of the whole name exists. *steps:
 * what follows, or untouched. */
static status cut_path(arena *a, str *path, str *steps, error *err) {
    const char *at = path->n ? strrchr(path->p, '@') : NULL;
    step_range range;
    if (!at || at == path->p || access(path->p, F_OK) == 0) return OK;
    if (!value_parse(VALUE_STEPS, NULL, str_of(at + 1), &range)) return OK;
    str cut = arena_str(a, str_n(path->p, (size_t)(at - path->p)));
    if (!cut.p) FAIL_MEMORY(err);
    *path = cut;
    *steps = str_of(at + 1);
    return OK;
}

/* Steps of --step as a text. */
static str steps_text(arena *a, step_range s) {
    if (steps_are_all(s)) return STR("all");
    if (s.first == OPEN_START) return arena_printf(a, "..%lld", (long long)s.last);
    if (s.last == OPEN_END) return arena_printf(a, "%lld..", (long long)s.first);
    return arena_printf(a, "%lld..%lld", (long long)s.first, (long long)s.last);
}

/* A@STEPS B@STEPS: the steps of each side; a side without takes those of --step. */
static status cut_steps(arena *a, options *o, error *err) {
    static const spelling as = {STR("@"), ""};
    params *p = &o->question.params;
    const analysis_info *is = o->command.analysis;
    const param_info *to = is ? registry_find_param(is->name, STR("other_step")) : NULL;
    str first = STR_NONE, second = STR_NONE;
    if (!to || !o->n_traces) return OK;
    for (uint32_t i = 0; i < o->n_traces && i < 2; i++) {
        str path = str_of(o->traces[i]);
        TRY(cut_path(a, &path, i ? &second : &first, err));
        o->traces[i] = path.p;
    }
    for (uint32_t i = 0; i < p->n_extra; i++)
        if (str_eq(p->extra[i].name, STR("other")))
            TRY(cut_path(a, &p->extra[i].value, &second, err));
    if (first.n && !second.n && !param_text(p, STR("other_step")).n)
        second = steps_text(a, o->question.step);
    if (first.n) (void)value_parse(VALUE_STEPS, NULL, first, &o->question.step);
    return second.n ? params_add(p, to, &as, second, err) : OK;
}

/* Do words after the first that is not an option belong to a program? */
static bool runs_a_program(const options *o) {
    return (o->command.groups & (RECORD | PROVE_OF)) != 0;
}

/* The language first, so that every error is in it. Of `record` only what comes before its
 * program counts, which the walk below finds out. */
static void find_language(int argc, char **argv, options *o) {
    bool is_record = runs_a_program(o);
    for (int i = 0; !is_record && i < argc && strcmp(argv[i], "--") != 0; i++) {
        str word = str_of(argv[i]);
        if (str_starts(word, STR("--lang="))) (void)lang_of(str_from(word, 7), &o->words);
        if (str_eq(word, STR("--lang")) && i + 1 < argc)
            (void)lang_of(str_of(argv[i + 1]), &o->words);
    }
}

status options_parse(arena *a, int argc, char **argv, options *o, error *err) {
    words_left w = {.argc = argc, .argv = argv};
    bool only_traces = false;
    question_begin(&o->question);
    terms_clear(OPTIONS, N_OPTIONS, o);
    find_language(argc, argv, o);
    o->traces = ARENA_ARRAY(a, const char *, (size_t)argc + 1);
    if (!o->traces) FAIL_MEMORY(err);
    while (w.at < w.argc) {
        const char *word = w.argv[w.at];
        if (only_traces || word[0] != '-' || word[1] == '\0') {
            o->traces[o->n_traces++] = word;
            w.at++;
            only_traces |= runs_a_program(o); /* the rest is the program's */
        } else if (strcmp(word, "--") == 0) {
            only_traces = true;
            w.at++;
        } else {
            TRY(parse_option(&w, o, err));
        }
        if (o->lang.p) (void)lang_of(o->lang, &o->words); /* for the next error's words */
    }
    if (o->logdir.p) o->traces[o->n_traces++] = o->logdir.p;
    TRY(add_from_environment(o, err));
    TRY(cut_steps(a, o, err));
    return question_end(&o->question, "--", err);
}

uint64_t options_memory_bytes(const options *o) {
    return o->memory_limit == ABSENT_I64 || o->memory_limit < 0 ? 0 : (uint64_t)o->memory_limit;
}

params options_params(const options *o, pool *p) {
    params made = o->question.params;
    made.pool = p;
    return made;
}

form options_form(const options *o) {
    form f = FORM_TEXT;
    if (o->format.p) (void)form_of(o->format, &f);
    return o->json ? FORM_JSON : f;
}
