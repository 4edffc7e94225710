/* page_data.S: the files of the page as data, and the table page.c looks them up in.
 * tools/embed-page writes page_files.inc: one FILE line for each, with path, media type, tag,
 * and the name of the file that holds it; the same name with .gz holds it compressed. */

.macro FILE name, path, media, etag, file, immutable
    .section .rodata
\name\()_path:  .asciz "\path"
\name\()_media: .asciz "\media"
\name\()_etag:  .asciz "\"\etag\""
\name\()_gzip_etag: .asciz "\"\etag-gzip\""
    .balign 16
\name\()_plain: .incbin "\file"
\name\()_plain_end:
    .balign 16
\name\()_gzip: .incbin "\file\().gz"
\name\()_gzip_end:
    .section .data.rel.ro, "aw"
    .quad \name\()_path, \name\()_media, \immutable
    .quad \name\()_plain, \name\()_plain_end - \name\()_plain, \name\()_etag
    .quad \name\()_gzip, \name\()_gzip_end - \name\()_gzip, \name\()_gzip_etag
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
    .quad (page_files_end - page_files) / 72

    .section .note.GNU-stack, "", %progbits
