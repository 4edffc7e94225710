/* http_params.c: request lines. Whatever comes in: a request or an error with a sentence, nothing else;
 * the values of a request are of their kinds; parsing it again gives the same. What asks for rows
 * arranges a small table. */
#include "analyse/timeline/search.h"
#include "fuzz/fuzz.h"
#include "serve/guard.h"
#include "serve/page.h"
#include "serve/request.h"
#include "table/arrange.h"

static bool take_lane(void *context, uint32_t first, uint32_t last, uint32_t coarser) {
    CHECK(first <= last && coarser <= 40);
    ++*(uint32_t *)context;
    return last < 1000;
}

/* A table of one column of each type; row 1 is null. */
static table *make_table(arena *a) {
    static const column_spec spec[] = {
        {"name", TYPE_TEXT, UNIT_NONE, 0}, {"calls", TYPE_INT, UNIT_COUNT, 0},
        {"total", TYPE_INT, UNIT_NS, 0},   {"share", TYPE_REAL, UNIT_SHARE, 0},
        {"yes", TYPE_BOOL, UNIT_NONE, 0},  {"address", TYPE_BIG, UNIT_NONE, 0}};
    table *t = table_new(a, "rows", spec, 6);
    size_t row;
    for (int i = 0; t && i < 3; i++) {
        if (table_add_row(t, &row, NULL) != OK) return NULL;
        if (i == 1) continue;
        table_set_text(t, row, 0, i ? STR("aten::conv2d") : STR("Gemm_kernel<float>"));
        table_set_int(t, row, 1, i);
        table_set_int(t, row, 2, 5000000 * i);
        table_set_real(t, row, 3, 0.25 * i);
        table_set_int(t, row, 4, i / 2);
        table_set_int(t, row, 5, i);
    }
    return t;
}

static void arrange_rows(arena *a, const request *r) {
    answer rows = {.analysis = "fuzz", .n_tables = 1, .tables = {make_table(a)}};
    arrangement how = question_arrangement(&r->question);
    search_query q;
    error err = {.status = OK};
    if (rows.tables[0] && arrange_answer(&rows, &how, &err) == OK)
        CHECK(rows.tables[0]->n_rows <= rows.tables[0]->total_rows &&
              rows.tables[0]->total_rows <= 3);
    (void)!search_parse(r->q, &q, &err);
}

static void check_request(const request *r) {
    CHECK(r->route >= ROUTE_ANALYSIS && r->route < N_ROUTES);
    CHECK((r->route == ROUTE_ANALYSIS) == (r->analysis != NULL));
    CHECK(r->question.limit == ABSENT_I64 || r->question.limit >= 0);
    CHECK(r->question.from == OPEN_START || r->question.from >= 0);
    CHECK(r->question.to > max_i64(r->question.from, 0));
    CHECK(r->width == ABSENT_I64 || r->width <= 8192);
    CHECK(r->words == LANG_EN || r->words == LANG_ZH);
    CHECK(memchr(r->path.p, 0, r->path.n) == NULL);
    uint32_t n = 0;
    error err;
    if (r->lanes.n) (void)!request_lanes(r->lanes, take_lane, &n, &err);
    CHECK(n <= r->lanes.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str line = {(const char *)data, size};
    arena a;
    request r, again;
    error err = {.status = OK};
    guard_answer verdict_of;
    buf words = {0};
    arena_init(&a, 1 << 20);
    status s = request_parse(&a, line, &r, &err);
    CHECK(s == OK ? err.message == MSG_NONE : err.message != MSG_NONE);
    if (s == OK) {
        check_request(&r);
        arrange_rows(&a, &r);
    }
    CHECK(request_parse(&a, line, &again, &err) == s);
    CHECK(again.route == r.route && again.question.limit == r.question.limit &&
          str_eq(again.question.run, r.question.run));
    if (s != OK) text_error(&words, r.words, &err);
    CHECK(buf_ok(&words));
    (void)page_find(line);
    (void)page_wants_gzip(line);
    guard_rules rules = {.loopback = size % 2 == 0,
                         .needs_token = size % 4 != 0,
                         .token = STR("0123456789abcdef"),
                         .cookie = STR("tacho_token")};
    guard_request headers = {.method = STR("GET"),
                             .target = line,
                             .host = line,
                             .origin = line,
                             .cookie = line,
                             .authorization = line};
    (void)!guard_check(&rules, &headers, &verdict_of, &err);
    buf_fini(&words);
    arena_fini(&a);
    return 0;
}
