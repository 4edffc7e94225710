/* device_peaks_test.c: devices by their names, and what a user says. */
#include "fake_trace.h"

#include "analyse/cost/device_peaks.h"

static void devices_are_found_by_whole_words(void **state) {
    static const struct {
        const char *name, *row;
    } rows[] = {
        {"NVIDIA H100 80GB HBM3", "H100 SXM"},
        {"NVIDIA H100 PCIe", "H100 PCIe"},
        {"NVIDIA H100 NVL", "H100 NVL"},
        {"NVIDIA H200", "H200 SXM"},
        {"NVIDIA A100-SXM4-80GB", "A100 80GB SXM"},
        {"NVIDIA A100-SXM4-40GB", "A100 40GB"},
        {"NVIDIA A100 80GB PCIe", "A100 80GB PCIe"},
        {"Tesla V100-SXM2-32GB", "V100 SXM2"},
        {"Tesla T4", "T4"},
        {"NVIDIA A10", "A10"},
        {"NVIDIA L4", "L4"},
        {"NVIDIA L40S", "L40S"},
        {"NVIDIA GeForce RTX 4090", "RTX 4090"},
        {"NVIDIA B200", "B200"},
        {"AMD Instinct MI300X", "MI300X"},
        {"AMD Instinct MI250X / MI250", "MI250X (half)"},
        {"Intel(R) Data Center GPU Max 1550", "Max 1550"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_text(device_peaks_of(str_of(rows[i].name)).device, rows[i].row);
    static const char *const others[] = {"",
                                         "NVIDIA A10G",
                                         "NVIDIA GeForce RTX 4090 Laptop GPU",
                                         "NVIDIA GeForce RTX 4090 D",
                                         "NVIDIA GH200 480GB",
                                         "Some Accelerator"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(device_peaks_of(str_of(others[i])).device.n);
}

static void peaks_are_by_type_and_unit(void **state) {
    device_peaks p = device_peaks_of(STR("NVIDIA H100 80GB HBM3"));
    assert_near(device_peak(&p, DTYPE_BF16, true), 989.4e12);
    assert_near(device_peak(&p, DTYPE_TF32, true), 494.7e12);
    assert_near(device_peak(&p, DTYPE_FP32, false), 67e12);
    assert_near(device_peak(&p, DTYPE_BF16, false), 67e12); /* computed in float32 */
    assert_near(device_peak(&p, DTYPE_FP4, true), 0);
    assert_near(p.bytes_per_s, 3350e9);
}

static void the_user_knows_better(void **state) {
    fake f;
    fake_init(&f);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    device_peaks peaks;
    error err;
    assert_int_equal(device_peaks_find(t, &p, &peaks, &err), OK);
    assert_near(peaks.bytes_per_s, 0);
    p.extra[0].name = STR("peak_tflops");
    p.extra[0].value = STR("bf16=100, FP32=20.5");
    p.extra[1].name = STR("peak_gbps");
    p.extra[1].value = STR("800");
    p.n_extra = 2;
    assert_int_equal(device_peaks_find(t, &p, &peaks, &err), OK);
    assert_true(peaks.given);
    assert_near(device_peak(&peaks, DTYPE_BF16, true), 100e12);
    assert_near(device_peak(&peaks, DTYPE_FP16, false), 20.5e12);
    assert_near(peaks.bytes_per_s, 800e9);
    static const char *const bad[] = {"bf16",   "bf16=",   "bf17=3",
                                      "bf16=0", "bf16=-2", "bf16=nan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        p.extra[0].value = str_of(bad[i]);
        assert_int_equal(device_peaks_find(t, &p, &peaks, &err), ERR_ARG);
    }
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_found_by_whole_words),
        cmocka_unit_test(peaks_are_by_type_and_unit),
        cmocka_unit_test(the_user_knows_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
