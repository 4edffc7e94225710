/* page_data.S: the files of the page as data, and the table page.c looks them up in. tools/embed-page
 * writes page_files.inc: one FILE line for each, compressed, with path, media type and tag. */

.macro FILE name, path, media, etag, file, immutable
    .section .rodata
\name\()_path:  .asciz "\path"
\name\()_media: .asciz "\media"
\name\()_etag:  .asciz "\"\etag\""
    .balign 16
\name\()_bytes: .incbin "\file"
\name\()_end:
    .section .data.rel.ro, "aw"
    .quad \name\()_path, \name\()_media, \name\()_etag, \name\()_bytes
    .quad \name\()_end - \name\()_bytes, \immutable
.endm

    .section .data.rel.ro, "aw"
    .balign 8
    .globl page_files
    .hidden page_files
page_files:
#include "page_files.inc"
    .section .data.rel.ro, "aw"
page_files_end:

    .section .data.rel.ro, "aw"
    .balign 8
    .globl n_page_files
    .hidden n_page_files
n_page_files:
    .quad (page_files_end - page_files) / 48

    .section .note.GNU-stack, "", %progbits
