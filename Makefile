# tacho: the one Makefile. `make help` lists the targets.
#
# Everything under src/ except the main file goes into one archive per variant; the program, the
# unit tests, the fuzz targets, the tools and the benches are each a main file linked with it.
# Lists of files are found, not written down: a new file needs no change here.
#
#   build/VARIANT/obj/      objects, mirroring the tree      build/tacho        the release program
#   build/VARIANT/unit/     one program per *_test.c         build/fuzz/NAME    libFuzzer targets
#   build/gen/              generated headers
#
# Variables: VARIANT=release|debug|asan|tsan|integer (clang alone)|wasm (make wasm)  CC=gcc|clang-14  WERROR=1  V=1 (show commands)
#            PREFIX=/usr/local  DESTDIR=  SERVE=no (demo)  TORCH=yes LEAKS=yes PACKAGES=all (test)
#            CPPFLAGS, CFLAGS and LDFLAGS are added to ours.

VERSION := 0.2.0
# The address of the project, for the packages' metadata; left out of them while it is empty.
HOME_PAGE :=
VARIANT ?= release
PREFIX  ?= /usr/local
B       := build/$(VARIANT)
Q       := $(if $(V),,@)

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# Objects are kept over builds, branches and clones where ccache is installed.
CCACHE := $(shell command -v ccache 2>/dev/null)
# It takes the headers from -MMD instead of preprocessing first, which is a fifth of the time of a new object.
export CCACHE_DEPEND := 1
# A developer's language does not keep his objects from the tests, which have another one.
export CCACHE_SLOPPINESS := locale

# One unit test, built without optimization and run: make t=select
ifdef t
.DEFAULT_GOAL := one
.PHONY: one
one:
	@$(MAKE) --no-print-directory VARIANT=debug build/debug/unit/$(t)_test
	@build/debug/unit/$(t)_test
endif

# ---- what is missing ---------------------------------------------------------------------------
# A newcomer types make: what a build needs and is not there is installed (tools/setup says what), or
# named where that is not allowed. What counts is whether the compiler finds it, wherever it comes from.

NEED_NO_COMPILER := one wasm clean help uninstall gen format format-check check test bench web web-packages web-check web-test
BUILDS := $(filter-out $(NEED_NO_COMPILER),$(or $(MAKECMDGOALS),all))
# 1 when the preprocessor takes a text. \043 is the number sign, which old and new versions of make read differently.
preprocesses = $(shell printf '$1' | $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 && echo 1)
includes = $(foreach h,$1,\043include <$h>\n)
NEW_SQLITE := $(call includes,sqlite3.h)\043if SQLITE_VERSION_NUMBER < 3038000\n\043error\n\043endif\n
NEEDED := stdlib.h zlib.h zstd.h xxhash.h microhttpd.h curl/curl.h sqlite3.h
ifneq ($(BUILDS),)
ifeq ($(MAKELEVEL)$(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS)))),0)
ifneq ($(call preprocesses,$(call includes,$(NEEDED)))$(wildcard /usr/bin/python3),1/usr/bin/python3)
ifeq ($(shell tools/setup build >&2 && echo done),)
$(error something that a build needs is missing: see above)
endif
endif
ifeq ($(call preprocesses,$(call includes,sqlite3.h))$(call preprocesses,$(NEW_SQLITE)),1)
$(error SQLite 3.38 or newer is needed to build tacho; the wheel, the tarball and the Debian package contain it)
endif
endif
endif

# ---- what the compiler is, and what it can do --------------------------------------------------

MACHINE  := $(shell $(CC) -dumpmachine 2>/dev/null)
ARCHIVER := $(shell $(CC) -print-prog-name=ar 2>/dev/null)

# ISA-L inflates several times faster than zlib; where it is absent, zlib does the work.
ifneq ($(filter x86_64-% aarch64-%,$(MACHINE)),)
HAVE_ISAL := $(call preprocesses,$(call includes,isa-l.h))
endif

# ---- flags -------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
SANITIZE_asan := -fsanitize=address,undefined -fno-sanitize-recover=all
SANITIZE_tsan := -fsanitize=thread
# What wraps, is cut or changes its sign without a word, too: a size of a file must not do so. Functions that do it on
# purpose say WRAPS (src/base/num.h). Only clang has this group.
INTEGER       := undefined,integer -fno-sanitize=unsigned-shift-base -fsanitize-ignorelist=tests/fuzz/wraps.txt
# For machines that have no libraries of a compiler (tests/fuzz/campaign_kit).
SANITIZE_kit  := $(SANITIZE_asan) -static-libasan -static-libubsan
SANITIZE_fuzz := -fsanitize=fuzzer-no-link,address,$(INTEGER) -fno-sanitize-recover=all
# INTEGER_RECOVERS= goes on after a finding, to list all of them at once.
INTEGER_RECOVERS ?= -fno-sanitize-recover=all
SANITIZE_integer := -fsanitize=$(INTEGER) $(INTEGER_RECOVERS)
# What a reader of other people's bytes is built with. tests/tools/hardening-test looks at the files.
HARDEN        := -fstack-protector-strong -fstack-clash-protection \
    $(if $(filter aarch64-%,$(MACHINE)),-mbranch-protection=standard) $(if $(filter x86_64-%,$(MACHINE)),-fcf-protection)
HARDEN_LINK   := -Wl,-z,relro,-z,now,-z,noexecstack
# No LTO: it gave less than 1 % of speed, and linking with it took longer than a minute.
OPT_release   := -O2 -D_FORTIFY_SOURCE=2 $(HARDEN)
OPT_debug     := -O0 -g3
# -Og, and lines alone for the debugger: half the time of -O1 -g to compile, as fast.
OPT_asan      := -Og -g1 -fno-omit-frame-pointer $(SANITIZE_asan)
OPT_tsan      := -Og -g1 $(SANITIZE_tsan)
OPT_integer   := -O0 -g1 $(SANITIZE_integer)
# For the page without a server and for node (make wasm). What WASI has not got comes from src/wasm.
OPT_wasm      := -O2 -g0 -msimd128 -include src/wasm/wasi.h \
    $(addprefix -D_WASI_EMULATED_,MMAN SIGNAL PROCESS_CLOCKS GETPID)
OPT_kit       := -O2 -g1 -fno-omit-frame-pointer $(SANITIZE_asan)
OPT_fuzz      := -O1 -g -fno-omit-frame-pointer $(SANITIZE_fuzz)
ifeq ($(OPT_$(VARIANT)),)
$(error VARIANT=$(VARIANT) is none of release, debug, asan, tsan, integer, kit, wasm)
endif

CPP_FLAGS := -D_GNU_SOURCE -DTACHO_VERSION='"$(VERSION)"' $(if $(HAVE_ISAL),-DHAVE_ISAL=1) \
    -Isrc -Iinclude -Ibuild/gen $(CPPFLAGS)
THREADS := $(if $(filter-out wasm,$(VARIANT)),-pthread)
C_FLAGS := -std=gnu11 -funsigned-char -fvisibility=hidden $(THREADS) $(WARNINGS) $(OPT_$(VARIANT)) $(CFLAGS)
# Hundreds of test programs are linked in half the time by mold; tacho and its library are the system linker's.
MOLD    := $(if $(filter-out release,$(VARIANT)),$(shell command -v mold >/dev/null 2>&1 && \
    $(CC) -fuse-ld=mold -Wl,--version >/dev/null 2>&1 && echo -fuse-ld=mold))
# The build id tells the caches of one build from those of another (session/cache_key.c).
L_FLAGS := -pthread -Wl,--as-needed -Wl,--build-id=sha1 $(if $(filter release,$(VARIANT)),$(HARDEN_LINK)) $(SANITIZE_$(VARIANT)) $(LDFLAGS)
LIBS    := $(if $(HAVE_ISAL),-lisal) -lz -lzstd -lxxhash $(if $(wildcard src/serve/*.c),-lmicrohttpd) -lsqlite3 -lm -ldl

# ---- lists -------------------------------------------------------------------------------------

find_c   = $(sort $(shell find $1 -name '*.c' 2>/dev/null))
objects  = $(addprefix $B/obj/,$(addsuffix .o,$(basename $1)))
programs = $(addprefix $B/$2/,$(basename $(notdir $1)))

MAIN      := src/cli/main.c
# The plug-in for MPI is a library of its own, built where its compiler is.
MPI       := src/cluster/mpi_plugin.c
MPICC     := $(shell command -v mpicc 2>/dev/null)
# What needs Linux: processes, sockets, mapped files. WebAssembly has src/wasm and the *_absent.c instead.
in_room   = $(addsuffix .c,$(addprefix src/$1/,$2))
WASM      := $(wildcard src/wasm/*.c) $(wildcard src/*/*_absent.c)
LINUX     := src/serve/page_data.S src/base/mem_map.c src/cli/completion_data.S src/report/%.c src/cluster/%.c src/mcp/%.c \
    $(call in_room,io,remote remote_http remote_list remote_read) \
    $(call in_room,cli,attach_% record_% prove_% cmd_attach cmd_completions cmd_mcp cmd_prove cmd_record cmd_reduce cmd_report \
        cmd_serve cmd_watch) \
    $(call in_room,serve,connections guard listen page sandbox server workers)
EVERYWHERE := $(filter-out $(MAIN) src/record/% $(MPI) $(WASM),$(wildcard src/*/*.c src/*/*/*.c src/*/*.S))
CORE      := $(if $(filter wasm,$(VARIANT)),$(filter-out $(filter-out %_absent.c,$(LINUX)),$(EVERYWHERE)) $(WASM),$(EVERYWHERE))
RECORD    := $(call find_c,src/record)
UNIT_ALL  := $(call find_c,tests/unit)
UNIT      := $(filter %_test.c,$(UNIT_ALL))
HELPERS   := $(filter-out %_test.c,$(UNIT_ALL))
REPLAY    := tests/fuzz/replay_main.c
RUNNER    := tests/fuzz/campaign_runner.c
TARGETS   := tests/fuzz/all_targets.c
FUZZ      := $(filter-out $(REPLAY) $(RUNNER) $(TARGETS),$(wildcard tests/fuzz/*.c))
FAULT     := $(wildcard tests/fault/*.c)
TOOLS     := $(filter-out tools/gentrace_%,$(wildcard tools/*.c))
BENCH     := $(wildcard bench/*.c)
BENCH_CXX := $(wildcard bench/*.cc)
DEMO      := $(wildcard demo/*.c)
DEFS      := $(wildcard src/*/*.def src/*/*/*.def)

ARCHIVE   := $B/libcore.a
TEST_LIBS := $(if $(HELPERS),$B/libhelpers.a) $(ARCHIVE)
UNIT_PROGRAMS  := $(call programs,$(UNIT),unit)
FUZZ_REPLAYS   := $(call programs,$(FUZZ),fuzz)
FAULT_PROGRAMS := $(call programs,$(FAULT),fault)
TOOL_PROGRAMS  := $(call programs,$(TOOLS),tools)
BENCH_PROGRAMS := $(call programs,$(BENCH),bench)
OBJECTS := $(call objects,$(CORE) $(wildcard $(MAIN)) $(RECORD) $(UNIT_ALL) $(FUZZ) $(REPLAY) $(RUNNER) $(TARGETS) \
    $(FAULT) $(wildcard tools/*.c) $(BENCH) $(BENCH_CXX) $(DEMO))

# ---- building ----------------------------------------------------------------------------------

.PHONY: all pictures tests tools replays faults benches fuzz fuzz-programs flags gen hooks test check web web-packages web-check web-test \
    bench demo gpu campaign-kit install uninstall clean format format-check help FORCE

ifeq ($(VARIANT),release)
all: build/tacho $(if $(RECORD),build/libtacho.so) $(if $(DEMO),build/tacho-demo) $(if $(MPICC),build/libtacho_mpi.so)
build/libtacho_mpi.so: $B/libtacho_mpi.so
	@ln -f $< $@
build/tacho: $B/tacho
	@ln -f $< $@
build/libtacho.so: $B/libtacho.so
	@ln -f $< $@
build/tacho-demo: $B/tacho-demo
	@ln -f $< $@
else
all: $B/tacho $(if $(RECORD),$B/libtacho.so) $(if $(DEMO),$B/tacho-demo) $(if $(MPICC),$B/libtacho_mpi.so)
endif
tests:   $(UNIT_PROGRAMS)
tools:   $(TOOL_PROGRAMS)
replays: $(FUZZ_REPLAYS) $B/fuzz/campaign_runner
faults:  $(FAULT_PROGRAMS)
benches: $(BENCH_PROGRAMS)

# A change of compiler or flags rebuilds the variant. -Werror is left out of the comparison: an
# object made without it leaves a .lax mark, and only those are made again when WERROR=1.
export BUILT_WITH := $(CC) $(CPP_FLAGS) $(C_FLAGS) $(ARCHIVER)
$B/.flags: FORCE
	@mkdir -p $B; printf '%s\n' "$$BUILT_WITH" | cmp -s - $@ || printf '%s\n' "$$BUILT_WITH" >$@
ifneq ($(WERROR),)
$(patsubst %.lax,%.o,$(wildcard $(OBJECTS:.o=.lax))): FORCE
endif

$B/obj/tests/unit/%.o: C_FLAGS += -Wno-unused-parameter
$B/obj/tests/fuzz/%.o: C_FLAGS += -Wno-missing-prototypes
$B/obj/tests/%.o: CPP_FLAGS += -Itests
$B/obj/demo/%.o: CPP_FLAGS += -I.
$B/obj/src/record/%.o: C_FLAGS += -fPIC

$B/obj/%.o: %.c $B/.flags
	@mkdir -p $(@D); $(if $(V),,echo '  CC    $<')
	$Q$(CCACHE) $(CC) $(CPP_FLAGS) $(C_FLAGS) $(if $(WERROR),-Werror) -MMD -MP -c $< -o $@
	@$(if $(WERROR),rm -f,touch) $(@:.o=.lax)

$B/obj/%.o: %.S $B/.flags
	@mkdir -p $(@D); $(if $(V),,echo '  AS    $<')
	$Q$(CC) $(CPP_FLAGS) -MMD -MP -c $< -o $@

$B/obj/%.o: %.cc $B/.flags
	@mkdir -p $(@D); $(if $(V),,echo '  CXX   $<')
	$Q$(CXX) $(CPP_FLAGS) -std=c++17 -O2 -Wall -Wextra -MMD -MP -c $< -o $@

# main.c alone knows the commit, so that a new one compiles one file and links one program.
build/gen/commit.h: FORCE
	@mkdir -p $(@D); echo "#define TACHO_COMMIT \"$$(tools/commit)\"" >$@.$$$$.tmp; \
	    cmp -s $@.$$$$.tmp $@ && rm $@.$$$$.tmp || mv $@.$$$$.tmp $@
$B/obj/src/cli/main.o: build/gen/commit.h
$B/obj/src/cli/main.o: CPP_FLAGS += -include build/gen/commit.h

PAGE_IS_BUILT := $(if $(shell [ web/node_modules/.package-lock.json -nt web/package-lock.json ] && command -v node),build/gen/.page)
# The page is data inside the program: .incbin names files that the compiler does not report.
build/gen/page_files.inc: tools/embed-page web/page $(wildcard web/page/*) $(PAGE_IS_BUILT)
	$Qtools/embed-page
$B/obj/src/serve/page_data.o: build/gen/page_files.inc
$B/obj/src/cli/completion_data.o: completions/tacho.bash completions/_tacho completions/tacho.fish

# ---- the page ----------------------------------------------------------------------------------

# It is kept in the repository as esbuild writes it (web/page), so that a build needs neither npm nor the
# network; `make check` fails when it is not what its sources give. Where its packages are installed, a
# build brings it up to date.
web: web-packages
	@$(MAKE) --no-print-directory -W web/build.mjs build/gen/.page
web-packages:
	@tools/setup web
	@$(MAKE) -s --no-print-directory web/node_modules/.package-lock.json
# The named install step: only when the packages are missing or older than the lock file.
web/node_modules/.package-lock.json: web/package-lock.json
	@echo '  NPM   web/node_modules'
	$Qcd web && npm ci --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json
build/gen/.page: web/index.html web/build.mjs web/package-lock.json $(shell find web/src web/css -type f 2>/dev/null)
	@mkdir -p $(@D); $(if $(V),,echo '  WEB   web/page')
	$Qcd web && node build.mjs
	@touch $@
web-check: web/node_modules/.package-lock.json
	@cd web && node_modules/.bin/tsc --noEmit && node_modules/.bin/biome check --diagnostic-level=warn src build.mjs site.mjs
web-test: web/node_modules/.package-lock.json
	@cd web && node build.mjs --tests && node --test ../build/web-tests/

# Archives are made anew, so that a deleted source leaves no object behind.
$(ARCHIVE): $(call objects,$(CORE))
$B/libhelpers.a: $(call objects,$(HELPERS))
$B/%.a:
	@$(if $(V),,echo '  AR    $@')
	$Qrm -f $@ && $(ARCHIVER) rcs $@ $^

$B/tacho: $(call objects,$(MAIN)) $(ARCHIVE)
	@$(if $(V),,echo '  LINK  $@')
	$Q$(CC) $(C_FLAGS) $(if $(WERROR),-Werror) $(L_FLAGS) $^ $(LIBS) -o $@

# The recorder stands on libc alone; -z defs makes a stray dependency an error. It is never unloaded:
# its thread would be left without code.
$B/libtacho.so: $(call objects,$(RECORD))
	@$(if $(V),,echo '  LINK  $@')
	$Q$(CC) $(C_FLAGS) -shared -Wl,-soname,libtacho.so -Wl,-z,defs -Wl,-z,nodelete $(L_FLAGS) $^ -ldl -o $@

# For the page and for node: one module, which its host asks by the functions that src/wasm/page.c exports. All of the
# archive: the host calls what no C file does. xxHash takes its vectors for those of ARM.
$B/tacho.wasm: $(call objects,$(MAIN)) $(ARCHIVE)
	@$(if $(V),,echo '  LINK  $@')
	$Q$(CC) $(C_FLAGS) -Wl,--whole-archive $^ -Wl,--no-whole-archive $(LDFLAGS) $(LIBS) -o $@
$(if $(filter wasm,$(VARIANT)),$(eval $B/obj/src/base/hash.o: C_FLAGS += -mno-simd128))

# Loaded by the program under mpirun and srun alone; no sanitizer: it calls only MPI.
$B/libtacho_mpi.so: $(MPI) src/cluster/plugin.h $B/.flags
	@mkdir -p $(@D); $(if $(V),,echo '  LINK  $@')
	$Q$(MPICC) -Isrc -std=gnu11 -O2 -fPIC -shared -fvisibility=hidden $(WARNINGS) $(if $(WERROR),-Werror) $< -o $@

# The demonstration finds the recorder beside itself in the tree, and in lib when installed.
$B/tacho-demo: $(call objects,$(DEMO)) $B/libtacho.so
	@$(if $(V),,echo '  LINK  $@')
	$Q$(CC) $(C_FLAGS) $(L_FLAGS) $(call objects,$(DEMO)) -L$B -ltacho -lm $(DEMO_LIBS) \
	    -Wl,-rpath,'$$ORIGIN' -Wl,-rpath,'$$ORIGIN/../../lib' -o $@

# For a machine with a GPU: tests/gpu/run takes these and build/libtacho.so there. The package is the one
# that pip would install, with its extension.
gpu: build/gpu-launch build/gpu-knobs build/gpu-empty.so build/gpu-python
build/gpu-empty.so: $B/obj/tests/gpu/empty.o
	@$(if $(V),,echo '  LINK  $@')
	$Q$(CC) $(C_FLAGS) $(L_FLAGS) -shared $< -o $@
build/gpu-python: build/libtacho.so build/tacho python/backend.py $(wildcard python/native/*.c) \
    $(wildcard python/tacho/*.py python/tacho/*/*.py)
	@$(if $(V),,echo '  WHEEL $@')
	$Qrm -rf $@ build/gpu-wheel && mkdir build/gpu-wheel
	$Qcd python && TACHO_STAGE=$(CURDIR)/build \
	    python3 -c 'import backend; backend.build_wheel("../build/gpu-wheel")'
	$Qpython3 -m zipfile -e build/gpu-wheel/*.whl $@ && rm -r build/gpu-wheel && touch $@
build/gpu-launch: $B/obj/tests/gpu/launch.o build/libtacho.so
	@$(if $(V),,echo '  LINK  $@')
	$Q$(CC) $(C_FLAGS) $(L_FLAGS) $< -Lbuild -ltacho -ldl -Wl,-rpath,'$$ORIGIN' -o $@
build/gpu-knobs: $B/obj/tests/gpu/knobs.o
	@$(if $(V),,echo '  LINK  $@')
	$Q$(CC) $(C_FLAGS) $(L_FLAGS) $< -ldl -o $@
$B/obj/tests/gpu/%.o: C_FLAGS += -Wno-strict-prototypes

# $(eval $(call program,TARGET,SOURCES,LIBRARIES,FLAGS)): a main file linked with the archives.
define program
$1: $(call objects,$2) $(TEST_LIBS)
	@mkdir -p $$(@D); $(if $(V),,echo '  LINK  $$@')
	$Q$$(CC) $$(C_FLAGS) $$(L_FLAGS) $$(MOLD) $4 $$^ $3 $$(LIBS) -o $$@
endef
# Helpers of a test's own folder come before those of other folders, so that both may have a
# function of the same name.
# Tests of the recorder hold it, as objects; it is no part of the archive.
$(foreach f,$(UNIT),$(eval $(call program,$(call programs,$f,unit),$f $(filter $(dir $f)%,$(HELPERS)) \
    $(if $(filter tests/unit/record/%,$f),$(RECORD)),-lcmocka)))
$(call programs,$(filter tests/unit/record/%,$(UNIT)),unit): | $B/libtacho.so \
    $B/fake/libcupti.so $B/fake/libtorch_cpu.so $B/fake/libc10.so $B/fake/libphi_core.so \
    $B/fake/libmegengine_shared.so $B/fake/libjax_python.so $B/fake/libpython_memory.so $B/fake/libcuda.so.1
# Stand-ins for libraries that a machine may not have.
$B/fake/lib%.so: tests/fake/%.c $B/.flags
	@mkdir -p $(@D); $(if $(V),,echo '  LINK  $@')
	$Q$(CC) $(C_FLAGS) -fPIC -shared -Wl,-soname,$(@F) $(L_FLAGS) $< -o $@
$B/fake/libcuda.so.1: tests/fake/cuda.c $B/.flags
	@mkdir -p $(@D); $(if $(V),,echo '  LINK  $@')
	$Q$(CC) $(C_FLAGS) -fPIC -shared -Wl,-soname,$(@F) $(L_FLAGS) $< -o $@
$(foreach f,$(FAULT),$(eval $(call program,$(call programs,$f,fault),$f)))
# tools/NAME_*.c joins tools/NAME.c.
$(foreach f,$(TOOLS),$(eval $(call program,$(call programs,$f,tools),$f $(wildcard $(basename $f)_*.c))))
# bench/NAME_*.cc joins bench/NAME.c.
# `make bench` builds them and runs each executable file in bench/: the scripts that drive them.
# Status 77 is a bench that cannot run here and says why.
$(foreach f,$(BENCH),$(eval $(call program,$(call programs,$f,bench),$f \
    $(wildcard $(basename $f)_*.cc) $(if $(filter bench/record.c,$f),$(RECORD)),$(if $(wildcard $(basename $f)_*.cc),-lsimdjson -lstdc++))))
# bench/predictors compares its program with the same one without one of the tokenizer's predictors
# (event_parser_int.h) or without the heap of pages: those files, compiled anew, come before the archive.
WITHOUT_pages := bench/without/pages.c
$(foreach i,1 2 3 4 5 6,$(eval WITHOUT_$i := -DWITHOUT=$i $(wildcard src/ingest/trace_events/event_*.c)))
$B/bench/predictors_without_%: $(call objects,bench/predictors.c) $(TEST_LIBS) $(wildcard bench/without/*.c)
	@$(if $(V),,echo '  LINK  $@')
	$Q$(CC) $(CPP_FLAGS) $(C_FLAGS) $(L_FLAGS) $(WITHOUT_$*) $(filter-out %.c,$^) $(LIBS) -o $@
ifeq ($(VARIANT),fuzz)
$(foreach f,$(FUZZ),$(eval $(call program,$B/$(basename $(notdir $f)),$f,,-fsanitize=fuzzer)))
# All of them in one program: each target's functions get its name.
NAMES := $(basename $(notdir $(FUZZ)))
$B/obj/$(basename $(TARGETS)).o: CPP_FLAGS += -D'TARGETS=$(foreach n,$(NAMES),X($n))'
$B/renamed/%.o: $B/obj/tests/fuzz/%.o
	@mkdir -p $(@D)
	$Qobjcopy --redefine-sym LLVMFuzzerTestOneInput=fuzz_run_$* \
	    --redefine-sym LLVMFuzzerCustomMutator=fuzz_mutate_$* $< $@
$B/all_targets: $(NAMES:%=$B/renamed/%.o)
$(eval $(call program,$B/all_targets,$(TARGETS),,-fsanitize=fuzzer))
else
$(foreach f,$(FUZZ),$(eval $(call program,$(call programs,$f,fuzz),$f $(REPLAY))))
# What tests/fuzz/campaign asks all commands with.
$(eval $(call program,$B/fuzz/campaign_runner,$(RUNNER)))
endif

fuzz:
	@$(MAKE) --no-print-directory CC=clang-14 VARIANT=fuzz fuzz-programs
# build/campaign-kit.tar.xz: the campaign for a machine that has Python 3 and nothing else.
campaign-kit:
	@$(MAKE) --no-print-directory VARIANT=kit build/kit/fuzz/campaign_runner
	@$(MAKE) --no-print-directory CC=clang-14 VARIANT=fuzz build/fuzz/all_targets
	@tests/fuzz/campaign_kit pack
fuzz-programs: $(addprefix $B/,$(basename $(notdir $(FUZZ))))

-include $(OBJECTS:.o=.d)

# ---- generated files ---------------------------------------------------------------------------
# tools/generate turns the tables (*.def) into the ids of messages (build/gen/base), docs/API.md, man
# pages and more. What people read is kept in the repository; a build brings it up to date when a
# table has changed, and `make check` fails when it is not what the tables say.

gen:
	tools/generate
build/gen/.stamp: $(wildcard tools/generate) $(DEFS)
	@mkdir -p $(@D)
	$Qtools/generate
	@touch $@
ifneq ($(wildcard tools/generate),)
$(OBJECTS): | build/gen/.stamp
$(wildcard build/gen/base/*.h): build/gen/.stamp ;
endif

# ---- testing -----------------------------------------------------------------------------------

test:
	@tools/setup test
	@tools/setup web
	@tools/setup browser
	@tools/setup package
	@TORCH=$(TORCH) LEAKS=$(LEAKS) PACKAGES=$(PACKAGES) tests/run
check:
	@tests/run --only static
bench:
	@tools/setup bench
	@tools/setup browser
	@$(MAKE) --no-print-directory web-packages
	@$(MAKE) --no-print-directory all tools benches
	@for bench in bench/*; do if [ -f $$bench ] && [ -x $$bench ]; then $$bench || [ $$? = 77 ] || exit 1; fi; done

flags:
	@printf '%s\n' "$(subst ",\",$(CC) $(CPP_FLAGS) $(C_FLAGS))"

demo:
	@$(MAKE) --no-print-directory all
	@rm -rf build/demo-run
	build/tacho demo -o build/demo-run $(if $(filter no,$(SERVE)),--no-serve)

# The pictures of the README, from a trace in the repository; a browser test fails when they are out of date.
pictures: web-packages
	@tools/setup browser
	@$(MAKE) --no-print-directory all
	@TACHO_PICTURES=update tests/browser/run "README's picture"

# The checks of commit messages, for this clone.
hooks:
	git config core.hooksPath tools/hooks

C_DIRS := src include tests tools bench demo
format:
	find $(wildcard $(C_DIRS)) -name '*.[ch]' -exec clang-format-14 -i {} +
format-check:
	@find $(wildcard $(C_DIRS)) -name '*.[ch]' -exec clang-format-14 --dry-run -Werror {} + 2>&1 | \
	    awk -F: '/ error: / && !seen[$$1]++ { print $$1 ":" $$2 ": run make format" } END { exit length(seen) > 0 }'

# ---- installing --------------------------------------------------------------------------------
# FROM:TO pairs, TO below PREFIX; install and uninstall walk the same list.

HEADERS := $(wildcard include/tacho/*.h)
# For tacho record, so that Python programs need no change.
PYTHON_FILES := $(wildcard python/tacho/*.py python/tacho/*/*.py)
PLACES  := build/tacho:bin/tacho build/tacho.pc:lib/pkgconfig/tacho.pc \
    $(if $(RECORD),build/libtacho.so:lib/libtacho.so) \
    $(if $(DEMO),build/tacho-demo:libexec/tacho/tacho-demo) \
    $(if $(MPICC),build/libtacho_mpi.so:lib/libtacho_mpi.so) \
    $(foreach f,$(HEADERS),$f:include/tacho/$(notdir $f)) \
    $(foreach f,$(PYTHON_FILES),$f:share/tacho/$f) \
    $(foreach f,$(wildcard docs/man/*.1),$f:share/man/man1/$(notdir $f)) \
    $(patsubst %,%:share/bash-completion/completions/tacho,$(wildcard completions/tacho.bash)) \
    $(patsubst %,%:share/zsh/site-functions/_tacho,$(wildcard completions/_tacho)) \
    $(patsubst %,%:share/fish/vendor_completions.d/tacho.fish,$(wildcard completions/tacho.fish))

define PC
prefix=$(PREFIX)

Name: tacho
Description: recorder and analyser for deep-learning programs
Version: $(VERSION)
Cflags: -I$${prefix}/include
Libs: $(if $(RECORD),-L$${prefix}/lib -ltacho)
endef
build/tacho.pc: FORCE | build/tacho
	$(file >$@,$(PC))

install: all build/tacho.pc
	@for pair in $(PLACES); do \
	    to="$(DESTDIR)$(PREFIX)/$${pair#*:}"; mode=644; \
	    case $$to in */bin/*|*/libexec/*|*.so) mode=755;; esac; \
	    echo "  INSTALL  $$to"; install -D -m $$mode "$${pair%%:*}" "$$to" || exit 1; done
uninstall:
	@for pair in $(PLACES); do rm -fv "$(DESTDIR)$(PREFIX)/$${pair#*:}"; done

# ---- packages: wheel, dist, deb ----------------------------------------------------------------
include package.mk

clean:
	rm -rf build

help:
	@echo 'make              the program, build/tacho (VARIANT=release|debug|asan|tsan, CC=gcc|clang-14)'
	@echo 'make test         everything: builds, unit, golden, oracle, fault, corpus and static tests'
	@echo '                  TORCH=yes: also with PyTorch, fetched into ~/.cache/tacho-venvs'
	@echo '                  LEAKS=yes: leaks of every test on aarch64, too, where looking takes 4 s each'
	@echo '                  PACKAGES=all: the packages of the other kind of machine, too'
	@echo 'make t=select     one unit test, tests/unit/*/select_test.c, in the debug variant'
	@echo 'make check        the static tests only: layers, headers, format, generated files'
	@echo 'make web          the page, web/page (web-check: its types and style, web-test: its unit tests)'
	@echo 'make bench        the benchmarks'
	@echo 'make pictures     the pictures of the README, taken again'
	@echo 'make demo         the demonstration (SERVE=no: without serving)'
	@echo 'make gpu          build/gpu-launch, gpu-knobs and gpu-python, for tests/gpu on a machine with a GPU'
	@echo 'make fuzz         libFuzzer targets, build/fuzz/NAME (clang-14)'
	@echo 'make campaign-kit build/campaign-kit.tar.xz: tests/fuzz/campaign for a machine without our libraries'
	@echo 'make gen          generated files from the tables;  make format: clang-format in place'
	@echo 'make hooks        git checks the messages of your commits (tools/hooks)'
	@echo 'make wasm         build/dist/tacho-VERSION.html, -site.tar.gz and -npm.tgz: tacho in a browser and in node'
	@echo 'make wheel        build/dist/*.whl for any Linux (ARCH=x86_64|aarch64|all);  make dist: tarballs;  make deb'
	@echo 'make install      PREFIX=$(PREFIX) DESTDIR=$(DESTDIR);  make uninstall takes it away again'
	@echo 'make clean        removes build/'
