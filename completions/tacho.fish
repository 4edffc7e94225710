# fish completion for tacho: the program itself says what a word can become.
#   tacho completions fish | source
function __tacho_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l word (commandline -ct)
    for line in ($program completions fish -- $words "$word" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$word"
        else
            echo $line
        end
    end
end
complete -c tacho -f -a '(__tacho_complete)'
