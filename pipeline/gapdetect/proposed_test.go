package gapdetect

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/config/patch"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// proposing has two agents that can be sent, one of them a model, and three that can't.
func proposing(t *testing.T) *Detector {
	t.Helper()
	cfg := testConfig()
	cfg.Agents = append(cfg.Agents,
		config.Agent{ID: "quality-model", Enabled: true, Kind: config.KindLLM},
		config.Agent{ID: "spec-model", Enabled: true, Kind: config.KindLLM, LLM: &config.ModelReview{Stage: pipeline.ReviewStageSpec}},
		config.Agent{ID: "reports", Enabled: true, Kind: config.KindReport},
	)
	cfg.Settings.ModelEndpoints = []config.ModelEndpoint{{Name: "small"}, {Name: "big"}}
	cfg.Settings.Models.Reviewers = []string{"small", "big"}
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// basket adds four lines, and keeps and removes one each.
func basket() *pipeline.PRFacts {
	f := added("src/basket.go", "Go", "func pay() {", "\tsum :=  price *\tcount", "}", "\tsum :=  price *\tcount")
	f.Hunks[0].Lines = append(f.Hunks[0].Lines,
		pipeline.Line{Op: pipeline.LineContext, Old: 4, New: 14, Text: "refund(customer)"},
		pipeline.Line{Op: pipeline.LineRemoved, Old: 5, Text: "audit(customer)"})
	return &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{f, added("src/other.go", "Go", "unrelated(text)")}}
}

// proposal is a confirmed gap.
func proposal(change func(*Proposal)) Proposal {
	p := Proposal{
		Concern: "money-arithmetic", Path: "src/basket.go", Quote: "sum := price * count", Missed: "A sum is calculated in floats.",
		Agent: "finance-sme", Confidence: 0.8,
	}
	if change != nil {
		change(&p)
	}
	return p
}

func TestConfirmedProposalCounts(t *testing.T) {
	d := proposing(t)
	signals := []pipeline.GapLogEntry{{Concern: "x", Source: Source}}
	m := pipeline.AgentManifest{Entries: entries{chosen("security", pipeline.AgentScope{Files: names{"a.go"}})}, Skipped: skipped{{Agent: "finance-sme", Reason: "no policy"}}}
	got := d.Propose(basket(), m, signals, "big", []Proposal{proposal(nil), proposal(func(p *Proposal) { p.Agent = "quality-model" })})
	if got.Note() != "" || len(got.Log) != 3 || got.Log[0].Source != Source {
		t.Fatalf("note %q, log %+v", got.Note(), got.Log)
	}
	policy := map[string]any{
		"id": got.Log[1].ID(), "description": "A file that finance-sme should look at, found by a model.",
		"priority": 50, "trigger": map[string]any{"type": "path", "globs": []string{"src/basket.go"}},
		"dispatch": map[string]any{"agents": []string{"finance-sme"}, "scope": "matched"},
	}
	want := pipeline.GapLogEntry{
		Concern: "money-arithmetic", Path: "src/basket.go", Line: 11, Quote: "sum :=  price *\tcount", Missed: "A sum is calculated in floats.",
		Suggestion: pipeline.ConfigPatch{File: config.FileComposition, Operations: pipeline.List[pipeline.PatchOperation]{{Op: "add", Path: "/items/-", Value: policy}}},
		Agent:      "finance-sme", Source: "big", Confidence: 0.8,
	}
	if diff := cmp.Diff(want, got.Log[1]); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	scope := pipeline.AgentScope{Files: names{"src/basket.go"}}
	wantManifest := pipeline.AgentManifest{Entries: entries{
		chosen("security", pipeline.AgentScope{Files: names{"a.go"}}),
		{Agent: "finance-sme", Scope: scope, OnFailure: pipeline.OnFailureWarn, AddedBy: pipeline.AddedByGapDetect},
		{Agent: "quality-model", Scope: scope, OnFailure: pipeline.OnFailureWarn, AddedBy: pipeline.AddedByGapDetect, Stage: pipeline.ReviewStageQuality, Models: names{"small", "big"}},
	}}
	if diff := cmp.Diff(wantManifest, got.Manifest); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}

// Unconfirmed proposals are counted by reason and change nothing.
func TestProposalsThatDoNotCount(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Proposal)
		note   string
	}{
		"a quote from nowhere":        {func(p *Proposal) { p.Quote = "sum := price + count" }, "quoting what the change does not add there"},
		"of an unchanged line":        {func(p *Proposal) { p.Quote = "refund(customer)" }, "quoting what the change does not add there"},
		"of a removed line":           {func(p *Proposal) { p.Quote = "audit(customer)" }, "quoting what the change does not add there"},
		"of another file":             {func(p *Proposal) { p.Quote = "unrelated(text)" }, "quoting what the change does not add there"},
		"of a missing file":           {func(p *Proposal) { p.Path = "src/none.go" }, "quoting what the change does not add there"},
		"of a path with detours":      {func(p *Proposal) { p.Path = "src/../src/basket.go" }, "quoting what the change does not add there"},
		"of two lines":                {func(p *Proposal) { p.Quote = "func pay() {\nsum := price * count" }, "quoting what the change does not add there"},
		"a quote that proves nothing": {func(p *Proposal) { p.Quote = "sum :=" }, "quoting what the change does not add there"},
		"no quote":                    {func(p *Proposal) { p.Quote = " " }, "quoting what the change does not add there"},
		"an unknown agent":            {func(p *Proposal) { p.Agent = "nobody" }, "naming no agent that can be sent"},
		"a disabled agent":            {func(p *Proposal) { p.Agent = "off" }, "naming no agent that can be sent"},
		"an agent of the spec stage":  {func(p *Proposal) { p.Agent = "spec-model" }, "naming no agent that can be sent"},
		"an agent that reads reports": {func(p *Proposal) { p.Agent = "reports" }, "naming no agent that can be sent"},
		"itself":                      {func(p *Proposal) { p.Agent = pipeline.GapDetector }, "naming no agent that can be sent"},
		"no concern":                  {func(p *Proposal) { p.Concern = "\u200b \u202e" }, "without all that makes one"},
		"nothing missed":              {func(p *Proposal) { p.Missed = "" }, "without all that makes one"},
	} {
		d, m := proposing(t), pipeline.AgentManifest{Entries: entries{chosen("security", pipeline.AgentScope{Files: names{"a.go"}})}}
		got := d.Propose(basket(), m, nil, "big", []Proposal{proposal(tc.change)})
		if want := "1 of 1 proposals dropped: 1 " + tc.note; got.Note() != want || len(got.Log) != 0 || got.Dropped() != 1 {
			t.Errorf("%s: note %q, log %+v; want %q", name, got.Note(), got.Log, want)
		}
		if diff := cmp.Diff(m, got.Manifest); diff != "" {
			t.Errorf("%s: manifest (-want +got):\n%s", name, diff)
		}
	}
}

func TestNoteOfProposalsAddsUp(t *testing.T) {
	d := proposing(t)
	got := d.Propose(basket(), pipeline.AgentManifest{}, nil, "big", []Proposal{
		proposal(nil), {}, proposal(func(p *Proposal) { p.Agent = "x" }), proposal(func(p *Proposal) { p.Quote = "x" }), proposal(func(p *Proposal) { p.Quote = "y" }),
	})
	want := "4 of 5 proposals dropped: 2 quoting what the change does not add there, 1 naming no agent that can be sent, 1 without all that makes one"
	if got.Note() != want || len(got.Log) != 1 {
		t.Errorf("note %q with %d gaps, want %q", got.Note(), len(got.Log), want)
	}
}

// If the agent already looks at the file, nothing was missed, and nothing is dropped either.
func TestCoveredProposalIsNotAGap(t *testing.T) {
	for name, m := range map[string]pipeline.AgentManifest{
		"all":      {Entries: entries{chosen("finance-sme", pipeline.AgentScope{All: true})}},
		"the file": {Entries: entries{chosen("finance-sme", pipeline.AgentScope{Files: names{"src/basket.go"}})}},
	} {
		got := proposing(t).Propose(basket(), m, nil, "big", []Proposal{proposal(nil)})
		if len(got.Log) != 0 || got.Note() != "" || !cmp.Equal(m, got.Manifest) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	got := proposing(t).Propose(basket(), pipeline.AgentManifest{}, nil, "big", []Proposal{proposal(nil), proposal(func(p *Proposal) { p.Concern = "another" })})
	if len(got.Log) != 1 || got.Dropped() != 0 {
		t.Errorf("twice the same agent and file: %d gaps, %d dropped, want 1 and 0", len(got.Log), got.Dropped())
	}
}

func TestProposalsAreBounded(t *testing.T) {
	facts := &pipeline.PRFacts{}
	var all []Proposal
	for i := range 150 {
		path := fmt.Sprintf("f%03d.go", i)
		facts.Files = append(facts.Files, added(path, "Go", "price * count"))
		all = append(all, proposal(func(p *Proposal) { p.Path, p.Quote = path, "price * count" }))
	}
	got := proposing(t).Propose(facts, pipeline.AgentManifest{}, nil, "big", all)
	if e := got.Manifest.Entry("finance-sme"); len(got.Log) != maxProposed || got.More != 130 || len(e.Scope.Files) != maxProposed {
		t.Errorf("%d gaps, %d more, %d files; want %d, 130", len(got.Log), got.More, len(e.Scope.Files), maxProposed)
	}
	got = proposing(t).Propose(facts, pipeline.AgentManifest{}, nil, "big", append(make([]Proposal, maxExamined), all...))
	if len(got.Log) != 0 || got.Unread != maxExamined || got.More != 150 {
		t.Errorf("after %d entries without words: %d gaps, %d more", maxExamined, len(got.Log), got.More)
	}
}

// For any text of a model, the log has it on one line, in whole and visible characters, with a
// confidence from 0 to 1.
func TestWordsOfProposals(t *testing.T) {
	long := strings.Repeat("é", 2*maxMissed)
	for _, tc := range []struct{ concern, missed, wantConcern, wantMissed string }{
		{"a\nb\x00c\u202e", "x\u200by\t\tz\xff", "a b c", "x y z"},
		{long, long, strings.Repeat("é", maxConcern-1) + "…", strings.Repeat("é", maxMissed-1) + "…"},
	} {
		for confidence, want := range map[float64]float64{-1: 0, 7: 1, math.Inf(1): 1, math.NaN(): 0, 0.5: 0.5} {
			got := proposing(t).Propose(basket(), pipeline.AgentManifest{}, nil, "big", []Proposal{proposal(func(p *Proposal) {
				p.Concern, p.Missed, p.Confidence = tc.concern, tc.missed, confidence
			})})
			if g := got.Log[0]; g.Concern != tc.wantConcern || g.Missed != tc.wantMissed || g.Confidence != want {
				t.Errorf("%q, %q, %v", g.Concern, g.Missed, g.Confidence)
			}
		}
	}
}

// If several lines have the quote, the gap gets the line that the proposal names.
func TestProposalGetsItsLine(t *testing.T) {
	for line, want := range map[int]int{0: 11, 11: 11, 13: 13, 14: 11, -1: 11} {
		got := proposing(t).Propose(basket(), pipeline.AgentManifest{}, nil, "big", []Proposal{proposal(func(p *Proposal) { p.Line = line })})
		if got.Log[0].Line != want {
			t.Errorf("line %d: put on %d, want %d", line, got.Log[0].Line, want)
		}
	}
}

// For any form of the repository's policies, the patches of the log, applied one after the other,
// send the agents to the files.
func TestPatchesOfProposalsCloseTheGaps(t *testing.T) {
	policy := `{"id": "own", "description": "Ours.", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["build-reviewer"]}}`
	files := []placed{{"src/a[1].ts", "const sum = price * count"}, {"src/" + strings.Repeat("long/", 60) + "b.ts", "const sum = price * count"}}
	for form, text := range map[string]string{
		"no file": "", "empty list": "[]", "list": "[" + policy + "]", "empty items": `{"items": []}`,
		"items": `{"extends": ["defaults"], "items": [` + policy + `]}`, "object without items": `{"extends": ["defaults"]}`,
	} {
		t.Run(form, func(t *testing.T) {
			var own []config.File
			if text != "" {
				own = filesOf(map[string]string{config.FileComposition: text})
			}
			cfg := repository(t, false, own...)
			d, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			_, manifest, log := reviewed(t, cfg, files...)
			var proposals []Proposal
			for _, f := range files {
				proposals = append(proposals, proposal(func(p *Proposal) { p.Path, p.Quote, p.Agent = f.Path, f.Line, "design-auditor" }))
			}
			facts := &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{added(files[0].Path, "", files[0].Line), added(files[1].Path, "", files[1].Line)}}
			got := d.Propose(facts, manifest, log, "big", proposals)
			if len(got.Log) != len(log)+2 {
				t.Fatalf("%d gaps were added, want 2 (%s)", len(got.Log)-len(log), got.Note())
			}
			for _, g := range got.Log[len(log):] {
				valid(t, config.SchemaGapLogEntry, g)
				if own, _, err = patch.Apply(config.RepositoryDir, own, g.Suggestion); err != nil {
					t.Fatal(err)
				}
			}
			before, _, _ := reviewed(t, repository(t, false, own...), files...)
			for _, f := range files {
				if !looksAt(before, "design-auditor", f.Path) {
					t.Errorf("with the patched config no policy sends design-auditor to %s: %s", f.Path, own)
				}
			}
		})
	}
}

// Logged gaps can be proposed again with the same result, also after they were stored.
func TestLoggedProposalsGiveTheSame(t *testing.T) {
	d := proposing(t)
	facts := basket()
	facts.Files[1].Hunks[0].Lines[0].Text = strings.Repeat(" ", 300) + strings.Repeat("unrelated(é) \t ", 50)
	signals := []pipeline.GapLogEntry{{Concern: "x", Source: Source, Suggestion: pipeline.ConfigPatch{File: config.FileDomains}}}
	first := d.Propose(facts, pipeline.AgentManifest{}, signals, "big", []Proposal{
		proposal(func(p *Proposal) { p.Line = 13 }), {},
		proposal(func(p *Proposal) { p.Path, p.Quote, p.Agent = "src/other.go", "unrelated(é)", "quality-model" }),
	})
	text, err := json.Marshal(first.Log)
	if err != nil {
		t.Fatal(err)
	}
	var stored []pipeline.GapLogEntry
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	again := d.Propose(facts, pipeline.AgentManifest{}, signals, "big", Logged(stored, "big"))
	if diff := cmp.Diff(first.Manifest, again.Manifest); diff != "" || again.Dropped() != 0 {
		t.Errorf("%s; manifest (-first +again):\n%s", again.Note(), diff)
	}
	if diff := cmp.Diff(first.Log, again.Log); diff != "" || len(again.Log) != 3 {
		t.Errorf("log (-first +again):\n%s", diff)
	}
	if len(Logged(stored, "small")) != 0 || len(Logged(stored, Source)) != 0 {
		t.Error("gaps of other sources are proposed again")
	}
}

// Proposals never remove or narrow anything in the manifest and the log. They add only files of the
// change, and everything fits the schemas.
func TestProposalsOnlyAdd(t *testing.T) {
	d := proposing(t)
	facts := basket()
	paths := rapid.OneOf(rapid.SampledFrom([]string{"src/basket.go", "src/other.go", "../etc", ""}), rapid.String())
	text := rapid.OneOf(rapid.SampledFrom([]string{"sum := price * count", "unrelated(text)", "}", "<script>", "\x00"}), rapid.String())
	agents := rapid.SampledFrom([]string{"finance-sme", "security", "off", "quality-model", "spec-model", "reports", pipeline.GapDetector, ""})
	one := rapid.Custom(func(t *rapid.T) Proposal {
		return Proposal{
			Concern: text.Draw(t, "concern"), Path: paths.Draw(t, "path"), Quote: text.Draw(t, "quote"), Line: rapid.Int().Draw(t, "line"),
			Missed: text.Draw(t, "missed"), Agent: agents.Draw(t, "agent"), Confidence: rapid.Float64().Draw(t, "confidence"),
		}
	})
	scopes := rapid.SampledFrom([]pipeline.AgentScope{{All: true}, {}, {Files: names{"src/basket.go"}}, {Files: names{"a.go", "src/other.go"}}})
	sample.Check(t, func(rt *rapid.T) {
		var m pipeline.AgentManifest
		for _, id := range rapid.SliceOfDistinct(agents, rapid.ID).Draw(rt, "chosen") {
			if id != "" {
				m.Entries = append(m.Entries, chosen(id, scopes.Draw(rt, "scope")))
			}
		}
		before, err := json.Marshal(m)
		if err != nil {
			rt.Fatal(err)
		}
		signals := []pipeline.GapLogEntry{{Concern: "x", Source: Source}}
		got := d.Propose(facts, m, signals, "big", rapid.SliceOfN(one, 0, 30).Draw(rt, "proposals"))
		if after, _ := json.Marshal(m); string(after) != string(before) {
			rt.Fatalf("the manifest given was changed:\n%s\n%s", before, after)
		}
		for _, oldEntry := range m.Entries {
			newEntry := got.Manifest.Entry(oldEntry.Agent)
			if newEntry == nil {
				rt.Fatalf("%s is gone", oldEntry.Agent)
				return
			}
			files := newEntry.Scope.Files
			for _, f := range oldEntry.Scope.Files {
				if !slices.Contains(files, f) {
					rt.Fatalf("%s no longer looks at %s", oldEntry.Agent, f)
				}
			}
			rest := *newEntry
			rest.Scope.Files = oldEntry.Scope.Files
			if !cmp.Equal(oldEntry, rest) || !slices.IsSorted(files) {
				rt.Fatalf("%+v became %+v", oldEntry, *newEntry)
			}
		}
		for _, newEntry := range got.Manifest.Entries {
			if m.Entry(newEntry.Agent) == nil && (newEntry.Required || newEntry.Scope.All || newEntry.AddedBy != pipeline.AddedByGapDetect || newEntry.Stage == pipeline.ReviewStageSpec) {
				rt.Fatalf("added %+v", newEntry)
			}
		}
		if !cmp.Equal(signals[0], got.Log[0]) || got.Dropped() > got.All {
			rt.Fatalf("log %+v, %d of %d dropped", got.Log, got.Dropped(), got.All)
		}
		valid(t, config.SchemaAgentManifest, got.Manifest)
		for _, g := range got.Log[1:] {
			valid(t, config.SchemaGapLogEntry, g)
			if file := slices.IndexFunc(facts.Files, func(f pipeline.File) bool { return f.Path == g.Path }); file < 0 {
				rt.Fatalf("a gap in %q, which is not in the change", g.Path)
			}
		}
	})
}
