/* size_model.h: the size of an allocation as a function of the batch and the length.
 *
 *     bytes(batch, length) = sum of factor × batch^p × length^q
 *
 * Two recordings of different sizes say it, with at most two terms:
 *
 *   the same size in both           a constant
 *   in proportion                   factor × x         x: what differs, batch, length or both
 *   less than in proportion         constant + factor × x
 *   more                            factor × x + factor × x², and x² alone where that is exact
 *
 * One recording says nothing of the kind: then what operators' input shapes say is assumed. */
#ifndef ANALYSE_SIZE_MODEL_H
#define ANALYSE_SIZE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t batch, length; /* > 0; 1 where it is not known */
} run_size;

typedef struct {
    double factor;
    uint8_t batch_power, length_power;
} size_term;

typedef struct {
    size_term term[2];
    int n_terms;
    bool assumed_batch, assumed_length; /* that power was assumed, not seen in two sizes */
    double step;                        /* bytes that the factor is unsure by, for each x */
    int64_t at_batch, at_length;        /* where it was seen */
    int64_t seen;                       /* bytes there */
} size_law;

/* What is assumed where recordings do not say. */
typedef struct {
    uint8_t batch_power, length_power;
    bool known; /* from shapes; else it is a guess */
} size_guess;

/* From one recording. */
size_law size_law_of_one(run_size at, int64_t bytes, size_guess guess);
/* From two. `grain`: sizes were recorded rounded up to it (1: exact). */
size_law size_law_of_two(const run_size at[2], const int64_t bytes[2], size_guess guess,
                         int64_t grain);

/* Bytes, at least 0. */
int64_t size_law_at(const size_law *law, run_size at);
/* The least and the most it can be: an assumed power could be 0 or what was assumed, a rounded
 * size is off by less than the grain. */
void size_law_range(const size_law *law, run_size at, int64_t *least, int64_t *most);
/* The powers of the term that grows most. */
void size_law_growth(const size_law *law, uint8_t *batch_power, uint8_t *length_power);

#endif
