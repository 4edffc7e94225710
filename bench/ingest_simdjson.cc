/* ingest_simdjson.cc: simdjson's tree parse as two C functions, for bench/ingest.c.
 *
 * The tree (its `dom` interface) is the fair opponent: it has read everything once it returns.
 * The on-demand interface only looks for structure until values are asked for. */
#include <simdjson.h>

#include <new>
#include <string>

extern "C" {
void *tree_parser_new(void);
void tree_parser_free(void *parser);
int tree_parser_parse(void *parser, const char *text, size_t n);
size_t tree_parser_padding(void);
const char *tree_parser_kind(void);
}

void *tree_parser_new(void) {
    return new (std::nothrow) simdjson::dom::parser;
}

void tree_parser_free(void *parser) {
    delete static_cast<simdjson::dom::parser *>(parser);
}

/* 0, or simdjson's error number. The padding must be there: the text is not copied. */
int tree_parser_parse(void *parser, const char *text, size_t n) {
    simdjson::dom::element root;
    return static_cast<simdjson::dom::parser *>(parser)->parse(text, n, false).get(root);
}

size_t tree_parser_padding(void) {
    return simdjson::SIMDJSON_PADDING;
}

const char *tree_parser_kind(void) {
    static const std::string name = simdjson::get_active_implementation()->name();
    return name.c_str();
}
