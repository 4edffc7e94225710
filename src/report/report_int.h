/* report_int.h: what the files of a report share. */
#ifndef REPORT_INT_H
#define REPORT_INT_H

#include <pthread.h>

#include "report/report.h"
#include "report/report_store_int.h"
#include "serve/service.h"

enum { REPORT_MOST_WORKERS = 8, REPORT_MOST_RUNS = 2 };

/* A run that is inside, and the workers whose own answers are. */
typedef struct {
    str name;
    str workers[REPORT_MOST_WORKERS];
    uint32_t n_workers;
    bool job; /* has ranks that are asked together */
} report_run;

typedef struct {
    const report_options *o;
    arena arena;
    service service;
    report_store store;
    report_run runs[REPORT_MOST_RUNS];
    str names[REPORT_MOST_RUNS]; /* of the runs, for the list of them */
    uint32_t n_runs;
    uint64_t done, total; /* questions */
    error no_steps;       /* what is wrong about --detail, for the first trace; OK: nothing */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t woken;
    uint64_t wakes; /* how often the catalogue reported something */
} report;

/* Who is asked: a worker of a run, or all ranks of it ("*"). */
typedef struct {
    str run, worker;
} asked_of;

/* Reads a target and waits until its traces are there; request_end in any case. What cannot be
 * read fails; what the question alone makes impossible is an answer, too, and is in the reply:
 * then *answered. */
status report_open(report *r, str target, request_ctx *x, bool *answered, error *err) MUST_USE;
/* The whole answer, or why there is none, is in x->reply. */
status report_ask(report *r, str target, request_ctx *x, error *err) MUST_USE;
/* "/api/v1/QUESTION&run=…&worker=…", into the arena; STR_NONE: no memory. */
str report_target(report *r, asked_of about, str asked);
/* A name as a value in such an address; p == NULL: out of memory. */
str report_escaped(report *r, str name);
/* Asks in both languages, or once when there are no words in it, and keeps the answers. */
status report_keep(report *r, asked_of about, str key, str asked, bool words,
                   error *err) MUST_USE;
void report_tell(report *r); /* one question more is done */

/* What views show about all ranks of a run. It grows with the ranks, so it is asked first, as
 * the pictures are: then its size is known. */
status report_rank_answers(report *r, const report_run *run, error *err) MUST_USE;
/* Everything else about a run that the views show. */
status report_answers(report *r, const report_run *run, error *err) MUST_USE;
uint64_t report_count(const report *r, const report_run *run); /* of questions */
/* Lanes, tape and pictures of a worker; they are made first, so that their size is known. */
status report_pictures(report *r, asked_of about, error *err) MUST_USE;
/* Sums under the timeline, and the slices of the steps that are wanted whole. */
status report_timeline(report *r, asked_of about, error *err) MUST_USE;

/* What the size of the answers about a worker depends on. */
typedef struct {
    uint64_t n_names, n_events; /* without Python frames, of which few are in tables */
    uint64_t n_steps;
    uint64_t n_slices, n_cuts; /* of the steps that are wanted whole; answers cut to them */
} report_extent;
/* How often the questions are asked again, cut to steps. */
uint64_t report_count_cuts(const report *r, const trace *t);
status report_measure(report *r, asked_of about, report_extent *out, error *err) MUST_USE;

/* A folder with the two runs of a comparison, by links; the texts are valid until the arena is
 * reset. */
typedef struct {
    str folder, names[2];
    str runs[2];             /* as the service will call them */
    str links[2], places[2]; /* what is to be removed */
} report_folder;

/* report_place_gone in any case. */
status report_place(arena *a, const report_options *o, report_folder *f, error *err) MUST_USE;
void report_place_gone(const report_folder *f);

/* The file, as a whole or not at all. */
status report_file(report *r, uint64_t *bytes, error *err) MUST_USE;
uint64_t report_page_bytes(void);

#endif
