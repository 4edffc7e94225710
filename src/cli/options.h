/* options.h: the command line as values: which command, its options, its traces. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "analyse/registry.h"
#include "present/present.h"
#include "question/question.h"

enum { /* groups of options, joined by | in commands.def and options.def */
       CHOOSE = 1,
       CUT = 2,
       SHAPE = 4,
       ROWS = 8,
       FORM = 16,
       EXPORT = 32,
       COMMON = 64,
       WORDS = 128,
       SUMMARY = 256,
       SERVE = 512,
       RECORD = 1024,
       ATTACH = 2048,
       DEMO = 4096,
       REDUCE = 8192,
       WATCH = 16384,
       CHECK = 32768,
       BASELINE = 65536,
       QUERY = 131072,
       REPORT = 262144,
       PROVE_OF = 524288,
       ANALYSIS_GROUPS = CHOOSE | CUT | SHAPE | ROWS | FORM | COMMON,
};

typedef struct options options;

typedef struct {
    const char *name, *arguments;
    uint32_t groups;
    uint16_t help;
    int (*run)(options *o);        /* exit status; NULL for an analysis */
    const analysis_info *analysis; /* NULL for another command */
} command;

struct options {
    command command;
    question question;
#define OPTION(field, name, letter, kind, value, groups, help) value_##kind field;
#include "cli/options.def"
    lang words;             /* of --lang or the environment */
    const char *built_from; /* the commit; NULL or empty: not known */
    const char *within;     /* real path of the only folder that may be read; NULL: all may */
    bool files_only;        /* a pipe is not waited for, though it was named */
    bool is_implied;        /* no command was named: a path means its overview */
    uint32_t n_traces;
    const char **traces; /* arguments that are not options; --logdir adds one */
};

/* The i-th option, its offset in `options`; NULL after the last. */
const term *option_at(uint32_t i);
/* The i-th command, those of commands.def after the analyses; false after the last. */
bool command_at(uint32_t i, command *out);
bool command_find(str name, command *out);
/* The commands as help lists them: the i-th group, NULL after the last; and the i-th command of
 * a group, false after the last. */
typedef struct {
    uint16_t title;
    const char *commands, *example;
} command_group;
const command_group *command_group_at(uint32_t i);
bool command_in_group(const command_group *g, uint32_t i, command *out);
/* ERR_ARG: no such command, with the one that was likely meant. is_path: it could have been the
 * path of a trace as well. */
status command_unknown(str name, bool is_path, error *err);

/* Reads argv after the command's name into *o, whose command and words are set; texts are
 * borrowed from argv. ERR_ARG with a sentence when it cannot be understood. */
status options_parse(arena *a, int argc, char **argv, options *o, error *err) MUST_USE;

/* What of the command line the analyses understand. */
params options_params(const options *o, pool *p);
form options_form(const options *o);
/* --memory-limit; 0: the usual one. */
uint64_t options_memory_bytes(const options *o);

#endif
