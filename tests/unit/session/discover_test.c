/* discover_test.c: files, runs and trees to catalogues. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fault.h"
#include "base/message_ids_cli.h"
#include "session/discover.h"
#include "text/text.h"
#include "unit/session/session_helper.h"

/* The catalogue as one line: run[worker:stamp,stamp worker:stamp] run[…]. */
static const char *shown(const catalogue *c) {
    static char text[4096];
    int n = 0;
    text[0] = 0;
    for (uint32_t r = 0; r < c->n_runs; r++) {
        const run_entry *run = &c->runs[r];
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%s[", r ? " " : "", run->name.p);
        for (uint32_t w = 0; w < run->n_workers; w++) {
            const worker_entry *x = &run->workers[w];
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%s:", w ? " " : "", x->name.p);
            for (uint32_t s = 0; s < x->n_spans; s++) {
                assert_int_equal(x->spans[s].number, s + 1);
                n += snprintf(text + n, sizeof text - (size_t)n, "%s%s", s ? "," : "",
                              x->spans[s].stamp.p);
            }
        }
        n += snprintf(text + n, sizeof text - (size_t)n, "]");
    }
    return text;
}

static void check(const char *path, const char *expected) {
    arena a;
    arena_init(&a, 0);
    catalogue c;
    error err = {0};
    assert_int_equal(run_discover(&a, path, &c, &err), OK);
    assert_string_equal(shown(&c), expected);
    arena_fini(&a);
}

static void a_log_directory_is_a_tree_of_runs(void **state) {
    folder f = folder_new();
    put_file(&f, "log/run10/w.5.pt.trace.json", STR("{"));
    put_file(&f, "log/run2/rank10.1.pt.trace.json.gz", STR("{"));
    put_file(&f, "log/run2/rank9.1.pt.trace.json", STR("{"));
    put_file(&f, "log/run2/rank9.10.pt.trace.json", STR("{"));
    put_file(&f, "log/run2/rank9.9.pt.trace.json", STR("{"));
    put_file(&f, "log/run2/rank9.pt.trace.json", STR("{"));
    put_file(&f, "log/run2/key_averages.json", STR("[]"));
    put_file(&f, "log/run2/deeper/down/x.tacho", STR(""));
    put_file(&f, "log/empty/readme.txt", STR("no trace"));
    put_file(&f, "log/.hidden/w.1.pt.trace.json", STR("{"));
    put_file(&f, "log/run10/w.6.pt.trace.json.tmp", STR("{"));
    check(in_folder(&f, "log"), "run2[rank9:,1,9,10 rank10:1] run2/deeper/down[x:] run10[w:5]");
    check(in_folder(&f, "log/run10///"), "run10[w:5]");
    folder_gone(&f);
}

static void a_folder_for_each_rank_is_one_run(void **state) {
    folder f = folder_new();
    put_file(&f, "log/job/rank_0/trace.json", small_trace(3));
    put_file(&f, "log/job/rank_0/sub/x.json", small_trace(3));
    put_file(&f, "log/job/rank_1/trace.json", small_trace(3));
    put_file(&f, "log/job/rank_10/rank10.5.pt.trace.json", STR("{"));
    put_file(&f, "log/other/rank0/trace.json", small_trace(3)); /* alone */
    put_file(&f, "log/other/ranks2/trace.json", small_trace(3));
    const char *apart = "job[rank_0/trace: rank_1/trace: rank10:5] job/rank_0/sub[x:] "
                        "other/rank0[trace:] other/ranks2[trace:]";
    check(in_folder(&f, "log"), apart);
    check(in_folder(&f, "log/job"), "job[rank_0/trace: rank_1/trace: rank10:5] rank_0/sub[x:]");
    check(in_folder(&f, "log/job/rank_1"), "rank_1[trace:]");
    folder_gone(&f);
}

/* What JAX writes next to a profile for other viewers is not another worker. */
static void a_profile_of_xla_is_one_worker_whatever_is_next_to_it(void **state) {
    static const str events = STR("{\"traceEvents\": [{\"ph\": \"X\"}]}");
    folder f = folder_new();
    put_file(&f, "log/plugins/profile/run1/vm.xplane.pb", STR("x"));
    put_file(&f, "log/plugins/profile/run1/vm.trace.json", events);
    put_file(&f, "log/plugins/profile/run1/perfetto_trace.json", events);
    put_file(&f, "log/plugins/profile/run2/vm.xplane.pb", STR("x"));
    put_file(&f, "log/plugins/profile/run2/other.trace.json", events);
    put_file(&f, "log/eval/plugins/profile/run3/vm.trace.json", events);
    check(in_folder(&f, "log"), "eval/run3[vm.trace:] run1[vm:] run2[other.trace: vm:]");
    folder_gone(&f);
}

/* Perfetto's files are a run, a separate one next to other traces; one of the same name is the
 * same profile once more. */
static void files_of_perfetto_are_found(void **state) {
#define PACKET "\x0a\x04\x40\x01\x50\x01"
    static const str packets = STR(PACKET PACKET PACKET PACKET);
    folder f = folder_new();
    put_file(&f, "log/alone/a.pftrace", packets);
    put_file(&f, "log/alone/b.perfetto-trace", packets);
    put_file(&f, "log/mixed/x.pt.trace.json", STR("{"));
    put_file(&f, "log/mixed/x.pftrace", packets);
    put_file(&f, "log/mixed/y.pftrace", packets);
    put_file(&f, "log/none/z.pftrace", STR("no packets"));
    check(in_folder(&f, "log"), "alone[a: b:] mixed[x:] mixed/perfetto[y:]");
    folder_gone(&f);
}

static void names_without_ranks_are_ordered_with_their_numbers(void **state) {
    folder f = folder_new();
    put_file(&f, "r/host_10.pt.trace.json", STR("{"));
    put_file(&f, "r/host_9.pt.trace.json", STR("{"));
    put_file(&f, "r/ahost_rank3.pt.trace.json", STR("{"));
    check(in_folder(&f, "r"), "r[ahost_rank3: host_9: host_10:]");
    folder_gone(&f);
}

static void ranks_order_workers_whatever_their_hosts_are_called(void **state) {
    folder f = folder_new();
    put_file(&f, "r/zeta_rank0.pt.trace.json", STR("{"));
    put_file(&f, "r/alpha_rank1.pt.trace.json", STR("{"));
    check(in_folder(&f, "r"), "r[zeta_rank0: alpha_rank1:]");
    folder_gone(&f);
}

static void without_known_names_the_content_decides(void **state) {
    folder f = folder_new();
    put_file(&f, "r/one.json", small_trace(3));
    put_file(&f, "r/list.json",
             STR("[{\"name\": \"x\", \"ph\": \"X\", \"ts\": 1, \"dur\": 1}]"));
    put_file(&f, "r/other.json", STR("{\"a\": 1}"));
    put_file(&f, "r/broken.json.gz", STR("\x1f\x8b\x08 broken"));
    put_file(&f, "r/trace.txt", small_trace(3));
    check(in_folder(&f, "r"), "r[list: one:]");
    put_file(&f, "r/known.7.pt.trace.json", STR("{"));
    check(in_folder(&f, "r"), "r[known:7 list: one:]"); /* a name does not hide the others */
    folder_gone(&f);
}

/* What was skipped, as one line: name(noun) …. */
static void check_passed(const char *path, const char *expected) {
    static char text[4096];
    int n = 0;
    arena a;
    catalogue c = {.n_runs = 0};
    arena_init(&a, 0);
    status st = run_discover(&a, path, &c, NULL);
    assert_true(st == OK || st == ERR_NOT_FOUND);
    text[0] = 0;
    for (uint32_t i = 0; i < c.n_passed; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%.*s(%s)", i ? " " : "",
                      STR_ARG(c.passed[i].path), text_get(c.passed[i].what, LANG_EN));
    assert_string_equal(text, expected);
    arena_fini(&a);
}

static void what_is_skipped_is_named(void **state) {
    folder f = folder_new();
    put_file(&f, "r/one.json", small_trace(3));
    put_file(&f, "r/one.json.gz", STR("x"));
    put_file(&f, "r/sub/other.json", STR("{\"a\": 1}"));
    put_file(&f, "r/a.nsys-rep", STR("binary\1\2"));
    put_file(&f, "r/b.txt", STR("a letter"));
    put_file(&f, "r/c.log", STR(""));
    put_file(&f, "r/trace.txt", small_trace(3));
    check_passed(in_folder(&f, "r"),
                 "a.nsys-rep(Nsight Systems report) b.txt(text) c.log(empty file) "
                 "one.json.gz(text) sub/other.json(JSON without trace events) trace.txt(trace "
                 "with an unexpected name (open it by its path, or rename it to *.json))");
    folder_gone(&f);
}

static void a_folder_that_cannot_be_read_is_named(void **state) {
    folder f = folder_new();
    put_file(&f, "r/one.json", small_trace(3));
    put_file(&f, "r/closed/two.json", small_trace(3));
    assert_int_equal(chmod(f.path, 0755) | chmod(in_folder(&f, "r"), 0755), 0);
    assert_int_equal(chmod(in_folder(&f, "r/one.json"), 0644), 0);
    assert_int_equal(chmod(in_folder(&f, "r/closed"), 0), 0);
    bool root = geteuid() == 0;
    if (root) assert_int_equal(seteuid(65534), 0); /* root may read everything */
    check_passed(in_folder(&f, "r"), "closed(folder that cannot be read)");
    check(in_folder(&f, "r"), "r[one:]"); /* and the others are there */
    if (root) assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(in_folder(&f, "r/closed"), 0755), 0);
    folder_gone(&f);
}

static void a_folder_of_one_foreign_kind_says_what_to_do(void **state) {
    folder f = folder_new();
    arena a;
    catalogue c = {.n_runs = 7};
    error err = {0};
    arena_init(&a, 0);
    put_file(&f, "r/a.nsys-rep", STR("binary\1\2"));
    put_file(&f, "r/readme.txt", STR("a letter"));
    assert_int_equal(run_discover(&a, in_folder(&f, "r"), &c, &err), ERR_NOT_FOUND);
    assert_int_equal(err.message, MSG_FOREIGN_NSYS);
    assert_true(str_ends(err.args[0].u.text, STR("r/a.nsys-rep")));
    assert_int_equal(c.n_runs, 0);
    put_file(&f, "r/b.ncu-rep", STR("\1\2"));
    assert_int_equal(run_discover(&a, in_folder(&f, "r"), &c, &err), ERR_NOT_FOUND);
    assert_int_equal(err.message, MSG_NO_TRACES_IN);
    assert_int_equal(mkdir(in_folder(&f, "empty"), 0777), 0);
    assert_int_equal(run_discover(&a, in_folder(&f, "empty"), &c, &err), ERR_NOT_FOUND);
    assert_int_equal(err.message, MSG_NO_TRACES_EMPTY);
    arena_fini(&a);
    folder_gone(&f);
}

static void files_of_one_folder_are_one_run(void **state) {
    folder f = folder_new();
    arena a;
    catalogue c;
    error err = {0};
    const char *paths[3] = {put_file(&f, "r/rank1.json", small_trace(1)),
                            put_file(&f, "r/rank0.json", small_trace(2)),
                            put_file(&f, "s/rank0.json", small_trace(3))};
    arena_init(&a, 0);
    assert_int_equal(discover_files(&a, paths, 2, FILES_BY_FOLDER, &c, &err), OK);
    assert_string_equal(shown(&c), "r[rank0: rank1:]");
    assert_int_equal(c.runs[0].n_ranks, 2);
    /* Merged, files of one name in two folders are two workers; of one rank the newest is
     * it. */
    assert_int_equal(discover_files(&a, paths, 3, FILES_ONE_RUN, &c, &err), OK);
    assert_int_equal(c.n_runs, 1);
    assert_int_equal(c.runs[0].n_workers, 3);
    assert_int_equal(c.runs[0].n_ranks, 2);
    paths[1] = in_folder(&f, "r");
    assert_int_equal(discover_files(&a, paths, 2, FILES_BY_FOLDER, &c, &err), ERR_ARG);
    assert_int_equal(err.message, MSG_CLI_FILES_ONLY);
    arena_fini(&a);
    folder_gone(&f);
}

static void files_of_several_folders_are_several_runs(void **state) {
    folder f = folder_new();
    arena a;
    catalogue c;
    error err = {0};
    arena_init(&a, 0);
    const char *runs[] = {put_file(&f, "runs/b/vm_1.json", small_trace(1)),
                          put_file(&f, "runs/a/vm_2.json", small_trace(2)),
                          put_file(&f, "runs/a/vm_3.json", small_trace(3)),
                          put_file(&f, "runs/deep/c/vm_4.json", small_trace(4))};
    assert_int_equal(discover_files(&a, runs, 4, FILES_BY_FOLDER, &c, &err), OK);
    assert_string_equal(shown(&c), "a[vm_2: vm_3:] b[vm_1:] deep/c[vm_4:]");
    assert_true(str_ends(c.path, STR("/runs")));
    const char *above[] = {put_file(&f, "x/old.json", small_trace(5)),
                           put_file(&f, "x/y/new.json", small_trace(6))};
    assert_int_equal(discover_files(&a, above, 2, FILES_BY_FOLDER, &c, &err), OK);
    assert_string_equal(shown(&c), "x[old:] y[new:]");
    /* One rank a file: hosts of one job; a folder for each rank: the job around them. */
    const char *hosts[] = {put_file(&f, "job/host1/rank0.json", small_trace(7)),
                           put_file(&f, "job/host2/rank1.json", small_trace(8))};
    assert_int_equal(discover_files(&a, hosts, 2, FILES_BY_FOLDER, &c, &err), OK);
    assert_int_equal(c.n_runs, 1);
    assert_int_equal(c.runs[0].n_ranks, 2);
    const char *ranks[] = {put_file(&f, "j/rank0/trace.json", small_trace(9)),
                           put_file(&f, "j/rank1/trace.json", small_trace(10))};
    assert_int_equal(discover_files(&a, ranks, 2, FILES_BY_FOLDER, &c, &err), OK);
    assert_string_equal(shown(&c), "j[rank0/trace: rank1/trace:]");
    arena_fini(&a);
    folder_gone(&f);
}

static void recordings_may_be_packed(void **state) {
    folder f = folder_new();
    put_file(&f, "r/rank0.1.tacho.gz", STR("x"));
    put_file(&f, "r/rank1.1.tacho.zst", STR("x"));
    put_file(&f, "r/rank2.1.tacho", STR("x"));
    put_file(&f, "r/rank2.1.tacho.gz", STR("x")); /* a copy */
    check(in_folder(&f, "r"), "r[rank0:1 rank1:1 rank2:1]");
    folder_gone(&f);
}

static void a_file_and_its_packed_copy_are_one_span(void **state) {
    folder f = folder_new();
    put_file(&f, "r/w.1.pt.trace.json.gz", STR("x"));
    put_file(&f, "r/w.1.pt.trace.json", STR("{"));
    put_file(&f, "r/w.2.pt.trace.json.gz", STR("x"));
    arena a;
    arena_init(&a, 0);
    catalogue c;
    assert_int_equal(run_discover(&a, in_folder(&f, "r"), &c, NULL), OK);
    assert_string_equal(shown(&c), "r[w:1,2]");
    assert_true(str_ends(c.runs[0].workers[0].spans[0].path, STR("w.1.pt.trace.json")));
    arena_fini(&a);
    folder_gone(&f);
}

static void links_are_followed_but_not_in_circles(void **state) {
    folder f = folder_new();
    put_file(&f, "real/w.1.pt.trace.json", STR("{"));
    put_file(&f, "log/a/v.1.pt.trace.json", STR("{"));
    assert_int_equal(symlink("../real", in_folder(&f, "log/link")), 0);
    assert_int_equal(symlink("..", in_folder(&f, "log/a/up")), 0);
    assert_int_equal(symlink("/nowhere", in_folder(&f, "log/gone")), 0);
    check(in_folder(&f, "log"), "a[v:1] link[w:1]");
    folder_gone(&f);
}

static void a_file_is_taken_as_it_is(void **state) {
    folder f = folder_new();
    check(put_file(&f, "some/dir/rank3.77.pt.trace.json.gz", STR("x")), "dir[rank3:77]");
    check(put_file(&f, "some/dir/whatever.bin", STR("x")), "dir[whatever.bin:]");
    check("-", "[-:]");
    arena a;
    arena_init(&a, 0);
    catalogue c;
    assert_int_equal(run_discover(&a, in_folder(&f, "some/dir/whatever.bin"), &c, NULL), OK);
    assert_string_equal(c.runs[0].workers[0].spans[0].path.p,
                        in_folder(&f, "some/dir/whatever.bin"));
    assert_int_equal(c.runs[0].workers[0].spans[0].size_bytes, 1);
    arena_fini(&a);
    folder_gone(&f);
}

static void the_current_directory_has_a_name(void **state) {
    folder f = folder_new();
    put_file(&f, "here/w.1.pt.trace.json", STR("{"));
    char before[1024];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(in_folder(&f, "here")), 0);
    check(".", "here[w:1]");
    check("w.1.pt.trace.json", "here[w:1]");
    assert_int_equal(chdir(before), 0);
    folder_gone(&f);
}

static void a_mindspore_folder_has_a_worker_for_each_device(void **state) {
    folder f = folder_new();
    put_file(&f, "log/ms/profiler/step_trace_raw_10_detail_time.csv", STR("step_num\n"));
    put_file(&f, "log/ms/profiler/step_trace_raw_2_detail_time.csv", STR("step_num\n"));
    put_file(&f, "log/ms/profiler/aicore_intermediate_2_type.csv", STR("kernel_type\n"));
    put_file(&f, "log/ms/profiler/step_trace_point_info.json", STR("{}"));
    put_file(&f, "log/ms/profiler/notes.txt", STR("mine"));
    check(in_folder(&f, "log"), "ms/profiler[rank2: rank10:]");
    folder_gone(&f);
}

static void cycles_of_mindspore_are_spans_of_their_process(void **state) {
    folder f = folder_new();
    const char *first = "r/host_7_20260101000000001_ascend_ms/FRAMEWORK/cpu_op_type_info_0.csv";
    const char *second =
        "r/host_7_20260101000000002_ascend_ms/FRAMEWORK/cpu_op_type_info_0.csv";
    put_file(&f, first, STR("op_type\n"));
    put_file(&f, second, STR("op_type\n"));
    check(in_folder(&f, "r"), "r[host_7:20260101000000001,20260101000000002]");
    folder_gone(&f);
}

static void folders_of_torch_npu_are_spans_of_their_rank(void **state) {
    folder f = folder_new();
    const char *timeline = "[{\"ph\":\"X\",\"name\":\"aten::mm\"}]";
    put_file(&f, "r/a_7_20260101000000001_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
             str_of(timeline));
    put_file(&f, "r/a_7_20260101000000001_ascend_pt/ASCEND_PROFILER_OUTPUT/memory_record.csv",
             STR("Component,Timestamp(us)\n"));
    put_file(&f, "r/a_7_20260101000000001_ascend_pt/profiler_info_1.json", STR("{}"));
    put_file(&f, "r/a_7_20260101000000001_ascend_pt/PROF_1/device_0/data/x.json",
             str_of(timeline));
    put_file(&f, "r/b_9_20260101000000002_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
             STR("Name\n"));
    put_file(&f, "r/b_9_20260101000000002_ascend_pt/profiler_info_0.json", STR("{}"));
    check(in_folder(&f, "r"), "r[rank0:20260101000000002 rank1:20260101000000001]");
    check(in_folder(&f, "r/a_7_20260101000000001_ascend_pt"),
          "a_7_20260101000000001_ascend_pt[rank1:20260101000000001]");
    folder_gone(&f);
}

static void tables_of_rocprofv3_with_one_prefix_are_one_worker(void **state) {
    folder f = folder_new();
    str kernels = STR("Kind,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp\n");
    str calls = STR("Domain,Function,Correlation_Id,Start_Timestamp,End_Timestamp\n");
    put_file(&f, "r/7_kernel_trace.csv", kernels);
    put_file(&f, "r/7_hip_api_trace.csv", calls);
    put_file(&f, "r/7_agent_info.csv", STR("Node_Id,Agent_Type\n"));
    put_file(&f, "r/8_kernel_trace.csv", kernels);
    put_file(&f, "r/8_kernel_stats.csv", STR("Name,Calls,Total\na,1,2\n"));
    put_file(&f, "both/7_kernel_trace.csv", kernels);
    put_file(&f, "both/7_results.json", STR("{\"rocprofiler-sdk-tool\":[]}"));
    check(in_folder(&f, "r"), "r[7: 8:]");
    check(in_folder(&f, "both"), "both[7_results:]");
    folder_gone(&f);
}

static void results_of_torch_npu_alone_are_one_worker(void **state) {
    folder f = folder_new();
    put_file(&f, "out/trace_view.json", STR("[{\"ph\":\"X\",\"name\":\"aten::mm\"}]"));
    put_file(&f, "out/kernel_details.csv", STR("Name\n"));
    put_file(&f, "out/memory_record.csv", STR("Component,Timestamp(us)\n"));
    put_file(&f, "table/kernel_details.csv", STR("Name\n"));
    check(in_folder(&f, "out"), "out[trace_view:]");
    check(in_folder(&f, "table"), "table[kernel_details.csv:]");
    folder_gone(&f);
}

/* One run is read once: from its timeline where there is one, else from its database. */
static void databases_of_an_npu_are_read_where_there_is_no_timeline(void **state) {
    folder f = folder_new();
    str text = STR("[{\"ph\":\"X\",\"name\":\"aten::mm\"}]");
    str head = STR("SQLite format 3\0 CREATE TABLE STRING_IDS CREATE TABLE CANN_API");
#define OUT "r/a_7_20260101000000001_ascend_pt/ASCEND_PROFILER_OUTPUT/"
    put_file(&f, OUT "ascend_pytorch_profiler_0.db", head);
    put_file(&f, OUT "analysis.db", head);
    put_file(&f, OUT "kernel_details.csv", STR("Name\n"));
    put_file(&f, "both/trace_view.json", text);
    put_file(&f, "both/ascend_pytorch_profiler_0.db", head);
    put_file(&f, "only/ascend_pytorch_profiler_0.db", head);
    put_file(&f, "only/kernel_details.csv", STR("Name\n"));
    put_file(&f, "msprof/msprof_20260101.db", head);
    put_file(&f, "m/host_7_20260101000000001_ascend_ms/profiler_info_0.json", STR("{}"));
    put_file(&f,
             "m/host_7_20260101000000001_ascend_ms/ASCEND_PROFILER_OUTPUT/"
             "ascend_mindspore_profiler_0.db",
             head);
    check(in_folder(&f, "r"), "r[a_7:20260101000000001]");
    check(in_folder(&f, "both"), "both[trace_view:]");
    check(in_folder(&f, "only"), "only[ascend_pytorch_profiler_0:]");
    check(in_folder(&f, "msprof"), "msprof[msprof_20260101:]");
    check(in_folder(&f, "m"), "m[host_7:20260101000000001]");
    folder_gone(&f);
}

static void a_folder_of_torch_npu_without_results_says_what_to_run(void **state) {
    folder f = folder_new();
    arena a;
    arena_init(&a, 0);
    catalogue c;
    error err = {0};
    put_file(&f, "a_7_20260101000000001_ascend_pt/FRAMEWORK/torch.op_range", STR("x"));
    assert_int_equal(
        run_discover(&a, in_folder(&f, "a_7_20260101000000001_ascend_pt"), &c, &err),
        ERR_NOT_FOUND);
    assert_int_equal(err.message, MSG_FOREIGN_ASCEND_RAW);
    arena_fini(&a);
    folder_gone(&f);
}

static void frameworks_share_a_log_directory(void **state) {
    folder f = folder_new();
    put_file(&f, "log/torch/w.1.pt.trace.json", STR("{"));
    put_file(&f, "log/ms/hccl_raw_0.csv", STR("step_num\n"));
    put_file(&f, "log/ms/hccl_raw_1.csv", STR("step_num\n"));
    put_file(&f, "log/paddle/host.time_1.paddle_trace.json", STR("{"));
    arena a;
    arena_init(&a, 0);
    catalogue c;
    error err = {0};
    assert_int_equal(run_discover(&a, in_folder(&f, "log"), &c, &err), OK);
    assert_int_equal(c.n_runs, 3);
    assert_int_equal(c.runs[0].n_workers, 2); /* ms: both devices */
    assert_string_equal(c.runs[0].name.p, "ms");
    arena_fini(&a);
    folder_gone(&f);
}

static void nothing_there_says_so(void **state) {
    folder f = folder_new();
    put_file(&f, "empty/readme", STR("x"));
    arena a;
    arena_init(&a, 0);
    catalogue c = {.n_runs = 99};
    error err = {0};
    assert_int_equal(run_discover(&a, in_folder(&f, "empty"), &c, &err), ERR_NOT_FOUND);
    assert_int_equal(err.message, MSG_NO_TRACES_IN);
    assert_int_equal(c.n_runs, 0);
    assert_int_equal(c.n_passed, 1);
    c.n_runs = 99;
    assert_int_equal(run_discover(&a, in_folder(&f, "nowhere"), &c, &err), ERR_IO);
    assert_int_equal(err.message, MSG_CANNOT_OPEN);
    assert_int_equal(c.n_runs, 99);
    arena_fini(&a);
    folder_gone(&f);
}

static void every_allocation_and_read_may_fail(void **state) {
    folder f = folder_new();
    put_file(&f, "log/a/w.1.pt.trace.json", STR("{"));
    put_file(&f, "log/b/x.json", small_trace(2));
    for (int kind = FAULT_ALLOC; kind <= FAULT_READ; kind++) {
        for (uint64_t n = 1;; n++) {
            arena a;
            arena_init(&a, 0);
            catalogue c;
            error err = {0};
            fault_arm((fault_kind)kind, n);
            status s = run_discover(&a, in_folder(&f, "log"), &c, &err);
            bool reached = fault_count((fault_kind)kind) >= n;
            fault_arm((fault_kind)kind, 0);
            if (s != OK) assert_int_not_equal(err.message, MSG_NONE);
            /* A folder below the first that cannot be read is skipped. */
            assert_true(s == OK || (reached && (s == ERR_MEMORY || s == ERR_IO)));
            arena_fini(&a);
            if (!reached) break;
        }
    }
    folder_gone(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_directory_is_a_tree_of_runs),
        cmocka_unit_test(a_folder_for_each_rank_is_one_run),
        cmocka_unit_test(a_profile_of_xla_is_one_worker_whatever_is_next_to_it),
        cmocka_unit_test(files_of_perfetto_are_found),
        cmocka_unit_test(names_without_ranks_are_ordered_with_their_numbers),
        cmocka_unit_test(ranks_order_workers_whatever_their_hosts_are_called),
        cmocka_unit_test(without_known_names_the_content_decides),
        cmocka_unit_test(what_is_skipped_is_named),
        cmocka_unit_test(a_folder_that_cannot_be_read_is_named),
        cmocka_unit_test(a_folder_of_one_foreign_kind_says_what_to_do),
        cmocka_unit_test(files_of_one_folder_are_one_run),
        cmocka_unit_test(files_of_several_folders_are_several_runs),
        cmocka_unit_test(recordings_may_be_packed),
        cmocka_unit_test(a_file_and_its_packed_copy_are_one_span),
        cmocka_unit_test(links_are_followed_but_not_in_circles),
        cmocka_unit_test(a_file_is_taken_as_it_is),
        cmocka_unit_test(the_current_directory_has_a_name),
        cmocka_unit_test(a_mindspore_folder_has_a_worker_for_each_device),
        cmocka_unit_test(cycles_of_mindspore_are_spans_of_their_process),
        cmocka_unit_test(folders_of_torch_npu_are_spans_of_their_rank),
        cmocka_unit_test(tables_of_rocprofv3_with_one_prefix_are_one_worker),
        cmocka_unit_test(results_of_torch_npu_alone_are_one_worker),
        cmocka_unit_test(databases_of_an_npu_are_read_where_there_is_no_timeline),
        cmocka_unit_test(a_folder_of_torch_npu_without_results_says_what_to_run),
        cmocka_unit_test(frameworks_share_a_log_directory),
        cmocka_unit_test(nothing_there_says_so),
        cmocka_unit_test(every_allocation_and_read_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
