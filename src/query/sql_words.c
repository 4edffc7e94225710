/* sql_words.c: the words of the enumerations in store/schema.h, as columns show them: data, the
 * same in every language. What kinds and devices are called is analyse/kind_names.c's. */
#include <ctype.h>
#include <pthread.h>

#include "analyse/kind_names.h"
#include "query/sql_columns.h"

#define WORDS(name, ...)                                                \
    static str name(const trace *t, uint32_t number) {                  \
        static const char *const words[] = {__VA_ARGS__};               \
        (void)t;                                                        \
        return number < N_OF(words) ? str_of(words[number]) : STR_NONE; \
    }

WORDS(track_kind_word, NULL, "thread", "stream", "counter", "async", "span")
WORDS(flow_kind_word, "other", "forward_backward", "launch", "dispatch", "tensor", "value",
      "owner")
WORDS(link_how_word, "none", "exact", "contained", "order", "graph", "launch_only", "inferred",
      "captured")
WORDS(phase_word, NULL, "data", "forward", "backward", "optimizer", "communication")
WORDS(memory_kind_word, NULL, "allocation", "release", "segment_allocation", "segment_release",
      "out_of_memory", "existing", "existing_segment")
WORDS(pipe_role_word, "operator", "host_queue", "data_queue")
WORDS(producer_level_word, "operator", "type", "kernel")
WORDS(cpu_scope_word, "machine", "process", "operator")
WORDS(sample_state_word, "running", "gil", "lock", "file", "socket", "sleep", "child",
      "unknown")
WORDS(finding_topic_word, "other", "ai_cpu")
WORDS(step_point_word, NULL, "forward_start", "backward_end")

static str slice_kind_word(const trace *t, uint32_t number) {
    (void)t;
    return number < N_KINDS ? kind_name((uint8_t)number) : STR_NONE;
}

static str step_how_word(const trace *t, uint32_t number) {
    (void)t;
    return number < N_STEP_HOW ? step_source((uint8_t)number) : STR_NONE;
}

static str device_type_word(const trace *t, uint32_t number) {
    return number <= UINT8_MAX ? device_word(t, (uint8_t)number) : STR_NONE;
}

/* The identifiers in small letters, made once. */
static char cause_words[N_CAUSES][32];
static pthread_once_t causes_made = PTHREAD_ONCE_INIT;

static void make_causes(void) {
    static const char *const names[N_CAUSES] = {
#define CAUSE_WORD(name) [CAUSE_##name] = #name,
        CAUSES(CAUSE_WORD)
#undef CAUSE_WORD
    };
    for (size_t i = 1; i < N_CAUSES; i++)
        for (size_t k = 0; names[i][k] && k + 1 < sizeof cause_words[i]; k++)
            cause_words[i][k] = (char)tolower((unsigned char)names[i][k]);
}

static str cause_word(const trace *t, uint32_t number) {
    (void)t;
    pthread_once(&causes_made, make_causes);
    return number > CAUSE_NONE && number < N_CAUSES ? str_of(cause_words[number]) : STR_NONE;
}

static const struct {
    const char *name;
    word_fn word;
} ENUMERATIONS[] = {
    {"slice_kind", slice_kind_word},
    {"track_kind", track_kind_word},
    {"flow_kind", flow_kind_word},
    {"link_how", link_how_word},
    {"phase", phase_word},
    {"memory_kind", memory_kind_word},
    {"step_how", step_how_word},
    {"device_type", device_type_word},
    {"cause", cause_word},
    {"pipe_role", pipe_role_word},
    {"producer_level", producer_level_word},
    {"cpu_scope", cpu_scope_word},
    {"sample_state", sample_state_word},
    {"finding_topic", finding_topic_word},
    {"step_point_kind", step_point_word},
};

word_fn sql_words(str enumeration) {
    for (size_t i = 0; i < N_OF(ENUMERATIONS); i++)
        if (str_eq(str_of(ENUMERATIONS[i].name), enumeration)) return ENUMERATIONS[i].word;
    return NULL;
}
