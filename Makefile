# waybill. `make demo` and `make test` need nothing but Go; `make help` lists the rest.

SHELL   := /bin/bash
GO      ?= go
BIN     := bin/waybill
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

# The race detector needs a C compiler. Without one the tests run all the same, without it.
RACE := $(shell command -v $${CC:-gcc} >/dev/null 2>&1 && echo -race)
ifeq ($(RACE),)
$(info note: no C compiler found, so tests run without the race detector)
else
export CGO_ENABLED = 1
endif
TESTFLAGS ?=
# Hosts ship the binary with what they install.
MAXSIZE   ?= 32000000

GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOLANGCI    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME    ?= 5s
FUZZTIMED   ?= 20s
# What makes no progress for as long, or does not end, fails; macOS has no such command, and no watchdog then.
WATCHDOG    := $(shell command -v timeout >/dev/null 2>&1 && echo timeout -k 10 240)

# Folders with a package.json, in the order in which they need one another. npm brings types, a compiler and, for the
# tests, clients of others; without it the rest is built and tested all the same.
NODE := web/page clients/typescript examples/opencode examples/vscode mcp/testdata/typescript

.PHONY: help build size demo test large check queues queues-smoke fmt lint vet generate verify node screenshots cross bench fuzz fuzz-timed clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the static binary into bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) .

size: build ## fail if the static binary has more than MAXSIZE bytes
	@size=$$(wc -c < $(BIN)); if [ "$$size" -gt $(MAXSIZE) ]; then \
	  echo "$(BIN) has $$size bytes, and $(MAXSIZE) are the most it may have; go version -m $(BIN) lists what is built in"; exit 1; fi

demo: build ## play a host against the real binary, in under 10 seconds
	@$(BIN) demo

test: ## run every test, shuffled, with the race detector
	$(GO) test $(RACE) -shuffle=on $(TESTFLAGS) ./...

check: fmt vet lint verify node cross size test large queues-smoke ## everything that must hold

# Under the race detector these tests take a tenth of the sizes, or some of what they go through.
large: ## the tests of cost and of marks, and the histories of killed processes, at full size, without the race detector
	$(GO) test -run 'CostInProportion|HundredThousand|NoPieceCosts|OnlyTheMarkChanges' -timeout 5m ./ledger
	$(GO) test -count=1 -run KilledProcesses -timeout 10m ./linear -args -calls 400 -kills 80

fmt: ## fail if a file is not formatted
	@out=$$($(GO) run $(GOFUMPT) -l .); if [ -n "$$out" ]; then echo "not formatted (run gofumpt -w):"; echo "$$out"; exit 1; fi

vet: ## go vet
	$(GO) vet ./...

lint: ## staticcheck and the linters of .golangci.yaml
	$(GO) run $(STATICCHECK) ./...
	$(GO) run $(GOLANGCI) run

generate: ## rewrite the generated files
	$(GO) test . -run TestRecordingsAreTrue -record
	$(GO) test ./conformance -run TestSessionDocument -update
	$(GO) test ./schema -run TestGenerated -update
	$(GO) generate ./web/page

verify: ## fail if generated files or the module files are stale
	$(GO) test ./schema -run TestGenerated
	$(GO) test ./web/page -run TestBundleIsCurrent
	$(GO) mod tidy -diff
	$(GO) mod verify

node: ## bring what the tests with Node need, and check the types of what is written in TypeScript
	@if ! command -v npm >/dev/null 2>&1; then echo "skipped: types are checked, and the tests with Node run, where npm is"; \
	else for folder in $(NODE); do (cd $$folder && npm ci --silent --ignore-scripts && npm run --silent --if-present build && npm run --silent --if-present check) \
	  || { echo "$$folder: npm found fault"; exit 1; }; done; fi

# The story they show is the same each time; the letters are those of the machine's fonts.
screenshots: ## take the pictures of the page in docs/img anew, with Chromium
	WAYBILL_SHOTS=$(CURDIR)/docs/img WAYBILL_BROWSER_TESTS=required $(GO) test -count=1 -run '^TestPictures$$' ./web/page

cross: ## fail if it does not build, tests included, for the other systems
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) build -o /dev/null .
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) vet ./...

bench: build ## benchmarks, each as a ratio to a raw probe in the same run; then queues
	CGO_ENABLED=0 $(GO) test -run '^$$' -bench . -benchtime 1s ./bench ./rpc ./store/sqlite ./ledger ./core/verdict ./watcher ./schema ./engine/planfile
	$(MAKE) queues

# They are a module of their own, so that nothing of the other queues is a dependency of waybill.
queues: ## measure waybill beside other queues for a quarter of an hour, and write docs/benchmarks.md and docs/scaling.md
	cd bench/queues && $(GO) run .

queues-smoke: ## a few items through every queue that is installed; each must arrive once
	cd bench/queues && $(GO) vet ./... && $(GO) test -timeout 5m ./...

# TIMED have the readers of what agents and people write, which fuzz-timed goes on with for longer.
TIMED := ./core/verdict ./ledger ./engine/planfile

fuzz: ## fuzz every target but those of fuzz-timed for FUZZTIME
	@for pkg in $$($(GO) list ./... | grep -vxF "$$($(GO) list $(TIMED))"); do for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	  echo "fuzz $$pkg $$f"; $(WATCHDOG) $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg || exit 1; done; done

# Go's fuzzer may report the end of its time as a failure; what counts is whether it wrote down an input. One that
# takes longer than 10 s ends the process and is written down; WATCHDOG ends what hangs elsewhere.
fuzz-timed: ## fuzz the readers of results and of plans, FUZZTIMED for each target
	@for pkg in $(TIMED); do for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do echo "fuzz $$pkg $$f"; \
	  out=$$($(WATCHDOG) $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIMED) -fuzzminimizetime 10x $$pkg 2>&1) && status=0 || status=$$?; \
	  echo "$$out" | tail -n 3; \
	  if [ $$status -ne 0 ] && { echo "$$out" | grep -q 'Failing input' || ! echo "$$out" | grep -q 'context deadline exceeded'; }; then echo "$$out"; exit 1; fi; done; done

clean: ## remove what was built
	rm -rf bin
