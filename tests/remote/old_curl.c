/* old_curl.c: a libcurl as old systems have it. It knows no option that came after 7.74, writes down
 * those it is given (OLD_CURL_LOG), and never reaches anybody. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { OK = 0, COULD_NOT_RESOLVE = 6, UNKNOWN_OPTION = 48, POINTERS = 10000, NEWEST = 304 };

static void note(int option, long number) {
    FILE *log = fopen(getenv("OLD_CURL_LOG"), "a");
    if (!log) return;
    fprintf(log, "%d=%ld\n", option, number);
    fclose(log);
}

/* Options below POINTERS are numbers. */
int curl_easy_setopt(void *easy, int option, ...) {
    va_list more;
    (void)easy;
    if (option % POINTERS > NEWEST) return UNKNOWN_OPTION;
    va_start(more, option);
    note(option, option < POINTERS ? va_arg(more, long) : 0);
    va_end(more);
    return OK;
}

int curl_easy_perform(void *easy) {
    (void)easy;
    note(-1, 0);
    return COULD_NOT_RESOLVE;
}

int curl_easy_getinfo(void *easy, int what, long *out) {
    (void)easy, (void)what;
    *out = 0;
    return OK;
}

struct version {
    int age;
    const char *version;
};
const struct version *curl_version_info(int wanted) {
    static const struct version old = {0, "7.74.0"};
    (void)wanted;
    return &old;
}

int curl_global_init(long flags) {
    (void)flags;
    return OK;
}

void *curl_easy_init(void) {
    static int handle;
    return &handle;
}

void curl_easy_reset(void *easy) {
    (void)easy;
}

void curl_easy_cleanup(void *easy) {
    (void)easy;
}

const char *curl_easy_strerror(int code) {
    return code == COULD_NOT_RESOLVE ? "Couldn't resolve host name" : "?";
}

void *curl_slist_append(void *list, const char *line) {
    (void)line;
    return list;
}

void curl_slist_free_all(void *list) {
    (void)list;
}

time_t curl_getdate(const char *text, const time_t *unused) {
    (void)text, (void)unused;
    return -1;
}
