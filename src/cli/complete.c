/* complete.c: completion of a command line, from the same tables that its parser reads.
 *
 * A walk over the words finds the command, the traces and the option whose value is being
 * written. Names of commands and options come from the tables; columns and tables from the
 * registry; runs, workers and spans from the folder that is already on the line, steps from a
 * trace that is open at once. What cannot be known is left to the shell, or not completed. */
#include "cli/complete.h"

#include "base/message_ids_cli.h"
#include "io/remote.h"
#include "query/sql_columns.h"
#include "session/cache.h"
#include "session/discover.h"
#include "store/file.h"

enum { MOST_STEPS = 200 };

typedef struct {
    arena *a;
    lang lang;
    buf *out;
    command command;
    str traces[2]; /* the first two words that are not options */
    uint32_t n_traces;
    str run, worker; /* of --run and --worker */
    str word;        /* what is being completed, without "--name=" */
    str before;      /* "--name=" where the word has it */
} completion;

/* An option or a parameter of the command. */
typedef struct {
    const char *name;
    value_kind kind;
    const char *values;
    uint16_t help;
} taken;

/* ---- offering ---------------------------------------------------------------------------- */

static void put_help(buf *out, str help) {
    for (size_t i = 0; i < help.n; i++)
        buf_add_byte(out, help.p[i] == '\n' || help.p[i] == '\t' ? ' ' : help.p[i]);
}

static void offer(completion *c, str value, str help) {
    if (!str_starts(value, c->word) || memchr(value.p, '\n', value.n)) return;
    buf_add_str(c->out, c->before);
    buf_add_str(c->out, value);
    buf_add_byte(c->out, '\t');
    put_help(c->out, help);
    buf_add_byte(c->out, '\n');
}

static void offer_message(completion *c, const char *value, uint16_t help) {
    offer(c, str_of(value), str_of(text_get(help, c->lang)));
}

static void offer_files(completion *c) {
    buf_add_cstr(c->out, ":files\n");
}

static void offer_commands(completion *c) {
    const command_group *g;
    command one;
    for (uint32_t i = 0; (g = command_group_at(i)) != NULL; i++)
        for (uint32_t k = 0; command_in_group(g, k, &one); k++)
            offer_message(c, one.name, one.help);
}

static void offer_choices(completion *c, const char *list) {
    for (str rest = str_of(list); rest.n;) {
        offer(c, str_cut(&rest, STR("|")), STR_NONE);
    }
}

/* ---- options ----------------------------------------------------------------------------- */

/* The i-th option of the command, its own parameters first; false after the last. */
static bool taken_at(const command *of, uint32_t i, taken *out) {
    const param_info *p;
    const term *t;
    for (uint32_t k = 0; of->analysis && (p = registry_param(of->analysis->name, k)); k++) {
        if (i-- != 0) continue;
        *out = (taken){p->name, p->kind, p->values, p->help};
        return true;
    }
    for (uint32_t k = 0; (t = option_at(k)) != NULL; k++) {
        if (!(t->groups & of->groups) || i-- != 0) continue;
        *out = (taken){t->name, t->kind, t->value, t->help};
        return true;
    }
    return false;
}

static bool letter_is(const command *of, char letter, const char *name) {
    const term *t;
    for (uint32_t k = 0; (t = option_at(k)) != NULL; k++)
        if ((t->groups & of->groups) && t->letter == letter && strcmp(t->name, name) == 0)
            return true;
    return false;
}

/* --name or -x; false when the command has none such. */
static bool find_taken(const command *of, str word, taken *out) {
    bool is_long = str_starts(word, STR("--"));
    for (uint32_t i = 0; taken_at(of, i, out); i++) {
        if (is_long && value_same_name(str_of(out->name), str_from(word, 2))) return true;
        if (!is_long && word.n == 2 && letter_is(of, word.p[1], out->name)) return true;
    }
    return false;
}

static void offer_options(completion *c) {
    taken t;
    for (uint32_t i = 0; taken_at(&c->command, i, &t); i++) {
        buf name = {0};
        buf_add_cstr(&name, "--");
        for (const char *p = t.name; *p; p++) buf_add_byte(&name, *p == '_' ? '-' : *p);
        offer(c, buf_str(&name), str_of(text_get(t.help, c->lang)));
        if (!buf_ok(&name)) c->out->failed = true;
        buf_fini(&name);
    }
}

/* ---- what is in the traces --------------------------------------------------------------- */

/* The folder or file on the line; a URL or a pipe is not read for this. */
static bool find_runs(completion *c, str path, catalogue *out) {
    error ignored;
    str whole = path.n ? arena_str(c->a, path) : STR_NONE;
    if (!whole.p || remote_is_url(whole.p) || str_eq(whole, STR("-"))) return false;
    return run_discover(c->a, whole.p, out, &ignored) == OK;
}

static const run_entry *chosen_run(const completion *c, const catalogue *in) {
    for (uint32_t i = 0; i < in->n_runs; i++)
        if (str_eq(in->runs[i].name, c->run)) return &in->runs[i];
    return in->n_runs == 1 ? in->runs : NULL;
}

static const worker_entry *chosen_worker(const completion *c, const run_entry *run) {
    for (uint32_t i = 0; run && i < run->n_workers; i++)
        if (str_eq(run->workers[i].name, c->worker)) return &run->workers[i];
    return run && !c->worker.n ? run->workers : NULL;
}

static void offer_runs(completion *c, str path) {
    catalogue found;
    if (!find_runs(c, path, &found)) return;
    for (uint32_t i = 0; i < found.n_runs; i++) offer(c, found.runs[i].name, STR_NONE);
}

static void offer_workers(completion *c, str path) {
    catalogue found;
    if (!find_runs(c, path, &found)) return;
    const run_entry *run = chosen_run(c, &found);
    for (uint32_t i = 0; run && i < run->n_workers; i++)
        offer(c, run->workers[i].name, str_of(role_word(run->workers[i].role)));
}

static void offer_spans(completion *c, str path) {
    catalogue found;
    if (!find_runs(c, path, &found)) return;
    const worker_entry *w = chosen_worker(c, chosen_run(c, &found));
    for (uint32_t i = 0; w && i < w->n_spans; i++) {
        str number = arena_printf(c->a, "%u", w->spans[i].number);
        offer(c, number, w->spans[i].own.n ? w->spans[i].own : w->spans[i].stamp);
    }
}

/* A trace that opens in the same time whatever its size: ours, or in the cache. */
static trace *open_at_once(const span_entry *s) {
    trace *t = NULL;
    error ignored;
    if (file_open(s->path.p, STR_NONE, &t, &ignored) == OK) return t;
    cache_key key = cache_key_of(s->path.p);
    if (key.n && s->process) cache_key_extend(&key, "process", (uint64_t)s->process);
    return key.n ? cache_find(&key, TRACE_TABLE(step)) : NULL;
}

static void offer_steps(completion *c, str path) {
    catalogue found;
    error ignored;
    if (!find_runs(c, path, &found)) return;
    const worker_entry *w = chosen_worker(c, chosen_run(c, &found));
    trace *t = w && w->n_spans ? open_at_once(&w->spans[w->n_spans - 1]) : NULL;
    if (t && trace_require(t, TRACE_TABLE(step), &ignored) == OK)
        for (uint32_t i = 1; i < t->step.n && i <= MOST_STEPS; i++)
            offer(c, arena_printf(c->a, "%lld", (long long)t->step.number[i]), STR_NONE);
    trace_release(t);
}

/* ---- columns and tables ------------------------------------------------------------------ */

static bool is_offered_before(const char *analysis, const result_info *of, uint32_t i,
                              const char *name) {
    const result_info *r;
    const field_info *f;
    for (uint32_t k = 0; (r = registry_result(analysis, k)) != NULL; k++) {
        for (uint32_t j = 0; (f = registry_field(r, j)) != NULL && (r != of || j < i); j++)
            if (strcmp(f->name, name) == 0) return true;
        if (r == of) return false;
    }
    return false;
}

static void offer_columns_of(completion *c, const char *analysis) {
    const result_info *r;
    const field_info *f;
    for (uint32_t k = 0; (r = registry_result(analysis, k)) != NULL; k++)
        for (uint32_t i = 0; (f = registry_field(r, i)) != NULL; i++)
            if (!is_offered_before(analysis, r, i, f->name)) offer_message(c, f->name, f->help);
}

/* COLUMN[:asc|:desc], several separated by commas: the last one is completed. */
static void offer_order(completion *c) {
    size_t comma = str_rfind_byte(c->word, ','), colon = str_rfind_byte(c->word, ':');
    size_t from = comma == SIZE_MAX ? 0 : comma + 1;
    if (colon != SIZE_MAX && colon >= from) from = colon + 1;
    c->before = arena_printf(c->a, "%.*s%.*s", STR_ARG(c->before), (int)from, c->word.p);
    if (from) c->word = str_from(c->word, from);
    if (colon != SIZE_MAX && from == colon + 1) {
        offer_choices(c, "asc|desc");
    } else if (c->command.analysis) {
        offer_columns_of(c, c->command.analysis->name);
    } else { /* summary */
        offer_columns_of(c, "operators");
        offer_columns_of(c, "kernels");
    }
}

/* Those of a trace, for `export`. */
static void offer_trace_tables(completion *c) {
    sql_table *tables = ARENA_ARRAY(c->a, sql_table, N_TABLES);
    error ignored;
    if (!tables || sql_tables_fill(tables, c->a, &ignored) != OK) return;
    for (int i = 0; i < N_TABLES; i++) offer(c, str_of(tables[i].name), STR_NONE);
}

static void offer_tables(completion *c) {
    const result_info *r;
    if (c->command.groups & EXPORT) offer_trace_tables(c);
    if (!c->command.analysis) return;
    for (uint32_t k = 0; (r = registry_result(c->command.analysis->name, k)) != NULL; k++)
        offer(c, str_of(r->name), str_of(text_title(r->name, c->lang)));
}

/* ---- values ------------------------------------------------------------------------------ */

typedef enum { OF_RUNS, OF_WORKERS, OF_SPANS, OF_STEPS, OF_TABLES, OF_FILES } value_source;

/* Texts that are names of something, and of which trace on the line. */
static const struct {
    const char *name;
    value_source source;
    uint32_t trace;
} SOURCES[] = {
    {"run", OF_RUNS, 0},         {"worker", OF_WORKERS, 0},
    {"span", OF_SPANS, 0},       {"other_worker", OF_WORKERS, 1},
    {"other_step", OF_STEPS, 1}, {"table", OF_TABLES, 0},
    {"other", OF_FILES, 0},      {"base_runs", OF_FILES, 0},
};

static void offer_named(completion *c, const char *name) {
    for (size_t i = 0; i < N_OF(SOURCES); i++) {
        if (strcmp(SOURCES[i].name, name) != 0) continue;
        str path = c->traces[SOURCES[i].trace];
        switch (SOURCES[i].source) {
        case OF_RUNS: offer_runs(c, path); break;
        case OF_WORKERS: offer_workers(c, path); break;
        case OF_SPANS: offer_spans(c, path); break;
        case OF_STEPS: offer_steps(c, path); break;
        case OF_TABLES: offer_tables(c); break;
        case OF_FILES: offer_files(c); break;
        }
    }
}

static void offer_value(completion *c, const taken *t) {
    switch (t->kind) {
    case VALUE_CHOICE: offer_choices(c, t->values); break;
    case VALUE_FILE: offer_files(c); break;
    case VALUE_ORDER: offer_order(c); break;
    case VALUE_STEPS:
        if (strcmp(t->name, "steps") != 0) offer_steps(c, c->traces[0]); /* not of record */
        break;
    case VALUE_TEXT: offer_named(c, t->name); break;
    default: break;
    }
}

/* ---- the line ---------------------------------------------------------------------------- */

static void remember(completion *c, const taken *t, str value) {
    if (strcmp(t->name, "run") == 0) c->run = value;
    if (strcmp(t->name, "worker") == 0) c->worker = value;
    if (strcmp(t->name, "logdir") == 0 && !c->n_traces) c->traces[c->n_traces++] = value;
}

/* Reads the words before the last; *open: the option whose value the last one is. True when the
 * last word belongs to a program that is to be recorded, or comes after --. */
static bool walk(completion *c, const str *words, uint32_t n, taken *open, bool *is_open) {
    *is_open = false;
    for (uint32_t i = 0; i + 1 < n; i++) {
        size_t equals = str_find(words[i], STR("="), 0);
        str name = equals == SIZE_MAX ? words[i] : str_n(words[i].p, equals);
        taken t;
        if (str_eq(words[i], STR("--"))) return true;
        if (words[i].n < 2 || words[i].p[0] != '-') {
            if (c->command.groups & RECORD) return true;
            if (c->n_traces < N_OF(c->traces)) c->traces[c->n_traces++] = words[i];
            continue;
        }
        if (!find_taken(&c->command, name, &t) || t.kind == VALUE_FLAG) continue;
        if (equals != SIZE_MAX) {
            remember(c, &t, str_from(words[i], equals + 1));
        } else if (i + 2 < n) {
            remember(c, &t, words[++i]);
        } else {
            *open = t;
            *is_open = true;
        }
    }
    return false;
}

/* A word that is neither an option nor its value. */
static void offer_argument(completion *c) {
    if (strcmp(c->command.name, "help") == 0)
        offer_commands(c);
    else if (strcmp(c->command.name, "completions") == 0)
        offer_choices(c, c->command.arguments);
    else
        offer_files(c);
}

static void complete_last(completion *c, const str *words, uint32_t n) {
    taken t;
    bool is_open;
    bool is_free = walk(c, words, n, &t, &is_open);
    size_t equals = str_find(c->word, STR("="), 0);
    if (is_free) {
        offer_files(c);
    } else if (is_open) {
        offer_value(c, &t);
    } else if (str_starts(c->word, STR("--")) && equals != SIZE_MAX) {
        str name = str_n(c->word.p, equals);
        c->before = str_n(c->word.p, equals + 1);
        c->word = str_from(c->word, equals + 1);
        if (find_taken(&c->command, name, &t)) offer_value(c, &t);
    } else if (c->word.n && c->word.p[0] == '-' && !str_eq(c->word, STR("-"))) {
        offer_options(c);
    } else {
        offer_argument(c);
    }
}

void complete_words(arena *a, const str *words, uint32_t n, lang l, buf *out) {
    completion c = {.a = a, .lang = l, .out = out};
    if (n == 0) return;
    c.word = words[n - 1];
    if (n == 1) {
        offer_commands(&c);
        offer_choices(&c, "--help|--version");
        if (!buf_ok(out) || out->n == 0) offer_files(&c);
        return;
    }
    bool is_named = command_find(words[0], &c.command);
    if (!is_named && !command_find(STR("overview"), &c.command)) return;
    complete_last(&c, words + is_named, n - is_named);
}

/* ---- splitting --------------------------------------------------------------------------- */

/* Copies one word without its quotes; what follows it by *line. */
static str take_word(str *line, char *to) {
    size_t n = 0, i = 0;
    char quote = '\0';
    for (; i < line->n && (quote || !strchr(" \t", line->p[i])); i++) {
        char b = line->p[i];
        if (b == quote && quote) {
            quote = '\0';
        } else if (!quote && (b == '\'' || b == '"')) {
            quote = b;
        } else {
            if (b == '\\' && quote != '\'' && i + 1 < line->n) b = line->p[++i];
            to[n++] = b;
        }
    }
    *line = str_from(*line, i);
    return str_n(to, n);
}

str *complete_split(arena *a, str line, uint32_t *n) {
    str *words = ARENA_ARRAY(a, str, line.n / 2 + 2);
    char *bytes = arena_alloc(a, line.n + 1);
    *n = 0;
    if (!words || !bytes) return NULL;
    for (;;) {
        bool blank = *n == 0;
        for (; line.n && strchr(" \t", line.p[0]); line = str_from(line, 1)) blank = true;
        if (!line.n) {
            if (blank) words[(*n)++] = str_n("", 0);
            return words;
        }
        words[*n] = take_word(&line, bytes);
        bytes += words[(*n)++].n;
    }
}
