# `make help` lists the targets. Every target does its own set-up in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Python compiles what is imported when it first is: less than half of what pip would compile
INSTALL := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile
KERNELS := $(shell find qops/_kernels -name '*.pyx' -o -name '*.pxd' -o -name '*.h')
CLANG ?= $(shell command -v clang-19 || command -v clang)
SANITIZERS = $(foreach lib,asan stdc++,$(shell $(CC) -print-file-name=lib$(lib).so))
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -hE '^[a-z0-9]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{ n = split($$2, words, " "); \
		line = sprintf("%-11s", $$1); for (i = 1; i <= n; i++) { if (length(line) + length(words[i]) > 78) { print line; \
		line = sprintf("%11s", "") } line = line " " words[i] } print line }'

# what is installed stands before the settings of tools, and an edit of those sets up nothing anew
$(VENV)/wanted: pyproject.toml
	@mkdir -p $(VENV)
	@sed '/^\[tool/,$$d' $< > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(VENV)/deps: $(VENV)/wanted
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "qops needs Python 3.11 or newer, this is " + sys.version)'
	@echo "setting up $(VENV), once: packages from PyPI, then the kernels, compiled on all cores in some minutes"
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) 'setuptools>=77' 'cython>=3.3' 'numpy>=2.0'
	@echo "compiling the kernels, and meanwhile installing the package and what the analysis needs"
	$(BIN)/python setup.py --quiet build_ext --inplace & kernels=$$!; \
		PYTHONWARNINGS='ignore:Editable installation,ignore:Compat editable installs' QOPS_KERNELS=no \
		$(INSTALL) --no-build-isolation --config-settings editable_mode=compat --editable '.[analysis]'; \
		packages=$$?; wait $$kernels && exit $$packages
	@touch $@ && touch $(VENV)/built  # an editable package has its kernels built in place

# qops is installed already: pip adds what the extra needs, and builds nothing again
$(VENV)/dev: $(VENV)/deps
	@echo "installing what tests and lint need"
	$(INSTALL) 'qops[dev]'
	@touch $@

$(VENV)/built: $(VENV)/deps setup.py $(KERNELS)
	@touch $@.new  # what is edited while this runs is newer, and is built the next time
	@test -z "$$(find setup.py $(KERNELS) -newer $@ 2>&1)" || $(BIN)/python setup.py --quiet build_ext --inplace
	@mv $@.new $@

dev: $(VENV)/built $(VENV)/dev  ## a .venv with the package, editable, and all that tests, lint and analysis need

analysis: $(VENV)/built  ## the main job: error of the quantized ops on real data -> build/analysis/index.html
	$(BIN)/python -m analysis

test: dev  ## every test; QOPS_GOLDEN=DIR: on other golden vectors; QOPS_EXPECT=avx512: fail where that tier is missing
	$(BIN)/python tests/run.py

quick: dev  ## two items of each test, and none of the long ones: half a minute
	$(BIN)/python tests/run.py --quick

exhaustive: dev  ## the C of every rule against its kernel, on 10^8 accumulators each: a minute or two
	QOPS_EXHAUSTIVE=20000000 $(BIN)/python -m pytest tests/rules/test_c_source.py

SEED ?= 1
fuzz: CALLS ?= 20000
fuzz: dev $(if $(DEBUG),build/debug/built)  ## random calls of every op on all tiers: SEED=1 CALLS=20000; CALL=77: that one alone; DEBUG=1: on kernels with sanitizers
	$(if $(DEBUG),$(SANITIZED) PYTHONPATH=build/debug/lib:tests/support:.,PYTHONPATH=tests/support) $(BIN)/python tests/fuzz/fuzz.py \
		--seed $(SEED) $(if $(CALL),--call $(CALL),--calls $(CALLS))

fuzzmodels: FILES ?= 20000
fuzzmodels: dev  ## damaged model files, which must be read or refused: SEED=1 FILES=20000; FILE=77: that one alone
	PYTHONPATH=tests/support $(BIN)/python tests/fuzz/fuzz_models.py --seed $(SEED) $(if $(FILE),--file $(FILE),--files $(FILES))

$(VENV)/live: $(VENV)/deps
	$(INSTALL) 'qops[live]'
	@touch $@

live: CALLS ?= 300
live: DATA ?= 1
live: dev $(if $(PEERS),,$(VENV)/live)  ## random calls of real systems beside qops: SEED=1 CALLS=300 DATA=1; PEERS=python: the systems of that one; CPU=haswell or arm: on that
	PYTHONPATH=tests/support:. $(or $(PEERS),$(BIN)/python) tests/live/live.py --seed $(SEED) --calls $(CALLS) --data $(DATA) --cpu=$(CPU)

lint: dev  ## style (ruff, cython-lint), types (mypy), and the kernels compiled by clang too, if it is there
	$(BIN)/ruff check .
	PATH=$(BIN):$$PATH $(BIN)/cython-lint $(filter %.pyx %.pxd,$(KERNELS))
	$(BIN)/mypy
	$(if $(CLANG),CC="$(CLANG) -Werror" $(BIN)/python setup.py --quiet build_ext --build-lib build/clang --build-temp build/clang,\
		@echo "clang is not installed, so nothing says whether it compiles the kernels: install clang-19")

$(VENV)/bench: $(VENV)/deps
	$(INSTALL) 'qops[bench]'
	@touch $@

bench: dev $(VENV)/bench  ## check, then time, beside the peers that are installed -> build/bench.json
	$(BIN)/python -m benchmarks

$(VENV)/wheel: $(VENV)/deps
	$(INSTALL) 'qops[wheel]'
	@touch $@

wheel: $(VENV)/wheel  ## a wheel for any Linux of this CPU in dist, which checks itself in an empty environment
	for system in linux macos windows pyodide; do \
		$(BIN)/cibuildwheel --print-build-identifiers --platform $$system || exit 1; done
	rm -rf build/wheel dist/*.whl
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel .
	$(BIN)/auditwheel show build/wheel/*.whl | tee build/wheel/tag
	tr '\n' ' ' < build/wheel/tag | grep -q '"manylinux_2_17_'
	PATH=$(BIN):$$PATH $(BIN)/auditwheel repair --wheel-dir dist build/wheel/*.whl
	$(PYTHON) -m venv build/wheel/empty
	build/wheel/empty/bin/python -m pip install --quiet dist/*.whl
	cd build/wheel && empty/bin/python -m qops selftest && empty/bin/python ../../tests/support/names_added.py

arm64: dev  ## the kernels compiled for 64-bit ARM in build/arm64, and tests of them in qemu: it says what must be installed
	$(BIN)/python tests/arm64/run.py

$(VENV)/lab: $(VENV)/deps
	$(INSTALL) 'qops[notebooks]'
	@touch $@

notebooks: $(VENV)/built $(VENV)/lab  ## the course, opened in JupyterLab
	$(BIN)/jupyter lab notebooks

$(VENV)/docs: $(VENV)/deps
	$(INSTALL) 'qops[docs]'
	@touch $@

docs: $(VENV)/built $(VENV)/docs $(if $(LITE),$(VENV)/lite)  ## the site -> build/docs/site; LITE=wheel: the course runs in it, PYODIDE=folder: without other hosts; CONTRAST=all: colours of all pages
	$(BIN)/python -m docs $(if $(LITE),--lite $(LITE)) $(if $(PYODIDE),--pyodide $(PYODIDE)) $(if $(CONTRAST),--contrast $(CONTRAST))

$(VENV)/lite: $(VENV)/deps
	$(INSTALL) 'qops[lite]'
	@touch $@

PYTHON312 ?= python3.12
WASI ?= /usr/include/wasm32-wasi
pyodide: dev  ## a wheel for Pyodide, the Python of browsers, tested in node; NUMPY_WASM=its numpy wheel
	$(BIN)/python tests/pyodide/build.py --numpy '$(NUMPY_WASM)' --python $(PYTHON312) --wasi $(WASI) \
		tests/frontdoor tests/nouns tests/contract/test_golden.py tests/product/test_window.py tests/product/test_pooling.py \
		tests/product/test_gemm.py tests/product/test_convolution.py tests/onnx/test_convolution.py tests/onnx/test_prepared_refusals.py

amx: dev  ## tests of the kernels of AMX and AVX-VNNI in build/amx, on a CPU that has neither, but AVX-512 and VNNI
	CFLAGS="-I$(CURDIR)/qops/_kernels -include $(CURDIR)/tests/amx/tiles.h -include $(CURDIR)/tests/amx/avxvnni.h" $(BIN)/python setup.py --quiet build --build-base build/amx --build-lib build/amx/lib
	cd build/amx && QOPS_EXPECT=amx PYTHONPATH=lib:../.. ../../$(BIN)/python -m pytest -c ../../pyproject.toml --rootdir ../.. \
		../../tests/product ../../tests/onednn ../../tests/contract/test_tiers.py ../../tests/contract/test_golden.py \
		--deselect tests/product/test_amx.py::test_without_permission_the_tier_below_does_the_work \
		--deselect tests/product/test_threads.py::test_nothing_is_written_after_a_call_that_is_interrupted_twice \
		--deselect tests/product/test_threads.py::test_with_little_address_space_threads_that_die_hold_nobody_up

build/debug/built: $(VENV)/dev setup.py $(shell find qops -name '*.py') $(KERNELS)
	QOPS_DEBUG=1 $(BIN)/python setup.py --quiet build --build-base build/debug --build-lib build/debug/lib
	@touch $@

SANITIZED = QOPS_DEBUG=1 LD_PRELOAD="$(SANITIZERS)" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096:use_sigaltstack=0
debug: build/debug/built  ## tests on kernels built with bounds checks and sanitizers, in build/debug
	cd build/debug && $(SANITIZED) PYTHONPATH=lib:../.. ../../$(BIN)/python -m pytest -c ../../pyproject.toml --rootdir ../.. ../../tests \
		--deselect tests/product/test_threads.py::test_a_child_forked_during_products_has_workers_of_its_own

clean:  ## remove what was built, .venv too
	rm -rf $(VENV) build dist *.egg-info
	find qops/_kernels -name '*.so' -delete

.PHONY: help dev analysis test quick exhaustive fuzz fuzzmodels live lint bench wheel arm64 amx notebooks docs pyodide debug clean
