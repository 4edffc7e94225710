/* inside.h: what a host in JavaScript calls (web/src/wasm/program.ts). Texts are UTF-8 in rooms
 * of page_room. */
#ifndef WASM_INSIDE_H
#define WASM_INSIDE_H

#include <stddef.h>

void *page_room(size_t n);
void page_room_back(void *p);
/* 0, or 1 after the failure was answered. The folder ends in NUL. takes_files: the host gives
 * files with its questions. */
int page_open(const char *folder, int takes_files);
/* target: path and query of a request. file_bytes: of the file that comes with it. */
void page_ask(const char *target, size_t n, double file_bytes);
/* 1: another look is worth it in a second. */
int page_look(void);
/* 0: there was nothing to do. */
int page_work(void);

#endif
