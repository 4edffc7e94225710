/* op_cost_test.c: operations and bytes by hand. */
#include "fake_trace.h"

#include <math.h>

#include "analyse/cost/op_cost.h"

typedef struct {
    const char *name, *shapes, *types, *inputs;
    double flops, bytes; /* -1: not known */
} wanted;

#define F "\"float\""
#define B "\"c10::BFloat16\""
#define S "\"Scalar\""
#define L "\"ScalarList\""

static bool same(double got, double want) {
    return want < 0 ? isnan(got) : fabs(got - want) <= 1e-9 * want;
}

static void check(const wanted *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const wanted *w = &rows[i];
        op_cost c =
            op_cost_of(str_of(w->name), str_of(w->shapes), str_of(w->types), str_of(w->inputs));
        if (!same(c.flops, w->flops) || !same(c.bytes, w->bytes))
            fail_msg("%s %s: %.0f operations, %.0f bytes instead of %.0f, %.0f", w->name,
                     w->shapes, c.flops, c.bytes, w->flops, w->bytes);
    }
}

#define CHECK(rows) check(rows, sizeof rows / sizeof *rows)

static void products(void **state) {
    static const wanted rows[] = {
        {"aten::mm", "[[4,8],[8,16]]", "[" F "," F "]", "", 1024, 4 * (32 + 128 + 64)},
        {"aten::mm", "[[4,8],[8,16],[4,16]]", "[" F "," F "," F "]", "", 1024,
         4 * (32 + 128 + 64)},
        {"aten::mm", "[[4,8],[7,16]]", "[" F "," F "]", "", -1, 4 * (32 + 112)},
        {"aten::addmm", "[[16],[4,8],[8,16],[],[]]", "[" F "," F "," F "," S "," S "]", "",
         1024, 4 * (16 + 32 + 128 + 64)},
        {"aten::addmm_", "[[4,16],[4,8],[8,16],[],[]]", "[" F "," F "," F "," S "," S "]", "",
         1024, 4 * (64 + 32 + 128 + 64)},
        {"aten::bmm", "[[3,4,8],[3,8,16]]", "[" B "," B "]", "", 3 * 1024,
         2 * 3 * (32 + 128 + 64)},
        {"aten::matmul", "[[5,3,4,8],[8,16]]", "[" B "," B "]", "", 15 * 1024,
         2 * (15 * 32 + 128 + 15 * 64)},
        {"aten::mv", "[[6,7],[7]]", "[" F "," F "]", "", 84, 4 * (42 + 7 + 6)},
        {"aten::linear", "[[2,7,48],[64,48],[64]]", "[" F "," F "," F "]", "", 2 * 14 * 48 * 64,
         4 * (14 * 48 + 64 * 48 + 64 + 14 * 64)},
        {"aten::_grouped_mm", "[[10,8],[3,8,16],[3]]", "[" B "," B ",\"int\"]", "",
         2 * 10 * 8 * 16, 2 * (80 + 384 + 160) + 12},
        {"aten::_scaled_mm", "[[4,8],[8,16],[],[]]",
         "[\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\"," F "," F "]", "", 1024,
         32 + 128 + 8 + 2 * 64},
        {"aten::mm", "[[4,8],[8,16]]", "", "", 1024, -1}, /* types not recorded */
        {"aten::unknown", "[[4,8],[8,16]]", "[" F "," F "]", "", -1, -1},
    };
    CHECK(rows);
}

static void convolutions(void **state) {
#define CONV_TYPES "[" F "," F ",\"\"," L "," L "," L "," S "]"
    static const wanted rows[] = {
        {"aten::conv2d", "[[2,8,20,24],[16,8,3,5],[],[],[],[],[]]", CONV_TYPES,
         "[\"\",\"\",\"\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"1\"]", 844800,
         4 * (7680 + 1920 + 2 * 16 * 10 * 11)},
        {"aten::conv2d", "[[2,8,20,24],[8,1,3,3],[],[],[],[],[]]", CONV_TYPES,
         "[\"\",\"\",\"\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\",\"8\"]", 138240,
         4 * (7680 + 72 + 7680)},
        {"aten::conv2d", "[[2,8,20,24],[4,8,3,3],[],[],[],[],[]]", CONV_TYPES, "", -1, -1},
        {"aten::conv2d", "[[2,8,20,24],[4,8,3,3],[],[],[],[],[]]", CONV_TYPES,
         "[\"\",\"\",\"\",\"[1, 1]\",\"\",\"[1, 1]\",\"1\"]", -1, -1}, /* padding='same' */
        {"aten::conv2d", "[[2,8,20,24],[4,8,3,3],[],[],[],[],[]]", CONV_TYPES,
         "[\"\",\"\",\"\",\"[0, 0]\",\"[1, 1]\",\"[1, 1]\",\"1\"]", -1, -1},
        {"aten::conv_transpose2d", "[[2,8,20,24],[8,6,3,3],[],[],[],[],[],[]]",
         "[" F "," F ",\"\"," L "," L "," L "," S "," L "]",
         "[\"\",\"\",\"\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"1\",\"[1, 1]\"]", 829440,
         4 * (7680 + 432 + 2 * 6 * 40 * 48)},
        {"aten::convolution_backward",
         "[[2,16,10,11],[2,8,20,24],[16,8,3,5],[],[],[],[],[],[],[],[]]",
         "[" F "," F "," F "," L "," L "," L "," L "," S "," L "," S "," L "]",
         "[\"\",\"\",\"\",\"[0]\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\","
         "\"[True, True, False]\"]",
         2 * 844800, 2 * 4 * (3520 + 7680 + 1920)},
        {"aten::convolution_backward",
         "[[2,16,10,11],[2,8,20,24],[16,8,3,5],[],[],[],[],[],[],[],[]]",
         "[" F "," F "," F "," L "," L "," L "," L "," S "," L "," S "," L "]",
         "[\"\",\"\",\"\",\"[0]\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\","
         "\"[False, True, False]\"]",
         844800, 4 * (3520 + 7680 + 1920)},
    };
    CHECK(rows);
}

static void attention(void **state) {
#define SDPA "aten::scaled_dot_product_attention"
#define QKV "[" B "," B "," B
    static const wanted rows[] = {
        {SDPA, "[[2,3,40,16],[2,3,20,16],[2,3,20,16],[],[],[],[],[]]",
         QKV ",\"\"," S "," S "," S "," S "]",
         "[\"\",\"\",\"\",\"\",\"0.\",\"False\",\"\",\"False\"]", 4.0 * 6 * 40 * 20 * 16,
         2.0 * 6 * 16 * (40 + 20 + 20 + 40)},
        {SDPA, "[[2,3,40,16],[2,3,40,16],[2,3,40,16],[],[],[],[],[]]",
         QKV ",\"\"," S "," S "," S "," S "]",
         "[\"\",\"\",\"\",\"\",\"0.\",\"True\",\"\",\"False\"]", 4.0 * 6 * 40 * 20 * 16,
         2.0 * 6 * 16 * 160},
        {SDPA, "[[2,3,40,16],[2,3,40,16],[2,3,40,16],[],[],[],[],[]]",
         QKV ",\"\"," S "," S "," S "," S "]", "", -1, 2.0 * 6 * 16 * 160},
        /* [batch, length, heads, d], fewer queries than keys, the mask of the last keys */
        {"flash_attn::_flash_attn_forward",
         "[[2,10,4,16],[2,40,1,16],[2,40,1,16],[],[],[],[],[]]",
         QKV "," S "," S "," S "," S "," S "]",
         "[\"\",\"\",\"\",\"0.\",\"0.25\",\"True\",\"-1\",\"-1\"]",
         4.0 * 2 * 4 * (400 - 50) * 16, 2.0 * 2 * 16 * (40 + 40 + 40 + 40)},
        {"flash_attn::_flash_attn_forward",
         "[[2,40,4,16],[2,40,4,16],[2,40,4,16],[],[],[],[],[]]",
         QKV "," S "," S "," S "," S "," S "]",
         "[\"\",\"\",\"\",\"0.\",\"0.25\",\"True\",\"8\",\"0\"]", -1, 2.0 * 2 * 160 * 4 * 16},
        /* packed: three sequences of 20; then of other lengths */
        {"flash_attn::_flash_attn_varlen_forward",
         "[[60,4,16],[60,4,16],[60,4,16],[4],[4],[],[],[],[],[]]",
         QKV ",\"int\",\"int\"," S "," S "," S "," S "," S "]",
         "[\"\",\"\",\"\",\"\",\"\",\"20\",\"20\",\"0.\",\"0.25\",\"False\"]",
         4.0 * 3 * 4 * 400 * 16, 2.0 * 4 * 60 * 64 + 32},
        {"flash_attn::_flash_attn_varlen_forward",
         "[[50,4,16],[50,4,16],[50,4,16],[4],[4],[],[],[],[],[]]",
         QKV ",\"int\",\"int\"," S "," S "," S "," S "," S "]",
         "[\"\",\"\",\"\",\"\",\"\",\"20\",\"20\",\"0.\",\"0.25\",\"False\"]", -1, -1},
        {"aten::_scaled_dot_product_flash_attention_for_cpu_backward",
         "[[2,3,40,16],[2,3,40,16],[2,3,40,16],[2,3,40,16],[2,3,40,16],[2,3,40],[],[]]",
         "[" F "," F "," F "," F "," F "," F "," S "," S "]",
         "[\"\",\"\",\"\",\"\",\"\",\"\",\"0.\",\"True\"]", 10.0 * 6 * 800 * 16,
         4.0 * (8 * 3840 + 240)},
        {"vllm::unified_attention_with_output", "[[32,64,64],[32,8,64],[32,8,64]]", QKV "]", "",
         -1, -1}, /* paged: lengths are not recorded */
    };
    CHECK(rows);
    op_cost c = op_cost_of(
        STR("aten::_scaled_dot_product_flash_attention_for_cpu_backward"),
        STR("[[2,3,40,16],[2,3,40,16],[2,3,40,16],[2,3,40,16],[2,3,40,16],[2,3,40],[],[]]"),
        STR("[" F "," F "," F "," F "," F "," F "," S "," S "]"),
        STR("[\"\",\"\",\"\",\"\",\"\",\"\",\"0.\",\"True\"]"));
    assert_near(c.repeated, c.flops / 5); /* the scores, once more */
    assert_true(c.matrix);
}

static void the_rest(void **state) {
    static const wanted rows[] = {
        {"aten::add", "[[9],[5,9],[]]", "[" F "," F "," S "]", "", 45, 4 * (9 + 45 + 45)},
        {"aten::mul", "[[5,9],[5,9],[5,9]]", "[" B "," B "," B "]", "", 45, 2 * 135}, /* out= */
        {"aten::mul", "[[5,9],[]]", "[" B ",\"double\"]", "", 45, 2 * 90 + 8},
        {"aten::mul", "[[5,9],[4,9]]", "[" F "," F "]", "", -1, -1},
        {"aten::gt", "[[5,9],[]]", "[" F "," S "]", "", 45, 45 * 5},
        {"aten::add_", "[[5,9],[5,9],[]]", "[" B "," F "," S "]", "", 45, 45 * (2 + 4 + 2)},
        {"aten::copy_", "[[5,9],[5,9],[]]", "[" B "," F "," S "]", "", 0, 45 * 6},
        {"aten::native_layer_norm", "[[4,10,32],[],[32],[32],[]]",
         "[" F "," L "," F "," F "," S "]", "", 6400, 4 * (1280 * 2 + 64)},
        {"aten::_softmax", "[[8,33],[],[]]", "[" F "," S "," S "]", "", 1320, 8 * 264},
        {"aten::sum", "[[8,32],[],[],[]]", "[" F "," L "," S ",\"\"]",
         "[\"\",\"[0]\",\"True\",\"\"]", 256, 4 * (256 + 32)},
        {"aten::sum", "[[8,32],[]]", "[" F ",\"\"]", "[\"\",\"\"]", 256, 4 * 257},
        {"aten::embedding", "[[50,12],[4,6],[],[],[]]",
         "[" F ",\"long int\"," S "," S "," S "]", "", 0, 24 * 8 + 2 * 24 * 12 * 4},
        {"aten::max_pool2d_with_indices", "[[2,8,20,24],[],[],[],[],[]]",
         "[" F "," L "," L "," L "," L "," S "]",
         "[\"\",\"[3, 3]\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"False\"]", 2 * 8 * 10 * 12 * 9,
         7680 * 4 + 1920 * 12},
        {"aten::cat", "[[[2,3],[2,3]],[]]", "[\"TensorList\"," S "]", "", 0, -1},
        {"aten::_foreach_add_", "[[[2,3],[4]],[]]", "[\"TensorList\"," S "]", "", 10, -1},
        {"triton_poi_fused_add_gelu_mul_3", "[[64],[64],[]]", "[" B "," F "," S "]", "", 3 * 64,
         64 * 6},
        {"triton_per_fused__softmax__to_copy_add_0", "[[64],[64]]", "[" B "," B "]", "", 6 * 64,
         256},
        {"triton_tem_fused_mm_0", "[[4,8],[8,16],[4,16]]", "[" B "," B "," B "]", "", 1024,
         2 * (32 + 128 + 64)},
        {"triton_tem_fused_convolution_0", "[[4,8],[8,16],[4,16]]", "[" B "," B "," B "]", "",
         -1, -1},
    };
    CHECK(rows);
}

static void what_cannot_be_gives_no_figure(void **state) {
    static const wanted rows[] = {
        {"aten::conv_transpose2d", "[[2,8,20,24],[8,6,3,3],[],[],[],[],[],[]]",
         "[" F "," F ",\"\"," L "," L "," L "," S "," L "]",
         "[\"\",\"\",\"\",\"[9223372036854775807]\",\"[1, 1]\",\"[1, 1]\",\"1\",\"[1, 1]\"]",
         -1, -1},
        {"aten::conv2d", "[[2,8,20,24],[4,8,99,3],[],[],[],[],[]]", CONV_TYPES,
         "[\"\",\"\",\"\",\"[1, 1]\",\"[0, 0]\",\"[1, 1]\",\"1\"]", -1,
         -1}, /* window > input */
        {"aten::upsample_nearest2d", "[[1,2,4,4],[]]", "[" F "," L "]",
         "[\"\",\"[-9223372036854775808, 8]\"]", -1, -1},
        {"aten::max_pool2d", "[[1,2,4,4],[],[],[]]", "[" F "," L "," L "," L "]",
         "[\"\",\"[9223372036854775807, 1]\",\"[1, 1]\",\"[0, 0]\"]", -1, -1},
        {"aten::embedding_dense_backward", "[[1,4,8],[1,4],[]]", "[" F ",\"long int\"," S "]",
         "[\"\",\"\",\"-5\"]", -1, -1},
        {"aten::mm", "[[0,8],[8,16]]", "[" F "," F "]", "", 0, 4 * 128},
        {"aten::mm", "[]", "[]", "[]", -1, 0},
        {"aten::add", "[]", "[]", "[]", -1, -1},
    };
    CHECK(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(attention),
        cmocka_unit_test(the_rest),
        cmocka_unit_test(what_cannot_be_gives_no_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
