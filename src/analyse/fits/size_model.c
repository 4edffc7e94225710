/* size_model.c: the size of an allocation as a function of the batch and the length. */
#include "analyse/fits/size_model.h"

#include <math.h>

#include "base/num.h"

static double powers(run_size at, uint8_t batch_power, uint8_t length_power) {
    return pow((double)at.batch, batch_power) * pow((double)at.length, length_power);
}

static void add_term(size_law *law, double factor, uint8_t batch_power, uint8_t length_power) {
    law->term[law->n_terms++] = (size_term){factor, batch_power, length_power};
}

static size_law begin_law(run_size at, int64_t bytes) {
    return (size_law){.at_batch = at.batch, .at_length = at.length, .seen = bytes};
}

size_law size_law_of_one(run_size at, int64_t bytes, size_guess guess) {
    size_law law = begin_law(at, bytes);
    double scale = powers(at, guess.batch_power, guess.length_power);
    add_term(&law, (double)bytes / scale, guess.batch_power, guess.length_power);
    law.assumed_batch = law.assumed_length = !guess.known;
    return law;
}

/* What differs between two recordings: the batch, the length, or both as one product. */
typedef struct {
    bool batch, length;
    double x[2];
    size_guess guess;
    run_size at; /* of the second one */
} variable;

/* factor × x^power, with the assumed powers of what did not differ. */
static void add_power(size_law *law, const variable *v, double factor, uint8_t power) {
    bool grows = power > 0;
    uint8_t other_batch = grows ? v->guess.batch_power : 0;
    uint8_t other_length = grows ? v->guess.length_power : 0;
    uint8_t batch = v->batch ? power : other_batch, length = v->length ? power : other_length;
    /* A factor that holds what did not differ is divided by it. */
    run_size rest = {v->batch ? 1 : v->at.batch, v->length ? 1 : v->at.length};
    add_term(law, factor / powers(rest, v->batch ? 0 : batch, v->length ? 0 : length), batch,
             length);
}

static void fit_two(size_law *law, const variable *v, const int64_t bytes[2], int64_t grain) {
    double s0 = (double)bytes[0], s1 = (double)bytes[1], x0 = v->x[0], x1 = v->x[1];
    double slope = (s1 - s0) / (x1 - x0), constant = s0 - slope * x0;
    double square = s1 / (x1 * x1);
    if (fabs(s1 * x0 / x1 - s0) < (double)grain) {
        add_power(law, v, s1 / x1, 1);
    } else if (fabs(square * x0 * x0 - s0) < (double)grain) {
        add_power(law, v, square, 2);
    } else if (slope < 0 || constant >= 0) {
        add_power(law, v, constant, 0);
        add_power(law, v, slope, 1);
    } else {
        double second = (s1 / x1 - s0 / x0) / (x1 - x0), first = s0 / x0 - second * x0;
        if (first < 0) { /* steeper than a square: as steep as one from the larger size on */
            first = 0;
            second = square;
        }
        add_power(law, v, first, 1);
        add_power(law, v, second, 2);
    }
    law->step = grain > 1 ? (double)grain / fabs(x1 - x0) : 0;
}

/* Both differ: the simplest product of powers that gives both sizes; what shapes say counts
 * first. */
static bool fit_product(size_law *law, const run_size at[2], const int64_t bytes[2],
                        size_guess guess, int64_t grain) {
    static const uint8_t POWERS[][2] = {{0, 0}, {1, 0}, {1, 1}, {1, 2}, {0, 1}, {0, 2}, {2, 0}};
    for (size_t i = 0; i <= N_OF(POWERS); i++) {
        if (i == 0 && !guess.known) continue;
        uint8_t b = i ? POWERS[i - 1][0] : guess.batch_power;
        uint8_t l = i ? POWERS[i - 1][1] : guess.length_power;
        double factor = (double)bytes[1] / powers(at[1], b, l);
        if (fabs(factor * powers(at[0], b, l) - (double)bytes[0]) >= (double)grain) continue;
        add_term(law, factor, b, l);
        return true;
    }
    return false;
}

/* The same size in both: it does not grow with what differs. */
static void add_same(size_law *law, const variable *v, int64_t bytes) {
    uint8_t b = v->batch || !v->guess.known ? 0 : v->guess.batch_power;
    uint8_t l = v->length || !v->guess.known ? 0 : v->guess.length_power;
    add_term(law, (double)bytes / powers(v->at, b, l), b, l);
}

size_law size_law_of_two(const run_size at[2], const int64_t bytes[2], size_guess guess,
                         int64_t grain) {
    bool batch = at[0].batch != at[1].batch, length = at[0].length != at[1].length;
    variable v = {.batch = batch, .length = length, .guess = guess, .at = at[1]};
    if (!batch && !length) return size_law_of_one(at[1], max_i64(bytes[0], bytes[1]), guess);
    size_law law = begin_law(at[1], bytes[1]);
    for (int i = 0; i < 2; i++)
        v.x[i] = (batch ? (double)at[i].batch : 1) * (length ? (double)at[i].length : 1);
    if (batch && length) {
        if (fit_product(&law, at, bytes, guess, grain)) return law;
        if (v.x[0] == v.x[1]) return size_law_of_one(at[1], bytes[1], guess);
    }
    if (bytes[0] == bytes[1])
        add_same(&law, &v, bytes[1]);
    else
        fit_two(&law, &v, bytes, grain);
    law.assumed_batch = !batch && !guess.known;
    law.assumed_length = !length && !guess.known;
    return law;
}

static double value_at(const size_law *law, run_size at) {
    double sum = 0;
    for (int i = 0; i < law->n_terms; i++)
        sum += law->term[i].factor *
               powers(at, law->term[i].batch_power, law->term[i].length_power);
    return fmax(0, sum);
}

int64_t size_law_at(const size_law *law, run_size at) {
    return round_i64(value_at(law, at));
}

void size_law_range(const size_law *law, run_size at, int64_t *least, int64_t *most) {
    run_size as_seen = at;
    if (law->assumed_batch) as_seen.batch = law->at_batch;
    if (law->assumed_length) as_seen.length = law->at_length;
    double x = value_at(law, at), y = value_at(law, as_seen);
    double far = fabs((double)at.batch - (double)law->at_batch) *
                 fmax(1, (double)at.length / (double)law->at_length);
    double unsure = law->step * far;
    *least = round_i64(fmax(0, fmin(x, y) - unsure));
    *most = round_i64(fmax(x, y) + unsure);
}

void size_law_growth(const size_law *law, uint8_t *batch_power, uint8_t *length_power) {
    *batch_power = *length_power = 0;
    for (int i = 0; i < law->n_terms; i++) {
        if (law->term[i].factor <= 0) continue;
        if (law->term[i].batch_power > *batch_power) *batch_power = law->term[i].batch_power;
        if (law->term[i].length_power > *length_power)
            *length_power = law->term[i].length_power;
    }
}
