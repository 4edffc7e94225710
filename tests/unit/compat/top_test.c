/* top_test.c: the operators that take longest: filters, groups, order, what is not recorded. */
#include "compat/top.h"
#include "unit/analyse/fake_trace.h"

#define US ((int64_t)1000)

typedef struct {
    fake f;
    arena arena;
    const trace *t;
} top_case;

/* Three operators of 30, 20 and 10 µs on the host, the first two with kernels; the second is inside
 * the first. */
static void begin(top_case *c) {
    fake_init(&c->f);
    arena_init(&c->arena, 0);
    int host = fake_thread(&c->f), gpu = fake_stream(&c->f, 0);
    int outer = fake_add(&c->f, host, KIND_OP, "conv", 0, 30 * US);
    fake_add(&c->f, host, KIND_OP, "relu", 5 * US, 20 * US);
    int call = fake_add(&c->f, host, KIND_RUNTIME, "launch", 6 * US, 1 * US);
    fake_add(&c->f, host, KIND_OP, "relu", 40 * US, 10 * US);
    (void)outer;
    fake_work(&c->f, gpu, KIND_KERNEL, "k", 16 * US, 100 * US, call);
    c->t = fake_seal(&c->f);
}

static top_result find(top_case *c, top_options o) {
    analysis_trace one = {.trace = c->t};
    analysis_input in = {.traces = &one, .n_traces = 1};
    top_result r;
    error err = {0};
    if (o.max_time == 0) {
        o.min_time = -INFINITY;
        o.max_time = INFINITY;
    }
    assert_int_equal(top_find(&in, &o, &c->arena, &r, &err), OK);
    return r;
}

static void end(top_case *c) {
    arena_fini(&c->arena);
    fake_fini(&c->f);
}

static void host_time_is_without_the_operators_inside(void **state) {
    top_case c;
    begin(&c);
    top_result r = find(&c, (top_options){0});
    assert_int_equal(r.host.n, 3);
    assert_true(fabs(r.host.total - 40e-6) < 1e-12);
    assert_true(fabs(r.host.v[0].time - 20e-6) < 1e-12); /* the relu inside */
    assert_true(fabs(r.host.v[1].time - 10e-6) < 1e-12); /* equal ones keep their order: conv */
    assert_true(str_eq(r.host.v[1].name, STR("conv")));
    end(&c);
}

static void device_time_is_that_of_the_kernels_launched(void **state) {
    top_case c;
    begin(&c);
    top_result r = find(&c, (top_options){0});
    assert_int_equal(r.device.n, 1);
    assert_true(fabs(r.device.v[0].time - 100e-6) < 1e-12);
    r = find(&c, (top_options){.kern = true});
    assert_true(fabs(r.device.v[0].time - 10e-6) < 1e-12); /* from launch to start */
    assert_true(fabs(r.device.total - 100e-6) < 1e-12);    /* totals are of the whole time */
    end(&c);
}

static void filters_choose_by_type_name_and_time(void **state) {
    top_case c;
    begin(&c);
    top_result r = find(&c, (top_options){.n_types = 1, .types = {STR("relu")}});
    assert_int_equal(r.host.n, 2);
    r = find(&c, (top_options){.name = STR("c.*v")});
    assert_int_equal(r.host.n, 1);
    r = find(&c, (top_options){.name = STR("onv")}); /* only at the beginning */
    assert_int_equal(r.host.n, 0);
    r = find(&c, (top_options){.name = STR("(?:conv|nothing)\\d*")});
    assert_int_equal(r.host.n, 1);
    r = find(&c, (top_options){.min_time = 15e-6, .max_time = 1});
    assert_int_equal(r.host.n, 1);
    assert_true(fabs(r.host.total - 40e-6) < 1e-12);
    end(&c);
}

static void groups_are_types_or_all(void **state) {
    top_case c;
    begin(&c);
    top_result r = find(&c, (top_options){.aggregate = TOP_SUM, .by_type = true});
    assert_int_equal(r.host.n, 2);
    assert_true(str_eq(r.host.v[0].type, STR("relu")));
    assert_int_equal(r.host.v[0].count, 2);
    assert_true(fabs(r.host.v[0].time - 30e-6) < 1e-12);
    r = find(&c, (top_options){.aggregate = TOP_MEAN});
    assert_int_equal(r.host.n, 1);
    assert_true(fabs(r.host.v[0].time - 40e-6 / 3) < 1e-12);
    assert_true(isnan(r.host.v[0].computation));
    end(&c);
}

static void a_negative_number_leaves_the_last_out(void **state) {
    top_case c;
    begin(&c);
    assert_int_equal(find(&c, (top_options){.top = 2}).host.n, 2);
    assert_int_equal(find(&c, (top_options){.top = -1}).host.n, 2);
    assert_int_equal(find(&c, (top_options){.top = -9}).host.n, 0);
    assert_int_equal(find(&c, (top_options){.top = 9}).host.n, 3);
    end(&c);
}

static status read_params(const char *name, const char *value, top_options *o) {
    params p = {.n_extra = 1, .extra = {{str_of(name), str_of(value)}}};
    error err = {0};
    return top_options_of(&p, o, &err);
}

static void options_are_checked(void **state) {
    top_options o;
    assert_int_equal(read_params("order_by", "+FLOPS", &o), OK);
    assert_true(o.ascending && o.order == TOP_BY_FLOPS);
    assert_int_equal(read_params("order_by", "nosuch", &o), ERR_ARG);
    assert_int_equal(read_params("top", "x", &o), ERR_ARG);
    assert_int_equal(read_params("min_time", "1e-4", &o), OK);
    assert_true(o.min_time == 1e-4 && isinf(o.max_time));
    assert_int_equal(read_params("max_time", "soon", &o), ERR_ARG);
    assert_int_equal(read_params("aggregate_by", "type", &o), OK);
    assert_int_equal(o.aggregate, TOP_SUM);
}

static void hostile_patterns_are_refused(void **state) {
    static const char *const patterns[] = {"(", "((a{99}){99}){99}", "(a)\\1"};
    top_case c;
    begin(&c);
    analysis_trace one = {.trace = c.t};
    analysis_input in = {.traces = &one, .n_traces = 1};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        top_options o = {.name = str_of(patterns[i])};
        top_result r;
        error err = {0};
        assert_int_equal(top_find(&in, &o, &c.arena, &r, &err), ERR_ARG);
    }
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_time_is_without_the_operators_inside),
        cmocka_unit_test(device_time_is_that_of_the_kernels_launched),
        cmocka_unit_test(filters_choose_by_type_name_and_time),
        cmocka_unit_test(groups_are_types_or_all),
        cmocka_unit_test(a_negative_number_leaves_the_last_out),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(hostile_patterns_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
