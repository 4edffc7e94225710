/* log_times.c: times of logs, whatever they are counted in.
 *
 * A time of day of this century is about 1.7e9 s, 1.7e12 ms, 1.7e15 us or 1.7e18 ns, so that
 * its size says its unit; smaller numbers are seconds of some other clock. */
#include "ingest/serving/log_times.h"

#include <math.h>

#include "base/num.h"
#include "ingest/util/csv_cells.h"

static const int64_t LIMIT = (int64_t)1 << 61;

str log_time_unit(str name, time_unit *unit) {
    static const struct {
        str end;
        time_unit unit;
    } words[] = {
        {STR("unixnano"), UNIT_NANO},      {STR("nanoseconds"), UNIT_NANO},
        {STR("nanos"), UNIT_NANO},         {STR("ns"), UNIT_NANO},
        {STR("microseconds"), UNIT_MICRO}, {STR("micros"), UNIT_MICRO},
        {STR("us"), UNIT_MICRO},           {STR("milliseconds"), UNIT_MILLI},
        {STR("millis"), UNIT_MILLI},       {STR("msec"), UNIT_MILLI},
        {STR("ms"), UNIT_MILLI},           {STR("seconds"), UNIT_SECONDS},
        {STR("secs"), UNIT_SECONDS},       {STR("sec"), UNIT_SECONDS},
        {STR("s"), UNIT_SECONDS},
    };
    for (size_t i = 0; i < N_OF(words); i++) {
        if (name.n <= words[i].end.n || !str_ends(name, words[i].end)) continue;
        *unit = words[i].unit;
        return str_n(name.p, name.n - words[i].end.n);
    }
    return name;
}

/* Powers of ten from a unit to nanoseconds. */
static int scale_of(time_unit unit) {
    static const int scales[] = {[UNIT_OF_SIZE] = 9,
                                 [UNIT_SECONDS] = 9,
                                 [UNIT_MILLI] = 6,
                                 [UNIT_MICRO] = 3,
                                 [UNIT_NANO] = 0};
    return scales[unit];
}

static time_unit unit_of_size(double v) {
    v = fabs(v);
    return v >= 1e17   ? UNIT_NANO
           : v >= 1e14 ? UNIT_MICRO
           : v >= 1e11 ? UNIT_MILLI
                       : UNIT_SECONDS;
}

/* ---- ISO 8601 ---------------------------------------------------------------------------- */

/* Two or four digits at *at, which moves past them. */
static bool take_digits(str s, size_t *at, size_t n, int *out) {
    int v = 0;
    if (*at + n > s.n) return false;
    for (size_t i = 0; i < n; i++) {
        char c = s.p[*at + i];
        if (c < '0' || c > '9') return false;
        v = 10 * v + (c - '0');
    }
    *at += n;
    *out = v;
    return true;
}

static bool take_byte(str s, size_t *at, char c) {
    bool is = *at < s.n && s.p[*at] == c;
    *at += is;
    return is;
}

/* Days from 1970-01-01 in the Gregorian calendar, with years that begin in March. */
static int days_of(int year, int month, int day) {
    year -= month <= 2;
    int cycle = year / 400, in_cycle = year - cycle * 400;
    int in_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return cycle * 146097 + in_cycle * 365 + in_cycle / 4 - in_cycle / 100 + in_year - 719468;
}

/* The rest of a time: digits after the point as ns, then the zone as seconds ahead of UTC. */
static bool take_rest(str s, size_t at, int64_t *ns, int *ahead) {
    int hours = 0, minutes = 0;
    *ns = *ahead = 0;
    if (at < s.n && (s.p[at] == '.' || s.p[at] == ',')) {
        size_t from = ++at;
        int64_t unit = 100000000;
        for (; at < s.n && s.p[at] >= '0' && s.p[at] <= '9'; at++, unit /= 10)
            *ns = add_i64(*ns, mul_i64(unit, s.p[at] - '0'));
        if (at == from) return false;
    }
    if (at == s.n || take_byte(s, &at, 'Z') || take_byte(s, &at, 'z')) return at == s.n;
    bool east = s.p[at] == '+';
    if (!east && s.p[at] != '-') return false;
    at++;
    if (!take_digits(s, &at, 2, &hours)) return false;
    (void)take_byte(s, &at, ':');
    if (at < s.n && !take_digits(s, &at, 2, &minutes)) return false;
    *ahead = (east ? 1 : -1) * (hours * 3600 + minutes * 60);
    return at == s.n;
}

static bool iso_moment(str s, int64_t *out) {
    int year, month, day, hour, minute, second, ahead;
    int64_t ns;
    size_t at = 0;
    if (!take_digits(s, &at, 4, &year) || !take_byte(s, &at, '-') ||
        !take_digits(s, &at, 2, &month) || !take_byte(s, &at, '-') ||
        !take_digits(s, &at, 2, &day) || !(take_byte(s, &at, 'T') || take_byte(s, &at, ' ')) ||
        !take_digits(s, &at, 2, &hour) || !take_byte(s, &at, ':') ||
        !take_digits(s, &at, 2, &minute) || !take_byte(s, &at, ':') ||
        !take_digits(s, &at, 2, &second) || !take_rest(s, at, &ns, &ahead))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > 31 || year < 1970 || year > 2200)
        return false;
    int in_day = hour * 3600 + minute * 60 + second - ahead;
    *out = seconds_ns(add_i64(mul_i64(days_of(year, month, day), 86400), in_day), ns);
    return true;
}

bool log_moment(str value, time_unit unit, int64_t *ns) {
    double size;
    int64_t v;
    if (!str_to_f64(value, &size)) {
        if (!iso_moment(value, &v)) return false;
    } else {
        if (unit == UNIT_OF_SIZE) unit = unit_of_size(size);
        if (!scaled_i64(value, scale_of(unit), &v)) return false;
    }
    if (v < 0 || v >= LIMIT) return false;
    *ns = v;
    return true;
}

bool log_duration(str value, time_unit unit, int64_t *ns) {
    int64_t v;
    if (!scaled_i64(value, scale_of(unit), &v) || v < 0 || v >= LIMIT) return false;
    *ns = v;
    return true;
}
