# waybill. `make demo` and `make test` need nothing but Go; `make help` lists the rest.

SHELL   := /bin/bash
GO      ?= go
BIN     := bin/waybill
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

# A store in memory is reported as one that ends with the machine, so tests need temporary folders on a disk.
ifeq ($(shell stat -f -c %T "$${TMPDIR:-/tmp}" 2>/dev/null),tmpfs)
export TMPDIR := /var/tmp
endif

# The race detector needs a C compiler. Without one the tests run all the same, without it.
# SQLite is C translated to Go, of another author, and with the detector it takes ten times as long: it goes without.
RACE := $(shell command -v $${CC:-gcc} >/dev/null 2>&1 && echo -race -gcflags=modernc.org/...=-race=false)
ifeq ($(RACE),)
$(info note: no C compiler found, so tests run without the race detector)
else
export CGO_ENABLED = 1
endif
TESTFLAGS ?=
# Under -short the slow tests are skipped: those that kill processes, fill disks, or start hosts and browsers.
SHORT     ?= -short
# Hosts ship the binary with what they install.
MAXSIZE   ?= 26000000

# The programs that read the code have a go.mod of their own.
TOOL        := $(GO) tool -modfile=$(CURDIR)/tools/go.mod
# Quick fixes are matters of taste; what ST adds is said by reviews.
STATICCHECK := staticcheck -checks all,-QF1001,-QF1008,-ST1000,-ST1003,-ST1016,-ST1020,-ST1021,-ST1022
# These kinds of other packages have far more values than any switch is about.
EXHAUSTIVE  := exhaustive -typeignore '^(reflect|.*/jsontext)\.Kind$$'
# Standard output belongs to the protocol, main hands the streams in, and the code waits for events.
FORBIDDEN   := '^fmt\.Print.*$$' '^os\.Std(out|err|in)$$' '{p: "^log\\.", pkg: "^log$$"}' '^time\.Sleep$$'
FUZZTIME    ?= 5s
FUZZTIMED   ?= 20s
# What makes no progress for as long, or does not end, fails; macOS has no such command, and no watchdog then.
WATCHDOG    := $(shell command -v timeout >/dev/null 2>&1 && echo timeout -k 10 240)

# Folders with a package.json, in the order in which they need one another. npm brings types, a compiler and, for the
# tests, clients of others; without it the rest is built and tested all the same.
NODE := web/page clients/typescript examples/opencode examples/vscode mcp/testdata/typescript test/e2e/hosts/testdata/npm

.PHONY: help build size demo test large check queues queues-smoke fmt lint vet generate verify node hosts screenshots cross bench fuzz fuzz-timed release packages-test wine-test dependencies vuln rename-module clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the static binary into bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) .

size: build ## fail if the static binary has more than MAXSIZE bytes
	@size=$$(wc -c < $(BIN)); if [ "$$size" -gt $(MAXSIZE) ]; then \
	  echo "$(BIN) has $$size bytes, and $(MAXSIZE) are the most it may have; go version -m $(BIN) lists what is built in"; exit 1; fi

demo: build ## play a host against the real binary, in under 10 seconds
	@$(GO) build -o bin/fakeagent ./test/fakeagent
	@$(GO) run ./test/demo $(BIN) bin/fakeagent

test: ## run the tests but the slow ones, shuffled, with the race detector
	$(GO) test $(RACE) -shuffle=on $(SHORT) $(TESTFLAGS) ./...

check: SHORT :=
check: fmt vet lint verify node cross size test large queues-smoke packages-test ## everything that must hold, with every test

# Under the race detector these tests take a tenth of the sizes, or some of what they go through.
large: ## the tests of cost, of marks and of full disks, and the histories of killed processes, at full size, without the race detector
	$(GO) test -run 'Costs?InProportion|CostGrows|ModestMemory|HundredThousand|NoPieceCosts|OnlyTheMarkChanges' -timeout 5m ./core/verdict ./plan ./plan/criteria ./prompt
	$(GO) test -count=1 -run ReserveOfAFullDisk -timeout 5m ./store/sqlite
	$(GO) test -count=1 -run KilledProcesses -timeout 10m ./test/linearizability -args -calls 400 -kills 80

fmt: ## fail if a file is not formatted
	@out=$$($(TOOL) gofumpt -l .); if [ -n "$$out" ]; then echo "not formatted (run gofumpt -w):"; echo "$$out"; exit 1; fi

vet: ## go vet
	$(GO) vet ./...
	$(GO) vet -C bench ./...
	$(GO) vet -C release ./...

lint: ## staticcheck and five linters; a line may name a call that it must use, with //permit:
	$(TOOL) $(STATICCHECK) ./...
	$(TOOL) errcheck ./...
	$(TOOL) go-errorlint ./...
	$(TOOL) $(EXHAUSTIVE) ./...
	$(TOOL) ineffassign ./...
	$(TOOL) forbidigo -set_exit_status -analyze_types -tests=false $(FORBIDDEN) -- $$($(GO) list ./... | grep -vE "^$$($(GO) list -m)(/test/.*)?\$$")
	for module in bench release; do (cd $$module && $(TOOL) $(STATICCHECK) ./... && $(TOOL) errcheck ./...) || exit 1; done

generate: ## rewrite the generated files
	$(GO) test ./test/e2e -run TestRecordingsAreTrue -record
	$(GO) test ./test/conformance -run TestSessionDocument -update
	$(GO) test ./schema/gen -update
	$(GO) test ./packages -update
	$(GO) generate ./web/page

verify: ## fail if generated files or the module files are stale
	$(GO) test ./schema/gen
	$(GO) test ./web/page -run TestBundleIsCurrent
	$(GO) mod tidy -diff
	$(GO) mod verify
	$(GO) mod tidy -C bench -diff
	$(GO) mod tidy -C release -diff

node: ## bring what the tests with Node need, and check the types of what is written in TypeScript
	@if ! command -v npm >/dev/null 2>&1; then echo "skipped: types are checked, and the tests with Node run, where npm is"; \
	else for folder in $(NODE); do (cd $$folder && npm ci --silent --ignore-scripts && npm run --silent --if-present build && npm run --silent --if-present check) \
	  || { echo "$$folder: npm found fault"; exit 1; }; done; fi

# The Node of code-server stays at the version that code-server asks for in its own package.json.
hosts: ## move the coding agents that the tests run to their latest versions
	cd test/e2e/hosts/testdata/npm && npm install --ignore-scripts --save-exact $$(node -p 'Object.keys(require("./package.json").devDependencies).map(name => name + "@latest").join(" ")')
	cd test/e2e/hosts/testdata/npm && npm install --ignore-scripts --save-exact --save-optional $$(node -p 'Object.keys(require("./package.json").optionalDependencies).filter(name => !name.startsWith("node-")).map(name => name + "@latest").join(" ")')
	cd test/e2e/hosts/testdata/npm && npm run build

# The story they show is the same each time; the letters are those of the machine's fonts.
screenshots: ## take the pictures of the page in docs/img anew, with Chromium
	WAYBILL_SHOTS=$(CURDIR)/docs/img WAYBILL_BROWSER_TESTS=required $(GO) test -count=1 -run '^TestPictures$$' ./web/page

cross: ## fail if the code or its tests do not type-check for the other systems
	$(GO) run ./test/typecheck linux/arm64 darwin/arm64 windows/amd64

# bench is a module of its own, so that waybill does not depend on the other queues.
bench: build ## benchmarks, each as a ratio to a raw probe in the same run; then queues
	CGO_ENABLED=0 $(GO) test -run '^$$' -bench . -benchtime 1s ./store/sqlite ./core/verdict ./schema/codec
	CGO_ENABLED=0 $(GO) test -C bench -run '^$$' -bench . -benchtime 1s .
	$(MAKE) queues

queues: ## measure waybill beside other queues for a quarter of an hour, and write the tables of docs/performance.md
	cd bench/queues && $(GO) run .

queues-smoke: ## the tests of bench: a few items through every queue that is installed; each must arrive once
	$(GO) test -C bench -timeout 5m ./...

# FUZZERS lists the fuzz tests, each as PACKAGE NAME. Those of TIMED read what agents and people write, and fuzz-timed
# runs them for longer.
FUZZERS = grep -rnoE --include='*_test.go' '^func Fuzz[[:alnum:]]+' . | sed -E 's,/[^/]+:[0-9]+:func , ,' | sort
TIMED   := ^\./(core/verdict|plan|plan/criteria|plan/file|prompt)[ ]

fuzz: ## fuzz every target but those of fuzz-timed for FUZZTIME
	@$(FUZZERS) | grep -vE '$(TIMED)' | while read -r pkg f; do echo "fuzz $$pkg $$f"; \
	  $(WATCHDOG) $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg </dev/null || exit 1; done

# Go's fuzzer may report the end of its time as a failure; what counts is whether it wrote down an input. One that
# takes longer than 10 s ends the process and is written down; WATCHDOG ends what hangs elsewhere.
fuzz-timed: ## fuzz the readers of results and of plans, FUZZTIMED for each target
	@$(FUZZERS) | grep -E '$(TIMED)' | while read -r pkg f; do echo "fuzz $$pkg $$f"; \
	  out=$$($(WATCHDOG) $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIMED) -fuzzminimizetime 10x $$pkg </dev/null 2>&1) && status=0 || status=$$?; \
	  echo "$$out" | tail -n 3; \
	  if [ $$status -ne 0 ] && { echo "$$out" | grep -q 'Failing input' || ! echo "$$out" | grep -q 'context deadline exceeded'; }; then echo "$$out"; exit 1; fi; done

# release is a module of its own as well, so that waybill does not depend on what makes packages.
release: ## make the files of a release in dist/, for all systems; DOWNLOAD is the address that they will have, HOMEPAGE that of the project
	$(GO) run -C release . $(if $(DOWNLOAD),-download $(DOWNLOAD)) $(if $(HOMEPAGE),-homepage $(HOMEPAGE))

packages-test: ## install the packages for this machine, each into an empty place, and play the demo with them
	$(GO) test -C release $(TESTFLAGS) ./...

wine-test: ## run the program for Windows under Wine, which must be installed
	WAYBILL_WINE_TESTS=required $(GO) test -count=1 -timeout 20m $(TESTFLAGS) ./test/wine

dependencies: ## measure what each dependency costs, and write docs/dependencies.md
	$(GO) run -C release . dependencies

# The pinned program asks the database of vulnerabilities over the network, so it runs on hosted runners and not in .ci/run.
vuln: ## compare the dependencies and the code that uses them with the vulnerabilities that are known for Go
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

rename-module: ## change the path of the module to MODULE, so that `go install MODULE@latest` finds it
	$(GO) run -C release . rename $(MODULE)

clean: ## remove what was built
	rm -rf bin dist
