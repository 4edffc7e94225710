# bash completion for tacho: the program itself says what a word can become.
#   source <(tacho completions bash)
_tacho() {
    local line
    COMPREPLY=()
    compopt +o default 2>/dev/null
    while IFS= read -r line; do
        case $line in
        :files) compopt -o default 2>/dev/null ;;
        *) COMPREPLY+=("$line") ;;
        esac
    done < <("${COMP_WORDS[0]}" completions bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
}
complete -F _tacho tacho
