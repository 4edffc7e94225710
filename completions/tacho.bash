# bash completion for tacho; made by tools/generate; do not edit
_tacho() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "info operators kernels overview steps memory modules summary export help version --help --version" -- "$word"))
        return
    fi
    case ${COMP_WORDS[1]}:$before in
    info:--run) return ;;
    info:--worker) return ;;
    info:--span) return ;;
    info:--from) return ;;
    info:--to) return ;;
    info:--step) return ;;
    info:--sort) return ;;
    info:--search) return ;;
    info:--limit) return ;;
    info:--format) COMPREPLY=($(compgen -W "text json csv md columns" -- "$word")); return ;;
    info:--table) return ;;
    info:--threads) return ;;
    info:--memory-limit) return ;;
    info:--lang) COMPREPLY=($(compgen -W "en zh" -- "$word")); return ;;
    operators:--group-by) COMPREPLY=($(compgen -W "name name+shape name+stack name+shape+stack type" -- "$word")); return ;;
    operators:--run) return ;;
    operators:--worker) return ;;
    operators:--span) return ;;
    operators:--from) return ;;
    operators:--to) return ;;
    operators:--step) return ;;
    operators:--sort) return ;;
    operators:--search) return ;;
    operators:--limit) return ;;
    operators:--format) COMPREPLY=($(compgen -W "text json csv md columns" -- "$word")); return ;;
    operators:--table) return ;;
    operators:--threads) return ;;
    operators:--memory-limit) return ;;
    operators:--lang) COMPREPLY=($(compgen -W "en zh" -- "$word")); return ;;
    kernels:--group-by) COMPREPLY=($(compgen -W "name name+op launch" -- "$word")); return ;;
    kernels:--run) return ;;
    kernels:--worker) return ;;
    kernels:--span) return ;;
    kernels:--from) return ;;
    kernels:--to) return ;;
    kernels:--step) return ;;
    kernels:--sort) return ;;
    kernels:--search) return ;;
    kernels:--limit) return ;;
    kernels:--format) COMPREPLY=($(compgen -W "text json csv md columns" -- "$word")); return ;;
    kernels:--table) return ;;
    kernels:--threads) return ;;
    kernels:--memory-limit) return ;;
    kernels:--lang) COMPREPLY=($(compgen -W "en zh" -- "$word")); return ;;
    overview:--run) return ;;
    overview:--worker) return ;;
    overview:--span) return ;;
    overview:--from) return ;;
    overview:--to) return ;;
    overview:--step) return ;;
    overview:--sort) return ;;
    overview:--search) return ;;
    overview:--limit) return ;;
    overview:--format) COMPREPLY=($(compgen -W "text json csv md columns" -- "$word")); return ;;
    overview:--table) return ;;
    overview:--threads) return ;;
    overview:--memory-limit) return ;;
    overview:--lang) COMPREPLY=($(compgen -W "en zh" -- "$word")); return ;;
    steps:--run) return ;;
    steps:--worker) return ;;
    steps:--span) return ;;
    steps:--from) return ;;
    steps:--to) return ;;
    steps:--step) return ;;
    steps:--sort) return ;;
    steps:--search) return ;;
    steps:--limit) return ;;
    steps:--format) COMPREPLY=($(compgen -W "text json csv md columns" -- "$word")); return ;;
    steps:--table) return ;;
    steps:--threads) return ;;
    steps:--memory-limit) return ;;
    steps:--lang) COMPREPLY=($(compgen -W "en zh" -- "$word")); return ;;
    memory:--run) return ;;
    memory:--worker) return ;;
    memory:--span) return ;;
    memory:--from) return ;;
    memory:--to) return ;;
    memory:--step) return ;;
    memory:--sort) return ;;
    memory:--search) return ;;
    memory:--limit) return ;;
    memory:--format) COMPREPLY=($(compgen -W "text json csv md columns" -- "$word")); return ;;
    memory:--table) return ;;
    memory:--threads) return ;;
    memory:--memory-limit) return ;;
    memory:--lang) COMPREPLY=($(compgen -W "en zh" -- "$word")); return ;;
    modules:--group-by) COMPREPLY=($(compgen -W "name type" -- "$word")); return ;;
    modules:--run) return ;;
    modules:--worker) return ;;
    modules:--span) return ;;
    modules:--from) return ;;
    modules:--to) return ;;
    modules:--step) return ;;
    modules:--sort) return ;;
    modules:--search) return ;;
    modules:--limit) return ;;
    modules:--format) COMPREPLY=($(compgen -W "text json csv md columns" -- "$word")); return ;;
    modules:--table) return ;;
    modules:--threads) return ;;
    modules:--memory-limit) return ;;
    modules:--lang) COMPREPLY=($(compgen -W "en zh" -- "$word")); return ;;
    summary:--run) return ;;
    summary:--worker) return ;;
    summary:--span) return ;;
    summary:--from) return ;;
    summary:--to) return ;;
    summary:--step) return ;;
    summary:--limit) return ;;
    summary:--threads) return ;;
    summary:--memory-limit) return ;;
    summary:--lang) COMPREPLY=($(compgen -W "en zh" -- "$word")); return ;;
    export:--run) return ;;
    export:--worker) return ;;
    export:--span) return ;;
    export:--from) return ;;
    export:--to) COMPREPLY=($(compgen -W "chrome csv tacho" -- "$word")); return ;;
    export:--until) return ;;
    export:--threads) return ;;
    export:--memory-limit) return ;;
    export:--lang) COMPREPLY=($(compgen -W "en zh" -- "$word")); return ;;
    help:--lang) COMPREPLY=($(compgen -W "en zh" -- "$word")); return ;;
    version:--lang) COMPREPLY=($(compgen -W "en zh" -- "$word")); return ;;
    info:--logdir|operators:--logdir|kernels:--logdir|overview:--logdir|steps:--logdir|memory:--logdir|modules:--logdir|summary:--logdir|export:--logdir|export:--output|export:-o) COMPREPLY=($(compgen -f -- "$word")); return ;;
    help:*) COMPREPLY=($(compgen -W "info operators kernels overview steps memory modules summary export help version" -- "$word")); return ;;
    esac
    case ${COMP_WORDS[1]} in
    info) options="--run --worker --span --all-workers --logdir --from --to --step --sort --search --limit --format --json --table --threads --no-cache --memory-limit --stable --strict --quiet --lang --help" ;;
    operators) options="--group-by --run --worker --span --all-workers --logdir --from --to --step --sort --search --limit --format --json --table --threads --no-cache --memory-limit --stable --strict --quiet --lang --help" ;;
    kernels) options="--group-by --run --worker --span --all-workers --logdir --from --to --step --sort --search --limit --format --json --table --threads --no-cache --memory-limit --stable --strict --quiet --lang --help" ;;
    overview) options="--run --worker --span --all-workers --logdir --from --to --step --sort --search --limit --format --json --table --threads --no-cache --memory-limit --stable --strict --quiet --lang --help" ;;
    steps) options="--run --worker --span --all-workers --logdir --from --to --step --sort --search --limit --format --json --table --threads --no-cache --memory-limit --stable --strict --quiet --lang --help" ;;
    memory) options="--run --worker --span --all-workers --logdir --from --to --step --sort --search --limit --format --json --table --threads --no-cache --memory-limit --stable --strict --quiet --lang --help" ;;
    modules) options="--group-by --run --worker --span --all-workers --logdir --from --to --step --sort --search --limit --format --json --table --threads --no-cache --memory-limit --stable --strict --quiet --lang --help" ;;
    summary) options="--run --worker --span --logdir --from --to --step --limit --threads --no-cache --memory-limit --stable --strict --quiet --lang --help" ;;
    export) options="--run --worker --span --logdir --from --to --until --output --threads --no-cache --memory-limit --strict --quiet --lang --help" ;;
    help) options="--lang --help" ;;
    version) options="--lang --help" ;;
    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _tacho tacho
