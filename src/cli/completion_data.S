/* completion_data.S: the scripts of completions/ as data; the Makefile knows that this depends on
 * them. */

.macro SCRIPT name, file
    .globl \name, \name\()_end
    .hidden \name, \name\()_end
\name: .incbin "\file"
\name\()_end: .byte 0
.endm

    .section .rodata
SCRIPT completion_bash, "completions/tacho.bash"
SCRIPT completion_zsh, "completions/_tacho"
SCRIPT completion_fish, "completions/tacho.fish"

    .section .note.GNU-stack, "", %progbits
