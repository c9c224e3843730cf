# Everyday commands. `make help` lists them.
#
# All tools but the compiler come from PyPI into a virtual environment (.venv), cmake and ninja
# included; the machine needs a C++20 compiler and Python with venv and headers (Debian:
# build-essential python3-venv python3-dev). Files under $(VENV)/.stamp-* record what is installed, so
# a second run starts at once.

PYTHON ?= python3
VENV ?= .venv
# Compilers running at the same time.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Seconds that each fuzz target runs.
FUZZ_SECONDS ?= 60
# Compiles them: clang 16 or later; older ones do not understand the ranges of libstdc++.
FUZZ_CXX ?= clang++
PYTEST_ARGS ?=
CONFORMANCE_ARGS ?=
BENCH_ARGS ?=
# What pip says while it builds the package; -v shows each compile step.
PIP_OUTPUT ?= -q

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export MASKWRIGHT_WARNINGS_AS_ERRORS := ON

NATIVE_SOURCES := CMakeLists.txt pyproject.toml $(shell find cmake cpp/include cpp/src cpp/bindings cpp/front_end -type f)
# cmake, ninja and ctest of the environment, and no other.
CMAKE := PATH="$(abspath $(BIN)):$$PATH" cmake
CTEST := PATH="$(abspath $(BIN)):$$PATH" ctest

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test conformance conformance-update lint format types layers stubs stubs-update cpp-test cpp-asan cpp-tsan \
  fuzz bench bench-quick bench-hard bench-micro bench-peers gpu-check reference wheel clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1|\2/' | \
	  while IFS='|' read -r name text; do printf '  %-18s %s\n' "$$name" "$$text"; done

# --- environment --------------------------------------------------------------------------------

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# What the build itself needs, installed for good: building without pip's isolation reuses the
# objects of the last build.
$(VENV)/.stamp-build: pyproject.toml | $(BIN)/python
	@echo "installing build tools"
	@$(BIN)/python tools/requirements.py build > $(VENV)/build.txt
	@$(PIP) install -q -r $(VENV)/build.txt "cmake>=3.26" "ninja>=1.11"
	@touch $@

$(VENV)/.stamp-package: $(VENV)/.stamp-build $(NATIVE_SOURCES)
	@echo "building and installing maskwright"
	@$(PIP) install $(PIP_OUTPUT) --no-build-isolation -e .
	@touch $@

$(VENV)/.stamp-test: $(VENV)/.stamp-build
	@echo "installing the test requirements"
	@$(BIN)/python tools/requirements.py test > $(VENV)/test.txt
	@$(PIP) install -q -r $(VENV)/test.txt
	@touch $@

$(VENV)/.stamp-dev: $(VENV)/.stamp-build
	@echo "installing the development tools"
	@$(BIN)/python tools/requirements.py dev > $(VENV)/dev.txt
	@$(PIP) install -q -r $(VENV)/dev.txt
	@touch $@

setup: $(VENV)/.stamp-package $(VENV)/.stamp-test $(VENV)/.stamp-dev ## Set up .venv for development

# --- use ----------------------------------------------------------------------------------------

demo: ## Generate structured output with a small model on the CPU
	@MAKE="$(MAKE)" VENV="$(VENV)" PYTHON="$(PYTHON)" JOBS="$(JOBS)" bash tools/demo.sh

# --- checks -------------------------------------------------------------------------------------

test: $(VENV)/.stamp-package $(VENV)/.stamp-test ## Run the Python tests (PYTEST_ARGS=...)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

conformance: $(VENV)/.stamp-package $(VENV)/.stamp-test ## Run the official suites in full (CONFORMANCE_ARGS=...), 10,000 random outputs
	MASKWRIGHT_TEST_EFFORT=5 $(BIN)/python -m pytest -s tests/property/test_keyword_grammar.py
	PYTHONPATH=tests $(BIN)/python -m conformance.run $(CONFORMANCE_ARGS)

conformance-update: $(VENV)/.stamp-package $(VENV)/.stamp-test ## Run them; write baselines, docs/keywords.md
	PYTHONPATH=tests $(BIN)/python -m conformance.run --update $(CONFORMANCE_ARGS)
	$(BIN)/python tools/make_keyword_table.py

lint: layers $(VENV)/.stamp-dev ## Check style: ruff, clang-format, layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	find cpp -name '*.h' -o -name '*.cpp' | sort | xargs $(BIN)/clang-format --dry-run -Werror

format: $(VENV)/.stamp-dev ## Rewrite the sources in the house style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	find cpp -name '*.h' -o -name '*.cpp' | sort | xargs $(BIN)/clang-format -i

layers: | $(BIN)/python ## Check the direction of imports and includes
	$(BIN)/python tools/check_layers.py

types: $(VENV)/.stamp-package $(VENV)/.stamp-dev ## Check types with mypy --strict
	$(BIN)/mypy --strict src tools benchmarks

stubs: $(VENV)/.stamp-package ## Check that the committed _core.pyi matches the module
	$(BIN)/python tools/update_stubs.py --check

stubs-update: $(VENV)/.stamp-package ## Write _core.pyi from the module
	$(BIN)/python tools/update_stubs.py

cpp-test: $(VENV)/.stamp-build ## Run the C++ tests (optimised, library assertions)
	$(call run-preset,dev)

cpp-asan: $(VENV)/.stamp-build ## Run the C++ tests under ASan and UBSan
	$(call run-preset,asan)

cpp-tsan: $(VENV)/.stamp-build ## Run the C++ tests under TSan
	$(call run-preset,tsan)

define run-preset
$(CMAKE) --preset $(1)
$(CMAKE) --build --preset $(1)
$(CTEST) --preset $(1)
endef

fuzz: $(VENV)/.stamp-build ## Run each fuzz target for FUZZ_SECONDS (needs clang 16 or later)
	$(CMAKE) --preset fuzz -DCMAKE_CXX_COMPILER="$(FUZZ_CXX)"
	$(CMAKE) --build --preset fuzz
	FUZZ_SECONDS="$(FUZZ_SECONDS)" bash tools/fuzz.sh build/fuzz

bench-peers: $(VENV)/.stamp-package ## Install the engines that the benchmarks compare
	$(PIP) install -q -r benchmarks/requirements.txt

bench: $(VENV)/.stamp-package ## Run the full benchmark; write docs/benchmarks.md (BENCH_ARGS=...)
	$(BIN)/python -m benchmarks.run --docs docs $(BENCH_ARGS)

bench-quick: $(VENV)/.stamp-package ## Run a sample of it in 3 minutes, into build/bench
	$(BIN)/python -m benchmarks.run --quick $(BENCH_ARGS)

bench-hard: $(VENV)/.stamp-package ## Run the hard inputs; write docs/benchmarks_hard.md
	$(BIN)/python -m benchmarks.hard --docs docs $(BENCH_ARGS)

bench-micro: $(VENV)/.stamp-package ## Time single operations
	$(BIN)/python -m benchmarks.micro $(BENCH_ARGS)

gpu-check: $(VENV)/.stamp-package ## Check and time the GPU kernels (needs torch and Triton in .venv)
	$(BIN)/python tools/gpu_check.py

reference: $(VENV)/.stamp-package ## Write docs/api_reference.md from the docstrings
	$(BIN)/python tools/make_api_reference.py

wheel: $(VENV)/.stamp-build ## Build a wheel into dist/
	$(PIP) wheel --no-deps --no-build-isolation -w dist .

clean: ## Remove everything that was built, the environment included
	rm -rf build dist $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
