/* device_peaks.c: what the device of a trace can do at most.
 *
 * A device that is in no row has no peaks, and then no share is shown: a guess would be read as
 * a fact. */
#include "analyse/cost/device_peaks.h"

#include "base/message_ids_cli.h"
#include "base/num.h"

typedef struct {
    const char *words, *name;
    double fp64, matrix64, fp32, matrix32, tf32, bf16, fp16, fp8, fp4, int8, gb_per_s;
} peak_row;

static const peak_row peak_rows[] = {
#define DEVICE(words, name, ...) {words, name, __VA_ARGS__},
#include "analyse/cost/device_peaks.def"
};

static bool is_word_byte(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Is the word in the name, whole? */
static bool has_word(str name, str word) {
    for (size_t at = str_find_nocase(name, word, 0); at != SIZE_MAX;
         at = str_find_nocase(name, word, at + 1)) {
        size_t end = at + word.n;
        if ((!at || !is_word_byte(name.p[at - 1])) &&
            (end == name.n || !is_word_byte(name.p[end])))
            return true;
    }
    return false;
}

static bool row_fits(const peak_row *r, str name) {
    str words = str_of(r->words);
    while (words.n) {
        str one = str_cut(&words, STR(" "));
        bool unwanted = one.p[0] == '!';
        if (has_word(name, unwanted ? str_from(one, 1) : one) == unwanted) return false;
    }
    return true;
}

static device_peaks peaks_of_row(const peak_row *r) {
    const double tera = 1e12;
    device_peaks p = {.device = str_of(r->name), .bytes_per_s = r->gb_per_s * 1e9};
    p.vector[DTYPE_FP64] = r->fp64 * tera;
    p.vector[DTYPE_FP32] = p.vector[DTYPE_TF32] = r->fp32 * tera;
    p.vector[DTYPE_BF16] = p.vector[DTYPE_FP16] = p.vector[DTYPE_FP8] = r->fp32 * tera;
    p.vector[DTYPE_UNKNOWN] = r->fp32 * tera; /* integers, and types that were not recorded */
    p.matrix[DTYPE_FP64] = r->matrix64 * tera;
    p.matrix[DTYPE_FP32] = r->matrix32 * tera;
    p.matrix[DTYPE_TF32] = r->tf32 * tera;
    p.matrix[DTYPE_BF16] = r->bf16 * tera;
    p.matrix[DTYPE_FP16] = r->fp16 * tera;
    p.matrix[DTYPE_FP8] = r->fp8 * tera;
    p.matrix[DTYPE_FP4] = r->fp4 * tera;
    p.matrix[DTYPE_INT] = r->int8 * tera;
    return p;
}

device_peaks device_peaks_of(str name) {
    for (size_t i = 0; name.n && i < N_OF(peak_rows); i++)
        if (row_fits(&peak_rows[i], name)) return peaks_of_row(&peak_rows[i]);
    return (device_peaks){.bytes_per_s = 0};
}

static const char *const type_words[N_DTYPES] = {NULL,   "fp4",  "fp8",  "int8", "bf16",
                                                 "fp16", "tf32", "fp32", "fp64"};

const char *kernel_type_word(kernel_type type) {
    return type < N_DTYPES ? type_words[type] : NULL;
}

static status fail_peak(const params *p, str name, error *err) {
    FAIL(err, ERR_ARG, NOPOS, MSG_CLI_BAD_PEAK, arg_text("name", param_written(p, name)),
         arg_text("value", param_text(p, name)));
}

/* One of "bf16=989,fp32=67". What a user gives for fp32 and fp64 is the vector unit's and,
 * where the device computes these on matrix cores, theirs. */
static bool take_peak(str one, device_peaks *out) {
    size_t equals = str_find(one, STR("="), 0);
    double v;
    if (equals == SIZE_MAX || !str_to_f64(str_trim(str_from(one, equals + 1)), &v) ||
        !(v > 0) || v > 1e9)
        return false;
    str word = str_trim(str_n(one.p, equals));
    for (int i = DTYPE_FP4; i < N_DTYPES; i++) {
        if (!str_eq_nocase(word, str_of(type_words[i]))) continue;
        bool wide = i == DTYPE_FP32 || i == DTYPE_FP64;
        if (wide) out->vector[i] = v * 1e12;
        if (i == DTYPE_FP32)
            out->vector[DTYPE_UNKNOWN] = out->vector[DTYPE_BF16] = out->vector[DTYPE_FP16] =
                out->vector[DTYPE_FP8] = out->vector[DTYPE_TF32] = v * 1e12;
        if (!wide || out->matrix[i] > 0) out->matrix[i] = v * 1e12;
        return true;
    }
    return false;
}

static status take_given(const params *p, device_peaks *out, error *err) {
    str list = param_text(p, STR("peak_tflops")), rate = param_text(p, STR("peak_gbps"));
    str rest = list;
    double v;
    while (rest.n) {
        if (!take_peak(str_cut(&rest, STR(",")), out))
            return fail_peak(p, STR("peak_tflops"), err);
    }
    if (rate.n) {
        if (!str_to_f64(rate, &v) || !(v > 0) || v > 1e9)
            return fail_peak(p, STR("peak_gbps"), err);
        out->bytes_per_s = v * 1e9;
    }
    out->given = list.n || rate.n;
    return OK;
}

status device_peaks_find(const trace *t, const params *p, device_peaks *out, error *err) {
    device_peaks found = {.bytes_per_s = 0};
    TRY(trace_require(t, TRACE_TABLE(device) | TRACE_TABLE(kernel), err));
    /* A trace may name a device that did nothing: what ran is not held against its peaks. */
    for (uint32_t i = 1; i < t->device.n && !found.device.n && t->kernel.n > 1; i++)
        found = device_peaks_of(trace_str(t, t->device.name[i]));
    TRY(take_given(p, &found, err));
    *out = found;
    return OK;
}

double device_peak(const device_peaks *p, kernel_type type, bool matrix) {
    return type >= N_DTYPES ? 0 : matrix ? p->matrix[type] : p->vector[type];
}
