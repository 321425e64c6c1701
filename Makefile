# The evaluation pipeline. Make orders the stages; each stage compares digests and redoes only
# what changed (lib/stage.py says how), because time stamps lie once an archive was unpacked.
#
# "make" or "make help" lists all targets and variables. A line beginning with ## describes the
# variable or target below it.

SHELL := /bin/sh
MAKEFLAGS += --no-print-directory
# Two stages at a time, unless the command line says otherwise with -j.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += --jobs=2
endif
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

## gold files
REFERENCE_DIR = data/reference
## runs and their info files
SUBMISSIONS_DIR = data/systems
## all outputs but the page
RESULTS_DIR = results.d
## scores, a file a run
PER_RUN_DIR = $(RESULTS_DIR)/per-run
## ranked tables
RANKINGS_DIR = $(RESULTS_DIR)/system-rankings
## each run pair by pair, and its confusion matrices
DIAGNOSTICS_DIR = $(RESULTS_DIR)/diagnostics
## intervals, tests and ranges of ranks
SIGNIFICANCE_DIR = $(RESULTS_DIR)/significance
## votes of runs and their agreement
ENSEMBLE_DIR = $(RESULTS_DIR)/ensemble
## scores by period, distance of mentions, links and gold label
BREAKDOWN_DIR = $(RESULTS_DIR)/breakdown
## workbooks for the review of gold labels
GT_VALIDATION_DIR = $(RESULTS_DIR)/gt-validation
## the results page
RESULTS_MD = HIPE_2026_evaluation_results.md
## TERNARY, or BINARY to count PROBABLE as TRUE for "at"
AT_LABEL_MODE = TERNARY
## ranks after a tie: competition (1, 1, 3) or dense (1, 1, 2)
TIES = competition
## how many of the best runs vote on gold labels, an odd number
TOP_RUNS = 3
## reviewed copies of the workbooks, for adjudicate
REVIEWED_DIR = data/reviewed
## adjudicated references and the evaluation against them
ADJUDICATED_DIR = results-adjudicated.d
## set to 1 to go on without invalid runs; the page names them
SKIP_INVALID =
## archives and folders that participants sent, for intake
INBOX = data/inbox
## what intake puts where, and what you decide
INTAKE_MAP = data/intake-map.tsv
## set to 1 to let intake print its plan and write nothing
DRY_RUN =
## set to 1 to let intake put runs in the place of different ones
REPLACE =
## the run, or folder or archive of runs, that check looks at
RUN =
## the data repository: schema, loading, imputation
DATA_REPO = HIPE-2026-data
## facts of the campaign: labels, profiles, weights
CONFIG = lib/competition_config.json
## names of the teams and organizer entries
TEAMS = lib/teams.json
## interpreter; any other than this one is used as it is, without setting up venv/
PYTHON = venv/bin/python

# Values reach the scripts through the environment, where no character needs quoting.
export REFERENCE_DIR SUBMISSIONS_DIR RESULTS_DIR PER_RUN_DIR RANKINGS_DIR DIAGNOSTICS_DIR
export GT_VALIDATION_DIR RESULTS_MD AT_LABEL_MODE TIES DATA_REPO CONFIG TEAMS PYTHON
export INBOX INTAKE_MAP RUN TOP_RUNS REVIEWED_DIR ADJUDICATED_DIR
export SIGNIFICANCE_DIR ENSEMBLE_DIR BREAKDOWN_DIR
# Stages run side by side already, and their matrices are too small to share between threads.
export OPENBLAS_NUM_THREADS = 1
# Scripts start faster from compiled modules, which are never stale here (see forget_compiled).
unexport PYTHONDONTWRITEBYTECODE

run = @"$$PYTHON"
references = --reference-dir "$$REFERENCE_DIR"
submissions = --submissions-dir "$$SUBMISSIONS_DIR"
results = --results-dir "$$RESULTS_DIR"
per_run = --per-run-dir "$$PER_RUN_DIR"
rankings_in = --rankings-dir "$$RANKINGS_DIR"
diagnostics_in = --diagnostics-dir "$$DIAGNOSTICS_DIR"
significance_in = --significance-dir "$$SIGNIFICANCE_DIR"
ensembles = --ensemble-dir "$$ENSEMBLE_DIR"
breakdowns = --breakdown-dir "$$BREAKDOWN_DIR"
workbooks = --gt-validation-dir "$$GT_VALIDATION_DIR"
adjudicated = --adjudicated-dir "$$ADJUDICATED_DIR"
page = --results-md "$$RESULTS_MD"
repository = --data-repo "$$DATA_REPO"
config = --config "$$CONFIG"
teams = --teams "$$TEAMS"
mode = --at-label-mode "$$AT_LABEL_MODE"
ties = --ties "$$TIES"
# $(call flag,VARIABLE,--option): the option if the variable is set, and not to 0 or no.
flag = $(if $(filter-out 0 no,$($(1))),$(2))
skip = $(call flag,SKIP_INVALID,--skip-invalid)

.PHONY: help demo test lint bench setup setup-dev clean intake check \
	validate-reference validate-submissions validate-info score rankings diagnostics \
	results-md significance inference ensemble breakdown calibrate \
	eval-full eval-full-refresh eval-binary gt-validation adjudicate

## list the targets and variables
help:
	@awk -f lib/help.awk Makefile

## evaluate the sample campaign into results-demo.d; the place to start
demo:
	@$(MAKE) significance $(demo)
	@$(MAKE) show-top $(demo)

sample = $(DATA_REPO)/data/sample
demo = REFERENCE_DIR=$(sample)/reference SUBMISSIONS_DIR=$(sample)/systems \
	TEAMS=$(sample)/teams.json RESULTS_DIR=results-demo.d \
	RESULTS_MD=results-demo.d/HIPE_2026_evaluation_results-demo.md

## run all tests
test: setup-dev
	$(run) -m pytest

## check the style of the code
lint: setup-dev
	$(run) -m ruff check .
	$(run) -m ruff format --check .

## measure the speed on a campaign of 185 runs
bench: setup-dev
	$(run) tests/bench.py

## check intervals and tests on campaigns whose truth is known; takes half an hour
calibrate: setup-dev
	$(run) tests/calibrate.py

## put the runs of participants' archives into the folder of runs
intake: setup
	$(run) lib/intake.py --inbox "$$INBOX" --map "$$INTAKE_MAP" $(references) $(submissions) \
		$(config) $(teams) $(call flag,DRY_RUN,--dry-run) $(call flag,REPLACE,--replace)

## check RUN before it is sent: would it be accepted, and what would be counted?
check: setup
	$(run) lib/check_run.py "$$RUN" --reference "$$REFERENCE_DIR" $(repository) $(config) $(teams)

# Stages that eval-full found up to date; set here so that no variable of the shell can name some.
CURRENT =

# The recipe of stage $(1): script and arguments $(2), unless lib/current.py found it up to date.
stage = $(if $(filter $(1),$(CURRENT)),@:,@"$$PYTHON" lib/$(2))

## check the gold files
validate-reference: setup
	$(call stage,references,validate_jsonl.py references $(references) $(results) $(repository) \
		$(config))

## check the runs against the gold files
validate-submissions: validate-reference
	$(call stage,submissions,validate_jsonl.py submissions $(references) $(submissions) $(results) \
		$(repository) $(config) $(teams) $(skip))

## check the info files of the runs
validate-info: validate-reference
	$(call stage,info,validate_info.py $(submissions) $(results) $(config) $(teams) $(skip))

## score each run
score: validate-submissions validate-info
	$(call stage,score,score_one.py $(references) $(submissions) $(results) $(per_run) \
		$(repository) $(config) $(mode))

## rank the runs per file, overall and by efficiency
rankings: score
	$(call stage,rankings,build_rankings.py $(results) $(per_run) $(rankings_in) $(config) \
		$(mode) $(ties))

## show each run pair by pair, with confusion matrices
diagnostics: score
	$(call stage,diagnostics,build_diagnostics.py $(references) $(submissions) $(results) \
		$(per_run) $(diagnostics_in) $(repository) $(config) $(mode))

## write the results page
results-md: rankings diagnostics
	$(call stage,results-md,$(results_page))

results_page = build_results_md.py $(results) $(rankings_in) $(diagnostics_in) \
	$(significance_in) $(page) $(config) $(teams) $(mode) $(ties)

## say how sure the ranks are, what runs say together and where they fail; on the page, too
significance: inference ensemble breakdown
	$(run) lib/$(results_page)

## intervals of scores, tests of every two runs, ranges of ranks
inference: rankings diagnostics
	$(run) lib/build_significance.py $(results) $(rankings_in) $(diagnostics_in) \
		$(significance_in) $(config) $(mode) $(ties)

## let runs vote, and measure how they agree
ensemble: rankings diagnostics
	$(run) lib/build_ensemble.py $(results) $(rankings_in) $(diagnostics_in) $(ensembles) \
		$(config) $(teams) $(mode) $(ties)

## scores by period, distance of mentions, links and gold label
breakdown: rankings diagnostics
	$(run) lib/build_breakdown.py $(references) $(results) $(rankings_in) $(diagnostics_in) \
		$(breakdowns) $(repository) $(config) $(mode) $(ties)

## make workbooks of the gold labels that the best runs disagree with
gt-validation: rankings diagnostics
	$(run) lib/build_gt_validation.py $(references) $(results) $(rankings_in) \
		$(diagnostics_in) $(workbooks) $(repository) $(config) $(mode) $(ties) \
		--top-runs "$$TOP_RUNS"

## apply the decisions in reviewed workbooks, evaluate again, and say what changed
adjudicate: rankings
	$(run) lib/adjudicate.py $(references) $(repository) $(config) $(adjudicated) \
		--reviewed-dir "$$REVIEWED_DIR"
	@$(MAKE) eval-full REFERENCE_DIR="$$ADJUDICATED_DIR"/reference \
		RESULTS_DIR="$$ADJUDICATED_DIR" \
		RESULTS_MD="$$ADJUDICATED_DIR"/HIPE_2026_evaluation_results-adjudicated.md
	$(run) lib/compare_rankings.py $(results) $(rankings_in) $(adjudicated)

## the whole evaluation; only what changed is redone
eval-full: setup
	@current=$$("$$PYTHON" lib/current.py $(references) $(submissions) $(results) $(per_run) \
		$(rankings_in) $(diagnostics_in) $(significance_in) $(page) $(repository) $(config) \
		$(teams) $(mode) $(ties) $(skip)) && case "$$current" in \
		*results-md) echo "up to date: $$RESULTS_MD" ;; \
		*) $(MAKE) results-md CURRENT="$$current" ;; \
	esac

## the whole evaluation, everything redone
eval-full-refresh: clean
	@$(MAKE) eval-full

## the whole evaluation with binary labels, in a folder of its own
eval-binary:
	@$(MAKE) eval-full AT_LABEL_MODE=BINARY \
		RESULTS_DIR="$$BINARY_RESULTS_DIR" RESULTS_MD="$$BINARY_RESULTS_MD"

# The value that the command line gives to variable $(1), or else $(2).
own = $(if $(filter command line,$(origin $(1))),$($(1)),$(2))
export BINARY_RESULTS_DIR = $(call own,RESULTS_DIR,results-binary.d)
export BINARY_RESULTS_MD = $(call own,RESULTS_MD,HIPE_2026_evaluation_results-binary.md)

## remove what the stages wrote, and nothing else
clean: setup
	$(run) lib/clean.py $(results) $(per_run) $(rankings_in) $(diagnostics_in) \
		$(significance_in) $(ensembles) $(breakdowns) $(workbooks)

.PHONY: show-top
show-top: setup
	$(run) lib/show_top.py $(results) $(rankings_in) $(diagnostics_in) $(significance_in) \
		$(ensembles) $(breakdowns) $(page)

## install what the evaluation needs into venv/
setup:
	$(call install,requirements.txt)
	$(forget_compiled)

setup-dev:
	$(call install,requirements-dev.txt)

# Install the packages of file $(1) unless venv/ holds them already, which a copy of that file
# and of requirements.txt in venv/ proves.
define install
@if [ "$$PYTHON" = venv/bin/python ]; then \
	cat requirements.txt $(1) | cmp -s - venv/$(1) || { \
		python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
			{ echo "error: python3 is older than 3.10; install a newer one" >&2; exit 1; }; \
		echo "installing $(1) into venv/ (once; takes a minute)" && \
		python3 -m venv venv && \
		venv/bin/python -m pip install --quiet --disable-pip-version-check -r $(1) && \
		cat requirements.txt $(1) > venv/$(1); \
	}; \
fi
endef

# Python trusts time stamps when it takes a compiled module instead of its source, so compiled
# modules are thrown away whenever the content of a source changed.
define forget_compiled
@sources=$$(cat lib/*.py "$$DATA_REPO"/scripts/*.py 2>&1 | cksum); \
if [ "$$sources" != "$$(cat lib/__pycache__/sources 2>/dev/null)" ]; then \
	rm -rf lib/__pycache__ "$$DATA_REPO"/scripts/__pycache__; \
	mkdir -p lib/__pycache__ && echo "$$sources" > lib/__pycache__/sources; \
fi 2>/dev/null || true
endef
