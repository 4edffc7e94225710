/* critical_test.c: slack, copies, modules and lines of the critical path by hand. A step of 100 µs,
 * three of them: a kernel of 10 µs that nothing waits for, one of 40 µs that the host waits
 * for. */
#include "analyse/why/slack.h"
#include "fake_trace.h"

enum { US = 1000, STEPS = 3, STEP_US = 100 };

static void make_run(fake *f) {
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 0);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)i * STEP_US * US;
        fake_add(f, host, KIND_PYTHON, "train.py(7): main", at, 99 * US);
        int module = fake_add(f, host, KIND_MODULE, "linear", at + 6 * US, 20 * US);
        f->slices[module].module = "nn.Module: Linear_0";
        fake_add(f, host, KIND_PYTHON, "torch/nn/linear.py(3): forward", at + 7 * US, 18 * US);
        fake_add(f, host, KIND_OP, "aten::mm", at + 8 * US, 15 * US);
        int a = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 10 * US, 4 * US);
        int b = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 30 * US, 4 * US);
        fake_add(f, host, KIND_RUNTIME, "cudaDeviceSynchronize", at + 50 * US, 27 * US);
        fake_work(f, gpu, KIND_KERNEL, "gemm", at + 15 * US, 10 * US, a);
        fake_work(f, gpu, KIND_KERNEL, "softmax", at + 35 * US, 40 * US, b);
        fake_step(f, i + 1, at, at + STEP_US * US);
    }
}

/* Steps whose numbers are the greatest there are: none has the next one. */
static void make_last_steps(fake *f) {
    fake_init(f);
    int host = fake_thread(f);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)i * STEP_US * US;
        fake_add(f, host, KIND_OP, "aten::mm", at + 8 * US, 15 * US);
        fake_step(f, INT64_MAX, at, at + STEP_US * US);
    }
}

/* A launch that takes nearly as long as times go. */
static void make_endless_launch(fake *f) {
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 0);
    int call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", 10, INT64_MAX / 2);
    fake_work(f, gpu, KIND_KERNEL, "gemm", 20, INT64_MAX / 2, call);
    fake_step(f, 1, 0, INT64_MAX / 2 + 30);
}

/* The host's call stays in its copy from 20 to 60 and returns 1 µs before the copy is done. */
static void make_copies(fake *f) {
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 0);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)i * STEP_US * US;
        int call = fake_add(f, host, KIND_RUNTIME, "cudaMemcpyAsync", at + 20 * US, 40 * US);
        int after = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 70 * US, 4 * US);
        fake_work(f, gpu, KIND_MEMCPY, "Memcpy HtoD", at + 25 * US, 36 * US, call);
        fake_work(f, gpu, KIND_KERNEL, "gemm", at + 76 * US, 4 * US, after);
        fake_step(f, i + 1, at, at + STEP_US * US);
    }
}

typedef void (*making)(fake *f);

typedef struct {
    fake f;
    arena a;
    answer out;
} asked;

static asked *ask(making make) {
    static asked q;
    params p = fake_params();
    make(&q.f);
    arena_init(&q.a, 0);
    q.out = fake_ask(analyse_critical, fake_seal(&q.f), &p, &q.a);
    return &q;
}

static void done(asked *q) {
    arena_fini(&q->a);
    fake_fini(&q->f);
}

static size_t row_of(const table *t, const char *key, const char *text) {
    for (size_t row = 0; row < t->n_rows; row++)
        if (!fake_null(t, row, key) && str_eq(fake_text(t, row, key), str_of(text))) return row;
    fail_msg("no row of %s", text);
    return 0;
}

/* It ends at 25; the next kernel starts at 35 and needs 1 µs of gap after it: 9 µs are left. */
static void work_off_the_path_has_slack(void **state) {
    asked *q = ask(make_run);
    const table *t = fake_table(&q->out, "slack");
    size_t row = row_of(t, "name", "gemm");
    assert_int_equal(fake_int(t, row, "slack"), 9 * US);
    assert_int_equal(fake_int(t, row, "least"), 9 * US);
    assert_int_equal(fake_int(t, row, "time"), 10 * US);
    assert_int_equal(fake_int(t, row, "off_path"), 10 * US);
    assert_int_equal(fake_int(t, row, "calls"), STEPS);
    done(q);
}

static void work_on_the_path_has_none(void **state) {
    asked *q = ask(make_run);
    const table *t = fake_table(&q->out, "slack");
    size_t row = row_of(t, "name", "softmax");
    assert_int_equal(fake_int(t, row, "slack"), 0);
    assert_int_equal(fake_int(t, row, "off_path"), 0);
    row = row_of(t, "name", "aten::mm"); /* the host in it is on the path */
    assert_text(fake_text(t, row, "kind"), "operator");
    assert_int_equal(fake_int(t, row, "slack"), 0);
    assert_true(fake_null(t, row, "off_path"));
    done(q);
}

static answer ask_whatif(asked *q, const char *name, const char *change) {
    params p = fake_params();
    p.extra[p.n_extra].name = str_of(name);
    p.extra[p.n_extra++].value = str_of(change);
    return fake_ask(analyse_whatif, &q->f.t, &p, &q->a);
}

/* The second step with a change. */
static int64_t step_with(making make, const char *name, const char *change) {
    asked *q = ask(make);
    answer out = ask_whatif(q, name, change);
    int64_t ns = fake_int(fake_table(&out, "steps"), 1, "whatif");
    done(q);
    return ns;
}

/* A kernel that becomes longer by its slack leaves the step as it is, one µs more does not. */
static void slack_is_what_a_replay_allows(void **state) {
    assert_int_equal(step_with(make_run, "scale", "kernel:gemm=1.9"), 100 * US);
    assert_int_equal(step_with(make_run, "scale", "kernel:gemm=2"), 101 * US);
}

/* The 4 µs that other calls take are left of its call. */
static void without_its_copy_a_call_returns_at_once(void **state) {
    assert_int_equal(step_with(make_copies, "scale", "kernel:Memcpy*=1"), 100 * US);
    assert_int_equal(step_with(make_copies, "remove", "kernel:Memcpy*"), 64 * US);
}

static void a_copy_that_its_call_stays_in_is_on_the_path(void **state) {
    asked *q = ask(make_copies);
    const table *kinds = fake_table(&q->out, "by_kind"), *t = fake_table(&q->out, "slack");
    size_t row = row_of(kinds, "kind", "copy");
    assert_int_equal(fake_int(kinds, row, "time"), 35 * US);
    row = row_of(kinds, "kind", "launch_latency");
    assert_int_equal(fake_int(kinds, row, "time"), 5 * US);
    row = row_of(t, "name", "Memcpy HtoD");
    assert_text(fake_text(t, row, "kind"), "copy");
    assert_int_equal(fake_int(t, row, "slack"), 0);
    assert_int_equal(fake_int(t, row, "off_path"), 0);
    done(q);
}

/* Nothing is launched: a batch is loaded, 5 to 25, with an operator inside; then an operator, 30 to
 * 70, with another one inside it, 40 to 60; a call at 90 takes 2. */
static void make_host_only(fake *f) {
    fake_init(f);
    int host = fake_thread(f);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)i * STEP_US * US;
        fake_add(f, host, KIND_DATA, "next_batch", at + 5 * US, 20 * US);
        fake_add(f, host, KIND_OP, "aten::stack", at + 10 * US, 5 * US);
        fake_add(f, host, KIND_OP, "aten::linear", at + 30 * US, 40 * US);
        fake_add(f, host, KIND_OP, "aten::addmm", at + 40 * US, 20 * US);
        fake_add(f, host, KIND_RUNTIME, "cudaDeviceSynchronize", at + 90 * US, 2 * US);
        fake_step(f, i + 1, at, at + STEP_US * US);
    }
}

static void operators_that_launch_nothing_are_on_the_path(void **state) {
    static const struct {
        const char *kind, *name;
        int64_t us;
    } expected[] = {{"operator", "aten::linear", 20},
                    {"operator", "aten::addmm", 20},
                    {"data_loading", "next_batch", 20}};
    asked *q = ask(make_host_only);
    const table *t = fake_table(&q->out, "by_name");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        size_t row = row_of(t, "name", expected[i].name);
        while (!str_eq(fake_text(t, row, "kind"), str_of(expected[i].kind))) row++;
        assert_int_equal(fake_int(t, row, "time"), expected[i].us * US);
    }
    const table *kinds = fake_table(&q->out, "by_kind");
    assert_int_equal(fake_int(kinds, row_of(kinds, "kind", "between"), "time"), 38 * US);
    done(q);
}

/* Inside the module: the operator and its launch, 8 to 23, and the host before the operator, whose
 * frames are those of what comes next. */
static void the_path_is_added_up_by_module(void **state) {
    asked *q = ask(make_run);
    const table *t = fake_table(&q->out, "by_module");
    int64_t sum = 0;
    for (size_t row = 0; row < t->n_rows; row++) sum += fake_int(t, row, "time");
    assert_int_equal(sum, STEP_US * US);
    assert_true(fake_int(t, row_of(t, "module", "Linear_0"), "time") >= 15 * US);
    done(q);
}

/* One call launches the work of many operators, which are drawn inside of it with their modules. */
static void make_call_of_many(fake *f) {
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 0);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)i * STEP_US * US;
        int call = fake_add(f, host, KIND_RUNTIME, "cuGraphLaunch", at, 20 * US);
        int module = fake_add(f, host, KIND_MODULE, "dense", at + 5 * US, 10 * US);
        f->slices[module].module = "nn.Module: Dense_0";
        int op = fake_add(f, host, KIND_OP, "dot_general", at + 5 * US, 5 * US);
        int work = fake_work(f, gpu, KIND_KERNEL, "gemm", at + 15 * US, 80 * US, call);
        f->slices[work].op = op;
        fake_add(f, host, KIND_RUNTIME, "cudaDeviceSynchronize", at + 30 * US, 67 * US);
        fake_step(f, i + 1, at, at + STEP_US * US);
    }
}

static void work_has_the_module_of_its_own_operator(void **state) {
    asked *q = ask(make_call_of_many);
    const table *t = fake_table(&q->out, "by_module");
    assert_true(fake_int(t, row_of(t, "module", "Dense_0"), "time") >= 80 * US);
    done(q);
}

/* Lines of installed packages count for the line of the program around them. */
static void the_path_is_added_up_by_line_of_the_program(void **state) {
    asked *q = ask(make_run);
    const table *t = fake_table(&q->out, "by_line");
    int64_t sum = 0;
    for (size_t row = 0; row < t->n_rows; row++) sum += fake_int(t, row, "time");
    assert_int_equal(sum, STEP_US * US);
    assert_text(fake_text(t, 0, "line"), "train.py(7): main");
    assert_true(t->n_rows <= 2);
    done(q);
}

/* The backward pass runs on a separate thread, 30 to 80, while the first one is in nothing. */
static void make_two_threads(fake *f) {
    fake_init(f);
    int host = fake_thread(f), engine = fake_thread(f);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)i * STEP_US * US;
        fake_add(f, host, KIND_OP, "forward", at + 5 * US, 25 * US);
        fake_add(f, engine, KIND_OP, "MmBackward0", at + 32 * US, 28 * US);
        fake_add(f, engine, KIND_OP, "AddBackward0", at + 62 * US, 18 * US);
        fake_add(f, host, KIND_OP, "step", at + 85 * US, 10 * US);
        fake_step(f, i + 1, at, at + STEP_US * US);
    }
}

static void a_thread_that_waits_for_another_is_in_its_operators(void **state) {
    asked *q = ask(make_two_threads);
    const table *t = fake_table(&q->out, "by_name");
    assert_int_equal(fake_int(t, row_of(t, "name", "MmBackward0"), "time"), 28 * US);
    assert_int_equal(fake_int(t, row_of(t, "name", "forward"), "time"), 25 * US);
    const table *kinds = fake_table(&q->out, "by_kind");
    assert_int_equal(fake_int(kinds, row_of(kinds, "kind", "operator"), "time"), 81 * US);
    assert_int_equal(fake_int(kinds, row_of(kinds, "kind", "between"), "time"), 19 * US);
    done(q);
}

/* A device without recorded launches: tasks of 40 and 30 µs with nothing known between. */
static void make_no_launches(fake *f) {
    fake_init(f);
    int gpu = fake_stream(f, 0);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)i * STEP_US * US;
        fake_work(f, gpu, KIND_KERNEL, "first", at, 40 * US, -1);
        fake_work(f, gpu, KIND_KERNEL, "second", at + 41 * US, 9 * US, -1);
        fake_work(f, gpu, KIND_KERNEL, "third", at + 80 * US, 20 * US, -1);
        fake_step(f, i + 1, at, at + STEP_US * US);
    }
}

static void work_without_launches_follows_its_stream(void **state) {
    asked *q = ask(make_no_launches);
    const table *t = fake_table(&q->out, "by_kind");
    assert_int_equal(fake_int(t, row_of(t, "kind", "device"), "time"), 69 * US);
    assert_int_equal(fake_int(t, row_of(t, "kind", "queue"), "time"), 1 * US);
    assert_int_equal(fake_int(t, row_of(t, "kind", "unknown"), "time"), 30 * US);
    done(q);
}

/* Steps, and one short task without a recorded launch. */
static void make_mostly_unknown(fake *f) {
    fake_init(f);
    int gpu = fake_stream(f, 0);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)i * STEP_US * US;
        fake_work(f, gpu, KIND_KERNEL, "gemm", at + 90 * US, 10 * US, -1);
        fake_step(f, i + 1, at, at + STEP_US * US);
    }
}

static void missing_records_change_nothing(void **state) {
    asked *q = ask(make_mostly_unknown);
    assert_string_equal(q->out.verdict.id, "critical_unknown");
    done(q);
}

/* Long in an outer operator before the inner one that launches: both have their own time. */
static void make_long_operator(fake *f) {
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 0);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)i * STEP_US * US;
        fake_add(f, host, KIND_OP, "outer", at + 5 * US, 80 * US);
        fake_add(f, host, KIND_OP, "inner", at + 50 * US, 10 * US);
        int call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 55 * US, 4 * US);
        fake_work(f, gpu, KIND_KERNEL, "gemm", at + 60 * US, 5 * US, call);
        fake_step(f, i + 1, at, at + STEP_US * US);
    }
}

static void a_long_operator_keeps_its_own_time(void **state) {
    asked *q = ask(make_long_operator);
    const table *t = fake_table(&q->out, "by_name");
    assert_int_equal(fake_int(t, row_of(t, "name", "outer"), "time"), 70 * US);
    assert_int_equal(fake_int(t, row_of(t, "name", "inner"), "time"), 6 * US);
    done(q);
}

static void a_launch_as_long_as_times_go_is_answered(void **state) {
    asked *q = ask(make_endless_launch);
    assert_true(fake_table(&q->out, "by_kind")->n_rows > 0);
    done(q);
}

/* A thread of its own loads batch after batch, 90 µs each, from 5 before the first step on. The
 * thread of the steps computes for 20 µs and then waits for the batch, 30 to the end. */
static void make_loader(fake *f) {
    fake_init(f);
    int host = fake_thread(f), loader = fake_thread(f);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)i * STEP_US * US;
        fake_add(f, loader, KIND_DATA, "decode", at + 5 * US, 90 * US);
        int step = fake_add(f, host, KIND_STEP, "step", at, STEP_US * US);
        fake_add(f, host, KIND_OP, "forward", at + 10 * US, 20 * US);
        fake_add(f, host, KIND_DATA, "next_batch", at + 30 * US, 68 * US);
        f->slices[step].has_op_row = false;
        fake_step(f, i + 1, at, at + STEP_US * US);
    }
}

static void a_batch_depends_on_the_thread_that_loads_it(void **state) {
    asked *q = ask(make_loader);
    const table *t = fake_table(&q->out, "by_name");
    assert_int_equal(fake_int(t, row_of(t, "name", "decode"), "time"), 90 * US);
    assert_int_equal(fake_int(t, row_of(t, "name", "next_batch"), "time"), 3 * US);
    done(q);
}

/* Loading twice as fast, batches are ready every 55 µs; below 22 the other thread decides. */
static void a_faster_loader_makes_waiting_shorter(void **state) {
    assert_int_equal(step_with(make_loader, "scale", "range:decode=0.5"), 55 * US);
    assert_int_equal(step_with(make_loader, "scale", "op:forward=0.5"), 100 * US);
    assert_int_equal(step_with(make_loader, "scale", "op:forward=5"), 115 * US);
}

/* A thread of another process. */
static int thread_of_worker(fake *f) {
    int track = fake_thread(f);
    uint32_t process = f->t.process.n++;
    FAKE_SET(f, process, pid, process, process);
    FAKE_SET(f, track, process, (uint32_t)track, process);
    return track;
}

static void add_taking_step(fake *f, int host, int i, int64_t at, int64_t forward_us) {
    int step = fake_add(f, host, KIND_STEP, "step", at, STEP_US * US);
    fake_add(f, host, KIND_OP, "forward", at + 10 * US, forward_us * US);
    f->slices[step].has_op_row = false;
    fake_step(f, i + 1, at, at + STEP_US * US);
}

/* Two processes load a batch in 190 µs each, in turn; another thread than that of the steps
 * needs 4 µs to pin it, from 91 on; the thread of the steps has it at 98. Operators of the
 * workers are many. */
static void make_workers(fake *f) {
    fake_init(f);
    int host = fake_thread(f), pin = fake_thread(f);
    int workers[] = {thread_of_worker(f), thread_of_worker(f)};
    for (int i = 0; i < 2 * STEPS; i++) {
        int64_t at = (int64_t)(i + 2) * STEP_US * US;
        int worker = workers[i % 2];
        fake_add(f, worker, KIND_DATA, "fetch", at - 100 * US, 190 * US);
        for (int k = 0; k < 4; k++)
            fake_add(f, worker, KIND_OP, "decode", at + (k * 40 - 90) * US, 30 * US);
        fake_add(f, pin, KIND_DATA, "pin", at + 91 * US, 4 * US);
        add_taking_step(f, host, i, at, 20);
        fake_add(f, host, KIND_DATA, "next_batch", at + 30 * US, 68 * US);
    }
}

static void the_path_goes_into_worker_processes(void **state) {
    asked *q = ask(make_workers);
    const table *t = fake_table(&q->out, "by_name");
    assert_int_equal(fake_int(t, row_of(t, "name", "fetch"), "time"), 90 * US);
    assert_int_equal(fake_int(t, row_of(t, "name", "pin"), "time"), 5 * US);
    assert_int_equal(fake_int(t, row_of(t, "name", "next_batch"), "time"), 3 * US);
    done(q);
}

/* Each of the two then has a batch every 105 µs: 190 / 2 and 10 between two. Without them the thread of
 * the steps decides, 32 µs and 3 to take a batch; with a slow thread that pins, that one does. */
static void faster_workers_make_waiting_shorter(void **state) {
    asked *q = ask(make_workers);
    answer out = ask_whatif(q, "scale", "range:fetch=0.5");
    const table *t = fake_table(&out, "steps");
    assert_int_equal(fake_int(t, 2, "whatif") + fake_int(t, 3, "whatif"), 105 * US);
    done(q);
    assert_int_equal(step_with(make_workers, "remove", "range:fetch"), 35 * US);
    assert_int_equal(step_with(make_workers, "scale", "op:forward=0.5"), 100 * US);
    assert_int_equal(step_with(make_workers, "scale", "range:pin=50"), 201 * US);
}

/* The thread of the steps takes a batch within 1 µs. Its order wakes the worker 2 µs later,
 * which has the next batch ready after 20 µs and then waits for the next order. */
static void make_idle_worker(fake *f) {
    fake_init(f);
    int host = fake_thread(f), worker = thread_of_worker(f);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)i * 1000 * US;
        int step = fake_add(f, host, KIND_STEP, "step", at, 1000 * US);
        fake_add(f, host, KIND_DATA, "next_batch", at + 5 * US, 1 * US);
        fake_add(f, worker, KIND_DATA, "fetch", at + 8 * US, 20 * US);
        fake_add(f, host, KIND_OP, "forward", at + 10 * US, 900 * US);
        f->slices[step].has_op_row = false;
        fake_step(f, i + 1, at, at + 1000 * US);
    }
}

/* The worker follows the orders: it neither makes the step longer nor loads at its old times. */
static void a_worker_waits_for_orders(void **state) {
    assert_int_equal(step_with(make_idle_worker, "scale", "op:forward=0.1"), 190 * US);
    assert_int_equal(step_with(make_idle_worker, "scale", "range:fetch=5"), 1000 * US);
}

static void a_step_after_the_last_number_is_harmless(void **state) {
    asked *q = ask(make_last_steps);
    assert_true(q->out.n_tables > 0);
    done(q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_after_the_last_number_is_harmless),
        cmocka_unit_test(work_off_the_path_has_slack),
        cmocka_unit_test(work_on_the_path_has_none),
        cmocka_unit_test(slack_is_what_a_replay_allows),
        cmocka_unit_test(without_its_copy_a_call_returns_at_once),
        cmocka_unit_test(a_copy_that_its_call_stays_in_is_on_the_path),
        cmocka_unit_test(operators_that_launch_nothing_are_on_the_path),
        cmocka_unit_test(the_path_is_added_up_by_module),
        cmocka_unit_test(work_has_the_module_of_its_own_operator),
        cmocka_unit_test(the_path_is_added_up_by_line_of_the_program),
        cmocka_unit_test(a_thread_that_waits_for_another_is_in_its_operators),
        cmocka_unit_test(work_without_launches_follows_its_stream),
        cmocka_unit_test(missing_records_change_nothing),
        cmocka_unit_test(a_long_operator_keeps_its_own_time),
        cmocka_unit_test(a_batch_depends_on_the_thread_that_loads_it),
        cmocka_unit_test(a_faster_loader_makes_waiting_shorter),
        cmocka_unit_test(a_launch_as_long_as_times_go_is_answered),
        cmocka_unit_test(the_path_goes_into_worker_processes),
        cmocka_unit_test(faster_workers_make_waiting_shorter),
        cmocka_unit_test(a_worker_waits_for_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
