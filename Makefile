# make book        builds the book into _build/html
# make test        builds the book and runs the quick tests, in about ten minutes on two cores
# make test-all    builds the book and runs every test, and every notebook anew
# make notebooks   writes the sections as plain notebooks, for students and instructors, into _build/notebooks;
#                  make notebooks EDITION=zh writes the Chinese ones into _build/zh/notebooks
# make zh          builds the Chinese edition beside it, into _build/html/zh
# make wheelhouse  adds all packages that the notebooks need, for an install without a network
# make pdf         prints the book into _build/pdf/provable-privacy.pdf; needs Chromium;
#                  make pdf EDITION=zh prints the Chinese one into _build/zh/pdf/provable-privacy-zh.pdf
# make release     gathers what is published in _build/release, with checksums
# make lab         makes a learner's copy of the notebooks in my-copy, without loss, and opens it in JupyterLab
# All share one virtual environment, .venv, made when it is missing and renewed when the requirements change.

PYTHON ?= python3
unexport PYTHONDONTWRITEBYTECODE    # or each of the many kernels compiles pandas and matplotlib anew

.PHONY: book zh test test-all notebooks wheelhouse pdf release lab clean

book: .venv/ready
	@.venv/bin/python tools/bookext/cache.py || .venv/bin/jupyter-book build . -W -n --keep-going

zh: book
	.venv/bin/python tools/translate.py build

test: book
	.venv/bin/pytest

test-all: book
	.venv/bin/pytest -m "" --live

notebooks: .venv/ready
	.venv/bin/python tools/editions.py --edition "$(EDITION)" notebooks

wheelhouse: notebooks
	.venv/bin/python tools/wheelhouse.py

pdf: $(or $(EDITION),book)
	.venv/bin/python tools/editions.py --edition "$(EDITION)" pdf

release: book notebooks pdf
	.venv/bin/python tools/release.py

lab: .venv/ready
	.venv/bin/python tools/study.py

clean:
	rm -rf _build

.venv/ready: requirements.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed, and there is no $(PYTHON) here."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) -V). Name another one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' || \
		{ echo "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv
	.venv/bin/pip install --quiet --no-compile --no-deps --require-hashes --requirement requirements.txt
	.venv/bin/pip install --quiet --no-compile --no-deps --no-build-isolation --editable .
	@touch $@
