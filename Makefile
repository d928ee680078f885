# Everything here is a short name for a command that works by itself.
GOLANGCI_LINT_VERSION := v2.5.0
GOVULNCHECK_VERSION   := v1.1.4
BIN := $(CURDIR)/bin
FUZZTIME ?= 20000x
BENCHTIME ?= 1s
KILLS ?= 200
SEED ?= 0
PKG ?= ./...

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

.PHONY: build
build: ## build ./reviewgate
	go build -trimpath -o reviewgate ./cmd/reviewgate

.PHONY: demo
demo: ## the whole App on this machine, with nothing set up
	go run ./cmd/reviewgate demo --open

.PHONY: picture
picture: ## take docs/comment.png anew, from the demo's page in Chromium
	go test ./app/demo -run TestPictureOfTheComment -count 1 -args -update

.PHONY: test
test: ## the tests; PKG=./app and RUN=TestPush run some, FULL=1 runs every case, as CI does
	go test $(if $(RUN),-run '$(value RUN)') $(PKG) $(if $(filter-out 0 false no,$(FULL)),-full)

.PHONY: race
race: ## the tests under the race detector, without the longest (needs a C compiler)
	.ci/race $$(.ci/racy)

.PHONY: golden
golden: ## rewrite the golden files from what is rendered now
	go test ./app/render -update

.PHONY: fuzz
fuzz: ## fuzz every parser of outside bytes on FUZZTIME inputs each
	@FUZZTIME=$(FUZZTIME) ./.ci/fuzz

.PHONY: bench
bench: ## the performance figures of docs/performance.md
	go test -run '^$$' -bench . -benchtime $(BENCHTIME) ./config ./policies/... ./pipeline/... ./app/gh ./app/synthesis ./app/internal/store ./app/conversations/layers
	go test ./app/harness -run TestLarge -v -count 1 -timeout 20m -args -files 3000

# A model is asked once: the cases as diffs put the same questions, and so does the next
# run. Remove bin/eval to ask anew.
EVAL := $(BIN)/eval
eval: agents = $(if $(CONFIG),--config "$(CONFIG)" --record "$(EVAL)/answers.jsonl")
.PHONY: eval
eval: ## how much the configured agents find of known defects; CONFIG names a server's config, with models
	rm -rf "$(EVAL)/cases"
	go build -o "$(EVAL)/reviewgate" ./cmd/reviewgate
	"$(EVAL)/reviewgate" eval export "$(EVAL)/cases"
	"$(EVAL)/reviewgate" eval $(agents)
	"$(EVAL)/reviewgate" eval diffs "$(EVAL)/cases" $(agents) --out "$(EVAL)/findings.json"
	"$(EVAL)/reviewgate" eval score --findings "$(EVAL)/findings.json" --expected "$(EVAL)/cases/expected.json"
	go test ./app/eval -run TestAgreement -v -count 1

.PHONY: chaos
chaos: ## kill servers KILLS times at work, then have GitHub fail; SEED plays a run again
	go test ./app/harness -run TestChaos -v -count 1 -timeout 60m -args -database sqlite -kills $(KILLS) -pulls 100 -seed $(SEED) -patience 12m
	go test ./app/harness -run TestChaos -v -count 1 -timeout 60m -args -database postgres -replicas 2 -kills $(KILLS) -pulls 100 -seed $(SEED) -patience 12m
	go test ./app/harness -run TestTrouble -v -count 1 -timeout 20m -args -database sqlite -pulls 50 -trouble 1m -seed $(SEED) -patience 6m
	go test ./app/harness -run TestTrouble -v -count 1 -timeout 20m -args -database postgres -pulls 50 -trouble 1m -seed $(SEED) -patience 6m

.PHONY: load
load: ## a burst of 2,000 webhooks, the same while the API is flooded, and two replicas against one
	go test ./app/harness -run TestLoad -v -count 1 -timeout 20m -args -database sqlite -hooks 2000 -pulls 200
	go test ./app/harness -run TestFlood -v -count 1 -timeout 20m -args -database sqlite -hooks 2000 -pulls 200
	go test ./app/harness -run TestReplicas -v -count 1 -timeout 20m -args -pulls 100

.PHONY: idle
idle: ## how soon a server is ready, and what it takes while it has nothing to do
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o $(BIN)/reviewgate ./cmd/reviewgate
	go test ./app/harness -run TestIdle -v -count 1 -args -database sqlite -binary $(BIN)/reviewgate -rest 10s -pulls 20

# Go's cache knows nothing of files outside a module, as those of deploy/ are to the
# one that reads them.
.PHONY: deploy
deploy: ## the files of deploy/, read by the parsers of what reads them
	cd deploy/check && go vet ./... && go test -count 1 ./...

.PHONY: lint
lint: $(BIN)/golangci-lint ## gofmt, vet, golangci-lint with the import directions
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	go vet ./...
	$(BIN)/golangci-lint run

.PHONY: vuln
vuln: $(BIN)/govulncheck ## known vulnerabilities in what is called
	$(BIN)/govulncheck ./...

# The tools are built outside this module, so that their dependencies are not ours.
$(BIN)/golangci-lint:
	GOBIN=$(BIN) GOFLAGS=-mod=mod go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)

$(BIN)/govulncheck:
	GOBIN=$(BIN) GOFLAGS=-mod=mod go install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)
