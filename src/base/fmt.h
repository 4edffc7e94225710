/* fmt.h: numbers as people write them, and back.
 *
 * Measured values are cut to three significant digits; a space comes before the unit; sizes use
 * powers of 1000 (kB, MB, GB), as disks, networks and bandwidths do. Exact values are for
 * machines and come from buf_add_i64 and buf_add_f64. */
#ifndef BASE_FMT_H
#define BASE_FMT_H

#include "base/buf.h"

/* 812 ns, 15.3 µs, 12.5 ms, 3.21 s, 16.7 min, 2.78 h. */
void fmt_duration(buf *b, int64_t ns);
/* 812 B, 1.50 KiB, 24.0 MiB, 140 GiB: as the page, and as the allocators count. */
void fmt_bytes(buf *b, int64_t bytes);
/* 1,234,567. */
void fmt_count(buf *b, int64_t n);
/* 0…1 as 34.0 %; "-" for NaN and infinities. */
void fmt_share(buf *b, double share);
/* 0.00123, 12.5, 1,230: three significant digits, whole numbers kept whole; "-" for NaN and
 * infinities. */
void fmt_real(buf *b, double v);
/* unit "B": 1.25 GB/s; "FLOP": 3.40 TFLOP/s; "": 812 /s. */
void fmt_rate(buf *b, double per_s, const char *unit);

/* Values on a command line; all of s or nothing, digits exactly, halves of a unit rounded up.
 * false when it is anything else, negative or too large: *out is untouched.
 * Duration: 12.5ms, 3s, 200us, 200 µs, 1.5min, 2h, 800ns; only 0 needs no unit. */
bool fmt_parse_duration(str s, int64_t *out_ns);
/* Size: 4G, 512M, 1.5GB, 64k, 100 (bytes); 4GiB, 512Mi for powers of 1024. Case is ignored. */
bool fmt_parse_bytes(str s, int64_t *out_bytes);

/* Control characters (also U+0080…9F, which some terminals obey), direction overrides and
 * characters that are not seen come from names in files we did not write. How one of them is
 * written on a terminal: \x1b, \u202e, \U000e0041; returns its length, 0 when c is harmless. */
enum { FMT_ESCAPED = 12 };
size_t fmt_escape(char out[FMT_ESCAPED], uint32_t c);
/* Appends UTF-8 text with those replaced; `keep` lists the ones to leave, "\n\t" for
 * example. */
void fmt_safe(buf *out, str s, const char *keep);
/* Appends a text as a field of CSV (RFC 4180: in quotes where it must be), as it is except for
 * what a terminal or a spreadsheet would obey: control characters are written out, and what
 * would be a formula begins with an apostrophe. */
void fmt_csv(buf *out, str s);

#endif
