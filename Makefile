# A thin front for CMake; CMakePresets.json says how each kind of build is made.
#
#   make demo       build, and run the main job on data that ships with the project
#   make check      build with sanitizers, run every test and checker
#   make check-slow what takes too long for that: every failing allocation, long simulations, optima
#   make test       build for speed, run the quick tests: a minute
#   make check-bare demo and check from nothing, on a minimal Debian in a folder; as root
#   make bench      measure against the peers           (BENCH="--quick csv-1": options, tasks)
#   make fuzz       throw made-up input at every parser (FUZZ_SECONDS=60 for each)
#   make coverage   lines and branches that the tests reach
#   make scoreboard how often it was put to the test, and how often it failed
#   make docs       the manual as a site, into build/docs
#   make install    PREFIX=/usr/local DESTDIR=
#   make            build for speed, into build/release
#   make deps       install what is missing for all of these; format, clean, help

PREFIX       ?= /usr/local
DESTDIR      ?=
JOBS         ?= $(shell nproc)
BENCH        ?=
FUZZ_SECONDS ?= 60

configure = cmake --preset $(1) --log-level=WARNING $(2) >/dev/null
build     = cmake --build --preset $(1) -j $(JOBS)
# One more than there are cores: some tests wait for a clock.
test      = tools/run-tests $(1) -j $$(($(JOBS) + 1))

.PHONY: all demo check check-slow check-bare test bench fuzz coverage scoreboard docs install deps format clean \
        help
.NOTPARALLEL:

all:
	@tools/install-deps build
	@$(call configure,release)
	@$(call build,release)

demo: all
	@examples/demo.sh build/release/credence

check:
	@tools/install-deps build test
	@$(call configure,sanitize)
	@$(call build,sanitize)
	@$(call test,sanitize) --label-exclude slow

check-slow:
	@tools/install-deps build test
	@$(call configure,sanitize)
	@$(call build,sanitize)
	@$(call test,sanitize) --label-regex slow
	@$(call configure,release,-DCREDENCE_TESTS=ON)
	@$(call build,release) --target all tests/all
	@$(call test,release) --tests-regex "^test_.*_slow(_extra)?$$"

check-bare:
	@tools/check-bare

test:
	@tools/install-deps build test
	@$(call configure,release,-DCREDENCE_TESTS=ON)
	@$(call build,release) --target all tests/all
	@$(call test,release) --label-exclude "checker|long|slow"

bench:
	@tools/install-deps build bench
	@$(call configure,release)
	@$(call build,release)
	@$(call build,release) --target bench
	@bench/run.py --build build/release $(BENCH)

fuzz:
	@tools/install-deps build fuzz
	@$(call configure,fuzz)
	@$(call build,fuzz)
	@tools/fuzz build/fuzz $(FUZZ_SECONDS)

coverage:
	@tools/install-deps build test coverage
	@$(call configure,coverage)
	@$(call build,coverage)
	@find build/coverage -name '*.gcda' -delete
	@$(call test,coverage) --label-exclude "checker|slow"
	@gcovr --root . --filter src/ --filter cli/ --print-summary --json-summary build/coverage.json build/coverage

scoreboard:
	@tools/install-deps build test
	@$(call configure,release,-DCREDENCE_TESTS=ON)
	@$(call build,release) --target all tests/all
	@tools/scoreboard --build build/release

docs: all
	@tools/install-deps docs
	@tools/make-docs build/release/credence build/docs

# Configured again because the place of the libraries depends on the prefix.
install:
	@tools/install-deps build
	@$(call configure,release,-DCMAKE_INSTALL_PREFIX=$(PREFIX))
	@$(call build,release)
	@DESTDIR=$(DESTDIR) cmake --install build/release

deps:
	@tools/install-deps build test bare bench fuzz coverage docs

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf build

help:
	@sed -n 's/^#   //p' Makefile
