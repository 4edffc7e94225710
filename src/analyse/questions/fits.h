/* fits.h: what the parts of the question `fits` share. */
#ifndef ANALYSE_FITS_H
#define ANALYSE_FITS_H

#include "analyse/fits/fit_model.h"
#include "analyse/questions/memory_split.h"

typedef struct {
    fit_run runs[2]; /* in the order in which they were given */
    int n_runs;
    const fit_run *run; /* the one that is replayed; NULL: no memory was recorded */
    const memory_device *device;
    fit_model model;
    fit_question ask;
    fit_answer free, limited; /* as if there were no limit, and with it */
    int64_t largest;          /* batch that fits; 0: none or not asked, INT64_MAX: any */
    uint8_t part;             /* the largest of the peak: memory_part */
    int64_t part_bytes;
    arena *arena;
    answer *out;
} fits_question;

/* Fits only if what is free is given back first, or its range is over the limit. */
bool fits_is_tight(const fits_question *f, const fit_answer *x);

/* All tables; sets the largest part. */
status fits_write_tables(fits_question *f, const params *p, error *err) MUST_USE;

#endif
