/* device_peaks.h: what the device of a trace can do at most (device_peaks.def), or what the
 * user says it can. */
#ifndef ANALYSE_DEVICE_PEAKS_H
#define ANALYSE_DEVICE_PEAKS_H

#include "analyse/analysis.h"
#include "analyse/lexicon.h"

typedef struct {
    str device;              /* as the row is called; {NULL, 0}: it is in no row */
    double vector[N_DTYPES]; /* operations per second by kernel_type; 0 = not known */
    double matrix[N_DTYPES];
    double bytes_per_s; /* 0 = not known */
    bool given;         /* at least one figure is the user's */
} device_peaks;

/* By the name of a device, "NVIDIA A100-SXM4-80GB". */
device_peaks device_peaks_of(str name);
/* For a trace: its first device, then the parameters peak_tflops ("bf16=989,fp32=67") and
 * peak_gbps. ERR_ARG when one of them cannot be read. */
status device_peaks_find(const trace *t, const params *p, device_peaks *out,
                         error *err) MUST_USE;

/* Operations per second; 0 = not known. */
double device_peak(const device_peaks *p, kernel_type type, bool matrix);
/* "bf16"; NULL when the type is not known. */
const char *kernel_type_word(kernel_type type);

#endif
