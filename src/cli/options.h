/* options.h: the command line as values: which command, its options, its traces. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "analyse/registry.h"
#include "present/present.h"

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
       ANALYSIS_GROUPS = CHOOSE | CUT | SHAPE | ROWS | FORM | COMMON,
};

typedef enum {
    KIND_OF_FLAG,
    KIND_OF_TEXT,
    KIND_OF_FILE,
    KIND_OF_COUNT,
    KIND_OF_SIZE,
    KIND_OF_TIME,
    KIND_OF_STEPS,
    KIND_OF_CHOICE,
} option_kind;

/* What each kind of option leaves in `options`; not given: false, {NULL,0}, ABSENT_I64. */
typedef bool option_FLAG;
typedef str option_TEXT, option_FILE, option_CHOICE;
typedef int64_t option_COUNT, option_SIZE, option_TIME;
typedef struct {
    int64_t first, last;
} option_STEPS;

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
#define OPTION(field, name, letter, kind, value, groups, help) option_##kind field;
#include "cli/options.def"
#undef OPTION
    lang words; /* of --lang or the environment */
    uint32_t n_traces;
    const char **traces; /* arguments that are no options; --logdir adds one */
    uint32_t n_params;
    struct {
        const param_info *param;
        str value;
    } params[32];
};

/* A row of options.def. */
typedef struct {
    const char *name;
    char letter;
    option_kind kind;
    const char *value;
    uint32_t groups;
    uint16_t help;
    size_t offset; /* of its field in options */
} option_info;

/* The i-th option, NULL behind the last. */
const option_info *option_at(uint32_t i);
/* The i-th command, those of commands.def behind the analyses; false behind the last. */
bool command_at(uint32_t i, command *out);
bool command_find(str name, command *out);
/* The name most like this one, NULL when none is near. */
const char *command_near(str name);

/* Reads argv behind the command's name into *o, whose command and words are set; texts are
 * borrowed from argv. ERR_ARG with a sentence when it cannot be understood. */
status options_parse(arena *a, int argc, char **argv, options *o, error *err) MUST_USE;

/* What of the command line the analyses understand. */
params options_params(const options *o, pool *p);
form options_form(const options *o);

#endif
