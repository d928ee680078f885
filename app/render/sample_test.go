package render

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
)

// The samples of this file are reviews of changes to a small shop's pricing service.

const (
	headSHA = "a1b2c3d4e5f60718293a4b5c6d7e8f9012345678"
	baseSHA = "0fedcba9876543210fedcba9876543210fedcba9"
	prevSHA = "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432"
)

func addedLines(start int, texts ...string) pipeline.Hunk {
	h := pipeline.Hunk{NewStart: start, NewLines: len(texts)}
	for i, t := range texts {
		h.Lines = append(h.Lines, pipeline.Line{Op: pipeline.LineAdded, New: start + i, Text: t})
	}
	return h
}

// cleanView is a review without findings.
func cleanView() View {
	start := time.Date(2026, 11, 3, 9, 30, 0, 0, time.UTC)
	return View{
		Mode:  config.ModeEnforce,
		Links: Links{WebURL: "https://github.example", Repository: "acme/shop"},
		Record: pipeline.RunRecord{
			RunID: "7q2mzk5t4wxa3v6c", Version: "0.1.0", StartedAt: start, FinishedAt: start.Add(4100 * time.Millisecond),
		},
		Details: "https://github.example/acme/shop/pull/482#issuecomment-1",
		Review: pipeline.Review{
			Facts:          cleanFacts(),
			Classification: classification(),
			Manifest:       manifest(),
			Report: pipeline.Report{
				SchemaVersion: pipeline.ReportSchemaVersion,
				Repository:    "acme/shop",
				Number:        482,
				HeadSHA:       headSHA,
				ConfigVersion: "5c1d0aa9e2",
				Decision:      pipeline.DecisionPass,
				Gate:          pipeline.Gate{Condition: "no condition held"},
				Coverage: pipeline.List[pipeline.Coverage]{
					{Agent: "build-reviewer", Status: pipeline.AgentOK},
					{Agent: "finance-sme", Status: pipeline.AgentOK},
					{Agent: "secrets", Status: pipeline.AgentOK},
					{Agent: "security-reviewer", Status: pipeline.AgentOK},
				},
				Iteration: 1,
			},
		},
	}
}

func cleanFacts() pipeline.PRFacts {
	return pipeline.PRFacts{
		Repository: pipeline.Repository{Owner: "acme", Name: "shop", DefaultBranch: "main"},
		Number:     482,
		Title:      "feat: totals by currency",
		Author:     pipeline.Author{Login: "mira", Type: "User"},
		Base:       pipeline.Base{Ref: "main", SHA: baseSHA},
		Head:       pipeline.Head{Ref: "totals", SHA: headSHA, Repository: "acme/shop"},
		Files: pipeline.List[pipeline.File]{
			{Path: "api/orders.go", Status: pipeline.FileModified, Language: "Go", Hunks: pipeline.List[pipeline.Hunk]{
				addedLines(75, "	rows, err := db.Query(q)", "	if err != nil { return err }", "	rows.Close()"),
			}},
			{Path: "assets/map.svg", Status: pipeline.FileAdded, Generated: true, GeneratedByPath: true},
			{Path: "client/http.go", Status: pipeline.FileModified, Language: "Go", Hunks: pipeline.List[pipeline.Hunk]{
				addedLines(17, "	key := \"[redacted: aws-access-token]\"", "	tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConns: 4}", "	return New(tr, key)"),
			}},
			{Path: "docs/logo.png", Status: pipeline.FileAdded, Binary: true},
			{Path: "pricing/total.ts", Status: pipeline.FileModified, Language: "TypeScript", Hunks: pipeline.List[pipeline.Hunk]{
				addedLines(41, "export function total(items: Item[]) {",
					"  const total = items.reduce((t, i) => t + i.price * i.qty, 0);", "  return total;", "}"),
			}},
		},
		Config: pipeline.ConfigInForce{Version: "5c1d0aa9e2", Layers: pipeline.List[pipeline.ConfigLayer]{
			{Name: "defaults", Source: "embedded", Used: true},
			{Name: "repository", Source: "acme/shop@main", Used: true},
		}},
	}
}

func classification() pipeline.Classification {
	return pipeline.Classification{
		Domains: pipeline.List[pipeline.Domain]{
			{ID: "api", Files: pipeline.List[pipeline.DomainFile]{
				{Path: "api/orders.go", Mappings: pipeline.List[string]{"api/**"}},
				{Path: "client/http.go", Mappings: pipeline.List[string]{"**/http*.go", "client/**", "client/*.go"}},
			}},
			{ID: "finance", Files: pipeline.List[pipeline.DomainFile]{{Path: "pricing/total.ts", Mappings: pipeline.List[string]{"pricing/**"}}}},
		},
		Unclassified: pipeline.List[string]{"assets/map.svg", "docs/logo.png"},
		Type:         "feature", TypeSource: "title prefix feat",
		Scope: pipeline.Scope{Size: pipeline.SizeM, ChangedLines: 132, Breadth: "several"},
		Risk: pipeline.Risk{Score: 38, Level: pipeline.RiskMedium, Reasons: pipeline.List[pipeline.RiskReason]{
			{Factor: "changed_lines", Points: 8, Reason: "132 changed lines"},
			{Factor: "domains", Points: 20, Reason: "finance is touched"},
			{Factor: "source_without_test", Points: 10, Reason: "source without a test"},
		}},
	}
}

func manifest() pipeline.AgentManifest {
	all := pipeline.AgentScope{All: true}
	return pipeline.AgentManifest{
		Entries: pipeline.List[pipeline.ManifestEntry]{
			{Agent: "secrets", Scope: all, Required: true, AddedBy: pipeline.AddedByPolicy, Policies: pipeline.List[pipeline.PolicyMatch]{
				{Policy: "every-change", Priority: 100, Trigger: "every change"}}},
			{Agent: "finance-sme", Scope: pipeline.AgentScope{Files: pipeline.List[string]{"pricing/total.ts"}},
				Required: true, AddedBy: pipeline.AddedByPolicy, Policies: pipeline.List[pipeline.PolicyMatch]{
					{Policy: "finance-changes", Priority: 80, Trigger: "`pricing/total.ts` is finance"}}},
			{Agent: "build-reviewer", Scope: all, AddedBy: pipeline.AddedByPolicy, Policies: pipeline.List[pipeline.PolicyMatch]{
				{Policy: "every-change", Priority: 100, Trigger: "every change"}}},
			{Agent: "security-reviewer", Scope: pipeline.AgentScope{Files: pipeline.List[string]{"client/http.go"}}, AddedBy: pipeline.AddedByGapDetect},
		},
		Skipped: pipeline.List[pipeline.SkippedAgent]{
			{Agent: "design-auditor", Reason: "no changed file is ui"},
			{Agent: "docs-reviewer", Reason: "no changed file is documentation"},
			{Agent: "infra-reviewer", Reason: "no changed file is infra"},
		},
	}
}

// inlineView has comments on the lines of some findings. The URL of one is not known.
func inlineView() View {
	v := findingsView()
	v.Inline = map[string]string{"fedcba9876543210": "https://github.example/acme/shop/pull/104#discussion_r7", "aaaabbbbccccdddd": "", "1111222233334444": "https://github.example/acme/shop/pull/104#discussion_r8"}
	return v
}

// findingsView is a review with findings of all severities.
func findingsView() View {
	v := cleanView()
	setFindings(&v, pipeline.DecisionFail, "critical > 0",
		pipeline.Finding{
			Title: "AWS access key committed", Severity: pipeline.SeverityCritical, Path: "client/http.go", StartLine: 17, EndLine: 17,
			Message: "An AWS access key is in the code.", WhyItMatters: "Whoever can read the repository, now or later, can use it.",
			Recommendation: "Revoke the key, then read it from the environment.", RuleID: "aws-access-token", Category: "secrets",
			Evidence: pipeline.List[string]{"`key := \"[redacted: aws-access-token]\"`"},
			Agent:    "secrets", ID: "0a1b2c3d4e5f6071", Confidence: 1,
		},
		pipeline.Finding{
			Title: "Money is added in binary floating point", Severity: pipeline.SeverityMajor, Path: "pricing/total.ts", StartLine: 42, EndLine: 42,
			Message:        "Sums of prices drift by a cent after a few lines; this total is charged to the card on line 61.",
			Recommendation: "Add with `money()`.", RuleID: "fin-decimal-01", Category: "financial-arithmetic",
			Evidence:     pipeline.List[string]{"const total = items.reduce((t, i) => t + i.price * i.qty, 0);"},
			SuggestedFix: "  const total = items.reduce((t, i) => t.plus(money(i.price).times(i.qty)), money(0));",
			Agent:        "finance-sme", Reviewers: pipeline.List[string]{"build-reviewer", "finance-sme"}, ID: "fedcba9876543210", Confidence: 0.95,
		},
		pipeline.Finding{
			Title: "TLS certificates aren't verified", Severity: pipeline.SeverityMajor, Path: "client/http.go", StartLine: 18, EndLine: 18,
			Message: "Anyone between the service and the bank can read and change the traffic.", RuleID: "sec-tls-verify-01",
			Recommendation: "Leave `InsecureSkipVerify` out; add the bank's CA to `RootCAs` if it has its own.",
			Evidence:       pipeline.List[string]{"TLSClientConfig: &tls.Config{InsecureSkipVerify: true},"},
			Agent:          "security-reviewer", ID: "aaaabbbbccccdddd", Confidence: 0.9,
		},
		pipeline.Finding{
			Title: "Error of `rows.Close` is dropped", Severity: pipeline.SeverityWarning, Path: "api/orders.go", StartLine: 77, EndLine: 77,
			Message: "A failed close can hide a broken read.", Recommendation: "Return the error.", RuleID: "br-errors-03",
			Agent: "build-reviewer", ID: "1111222233334444", Confidence: 0.8,
		},
		pipeline.Finding{
			Title: "Description is empty", Severity: pipeline.SeverityWarning, Section: "description",
			Message: "Reviewers and those who look for a regression later don't learn why.", RuleID: "pr-body-01",
			Agent: "build-reviewer", ID: "5555666677778888", Confidence: 1,
		},
		pipeline.Finding{
			Title: "Comment names a person", Severity: pipeline.SeverityInfo, Path: "api/orders.go", StartLine: 75, EndLine: 75,
			Message: "People move on; name a team or an issue.", Agent: "build-reviewer", ID: "9999000011112222", Confidence: 0.7,
		},
	)
	return v
}

// setFindings puts findings into a view, counts them, and sets the decision.
func setFindings(v *View, d pipeline.Decision, condition string, fs ...pipeline.Finding) {
	r := &v.Review.Report
	r.Findings, r.Counts = nil, pipeline.Counts{}
	for _, f := range fs {
		if f.GateSeverity == "" {
			f.GateSeverity = f.Severity
		}
		if f.State == "" {
			f.State = pipeline.StateNew
		}
		r.Findings = append(r.Findings, f)
		r.Counts.Add(f.GateSeverity)
	}
	for i := range r.Coverage {
		c := &r.Coverage[i]
		c.Findings, c.Present = 0, 0
		for _, f := range fs {
			if f.Agent == c.Agent {
				c.Findings++
				c.Present++
			}
		}
	}
	r.Decision = d
	r.Gate = pipeline.Gate{Condition: condition, Metrics: map[string]float64{
		"critical": float64(r.Counts.Critical), "major": float64(r.Counts.Major), "warning": float64(r.Counts.Warning),
		"info": float64(r.Counts.Info), "risk_score": 38,
	}}
}

func resolvedView() View {
	v := findingsView()
	fs := append([]pipeline.Finding(nil), v.Review.Report.Findings...)
	secret, warning := fs[0], fs[3]
	secret.State, warning.State = pipeline.StateResolved, pipeline.StateResolved
	fs[1].State = pipeline.StateNew
	fs[2].State = pipeline.StateOpen
	setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", fs[1], fs[2], fs[4])
	v.Review.Report.Changes = pipeline.Changes{
		PreviousReport: prevSHA, New: 1, Open: 2, Resolved: pipeline.List[pipeline.Finding]{secret, warning},
	}
	return v
}

func incompleteView() View {
	v := findingsView()
	setFindings(&v, pipeline.DecisionNeedsFixes, "review incomplete", v.Review.Report.Findings[3])
	v.Review.Report.Incomplete = pipeline.List[pipeline.Incompleteness]{
		{What: "agent", Why: "the required agent secrets timed out after 120 s, in 3 attempts", Gating: true},
		{What: "patch", Path: "db/seed.sql", Why: "GitHub does not show its diff: the file has 48,000 changed lines", Gating: true},
		{What: "commits", Why: "the list of commits has 250 of 311 commits"},
	}
	v.Review.Report.Coverage[2] = pipeline.Coverage{Agent: "secrets", Status: pipeline.AgentTimedOut, Note: "no answer within 120 s, 3 attempts"}
	return v
}

func brokenConfigView() View {
	v := cleanView()
	v.Review.Facts.Config.Layers[1].Used = false
	v.Review.Facts.Config.Layers[1].Name = "repository"
	v.Review.Facts.Config.Problems = pipeline.List[pipeline.ConfigProblem]{
		{Layer: "repository", File: ".github/reviewgate/review-rules.json", Line: 12, Column: 17, Pointer: "/3/severity",
			Problem: `"high" is not a severity`, Remedy: `write one of critical, major, warning, info`},
		{Layer: "repository", File: ".github/reviewgate/review-composition.json", Line: 40, Column: 3, Pointer: "/5/dispatch/agents/0",
			Problem: `there is no agent "finance-sm"`, Remedy: `did you mean "finance-sme"?`},
	}
	return v
}

func withLayers(v View, problems []pipeline.ConfigProblem, layers ...pipeline.ConfigLayer) View {
	v.Review.Facts.Config.Layers = append(v.Review.Facts.Config.Layers[:1:1], layers...)
	v.Review.Facts.Config.Problems = problems
	return v
}

// brokenOrganisationView has a mistake in the organisation's config, which is in another
// repository.
func brokenOrganisationView() View {
	problem := brokenConfigView().Review.Facts.Config.Problems[0]
	problem.Layer = config.LayerOrganisation
	return withLayers(cleanView(), []pipeline.ConfigProblem{problem},
		pipeline.ConfigLayer{Name: config.LayerOrganisation, Source: "acme/.github", Used: true},
		pipeline.ConfigLayer{Name: config.LayerOrganisation, Source: "acme/.github"},
		pipeline.ConfigLayer{Name: config.LayerRepository, Source: "acme/shop", Used: true})
}

// brokenLayersView has mistakes in the config of the organisation and of a branch. Only the
// organisation's config has a last good version.
func brokenLayersView() View {
	problems := brokenOrganisationView().Review.Facts.Config.Problems
	problems = append(problems, brokenConfigView().Review.Facts.Config.Problems...)
	problems = append(problems, pipeline.ConfigProblem{Layer: config.LayerRepository, Problem: "7 more problems are not shown", Remedy: "fix those above first"})
	return withLayers(cleanView(), problems,
		pipeline.ConfigLayer{Name: config.LayerOrganisation, Source: "acme/.github", Used: true},
		pipeline.ConfigLayer{Name: config.LayerOrganisation, Source: "acme/.github"},
		pipeline.ConfigLayer{Name: config.LayerRepository, Source: "acme/shop@release/1"})
}

// brokenOwnOrganisationView is a review of a change to the organisation's own config
// repository.
func brokenOwnOrganisationView() View {
	v := withLayers(cleanView(), brokenOrganisationView().Review.Facts.Config.Problems,
		pipeline.ConfigLayer{Name: config.LayerOrganisation, Source: "acme/.github"})
	v.Review.Facts.Repository.Name = ".github"
	return v
}

// unreadOrganisationView uses config that can no longer be read.
func unreadOrganisationView() View {
	return withLayers(cleanView(), []pipeline.ConfigProblem{{
		Layer:   config.LayerOrganisation,
		Problem: "acme/.github can no longer be read, so its config stays in force as it was last read",
		Remedy: "make it public or install the App on it; if its config is to end, remove " +
			".github/reviewgate from it as well (an empty repository of that name will do)",
	}}, pipeline.ConfigLayer{Name: config.LayerOrganisation, Source: "acme/.github", Used: true})
}

func forkView() View {
	v := findingsView()
	v.Review.Facts.Head.Repository = "stranger/shop-fork"
	v.Review.Facts.Head.Fork = true
	setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", v.Review.Report.Findings[2])
	v.Review.Report.Findings[0].StartLine, v.Review.Report.Findings[0].EndLine = 17, 19
	return v
}

func gapsView() View {
	v := cleanView()
	v.Review.Report.GapLog = pipeline.List[pipeline.GapLogEntry]{{
		Concern: "payments", Name: "a card payment", Path: "client/http.go", Line: 18, Quote: "		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},",
		Missed: "no mapping puts `client/http.go` into payments", Agent: "security-reviewer", Source: "signals", Confidence: 0.8,
		Suggestion: pipeline.ConfigPatch{File: "review-domains.json", Operations: pipeline.List[pipeline.PatchOperation]{
			{Op: "add", Path: "/-", Value: map[string]any{"type": "domain", "id": "payments-client", "domain": "payments",
				"description": "calls to the bank <payments & refunds>", "globs": []string{"client/**"}}}}},
	}, {
		Concern: "**retries**", Path: "client/http.go", Line: 22, Quote: "for range retries {",
		Missed: "A payment may be sent twice, @octocat", Agent: "finance-sme", Others: pipeline.List[string]{"finance-sme-llm"}, Source: "opus", Confidence: 0.9,
		Suggestion: pipeline.ConfigPatch{File: "review-composition.json", Operations: pipeline.List[pipeline.PatchOperation]{
			{Op: "add", Path: "/items/-", Value: map[string]any{"id": "gap-0123456789ab", "description": "A file that finance-sme should look at, found by a model.",
				"priority": 50, "trigger": map[string]any{"type": "path", "globs": []string{"client/http.go"}},
				"dispatch": map[string]any{"agents": []string{"finance-sme"}, "scope": "matched"}}}}},
	}}
	v.Review.Report.Coverage = append(v.Review.Report.Coverage, pipeline.Coverage{
		Agent: pipeline.GapDetector, Model: "opus", Status: pipeline.AgentOK, Note: "2 of 3 proposals dropped: 2 naming no agent that can be sent",
	})
	return v
}

func advisoryView() View {
	v := findingsView()
	v.Mode = config.ModeAdvisory
	return v
}

func sharedView() View {
	v := cleanView()
	v.Shared = []SharedHead{{Number: 17, Decision: pipeline.DecisionNeedsFixes}, {Number: 19, Decision: pipeline.DecisionPassWithWarnings}}
	return v
}

func localView() View {
	v := findingsView()
	v.Links, v.Details = Links{}, ""
	v.Record.RunID = ""
	v.Review.Facts.Head = pipeline.Head{Ref: "work tree"}
	v.Review.Facts.Number = 0
	return v
}

// asideView has findings, concerns and questions that do not count in the gate.
func asideView() View {
	v := findingsView()
	all := v.Review.Report.Findings
	setFindings(&v, pipeline.DecisionPassWithWarnings, "warning > 0", all[3], all[4])
	v.Review.Report.Suppressed = pipeline.List[pipeline.Suppressed]{
		{Finding: all[2], Reason: "inline: the bank's test server has no certificate"}, {Finding: all[5], Reason: "dismissed by mira"},
	}
	v.Review.Report.ResidualConcerns = pipeline.List[pipeline.SourcedText]{{Text: "The cache may outlive the session", Source: "security-reviewer"}}
	v.Review.Report.DeferredQuestions = pipeline.List[pipeline.SourcedText]{{Text: "Are refunds rounded the same way?", Source: "finance-sme"}}
	v.Notices = []string{Notice{Kind: NoticePermission, By: "sam", Command: "review", Wrong: TakesAuthor}.String()}
	return v
}

// customGateView is blocked by the repository's own gate condition.
func customGateView() View {
	v := findingsView()
	setFindings(&v, pipeline.DecisionNeedsFixes, "warning > 1", v.Review.Report.Findings[3], v.Review.Report.Findings[4])
	return v
}

// repeatedView has rules with findings in many places. One rule is from the repository's
// own config.
func repeatedView() View {
	v := findingsView()
	var fs []pipeline.Finding
	for i, all := 0, v.Review.Report.Findings; i < 9; i++ {
		tls, closes := all[2], all[3]
		tls.StartLine, tls.EndLine, tls.ID = 18+i*7, 18+i*7, fmt.Sprintf("aaaa%04d", i)
		closes.StartLine, closes.EndLine, closes.ID = 77+i, 77+i, fmt.Sprintf("1111%04d", i)
		if fs = append(fs, tls); i < 3 {
			fs = append(fs, closes)
		}
	}
	setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", fs...)
	v.Rules = map[string]RuleNote{
		"sec-tls-verify-01": {Reference: "https://github.example/docs/295.html"},
		"br-errors-03":      {Reference: "http://github.example/insecure", Layer: config.LayerRepository},
	}
	gap := func(path string, line int) pipeline.GapLogEntry {
		return pipeline.GapLogEntry{
			Concern: "payments", Path: path, Line: line, Quote: "bank.Charge(total)", Missed: "no mapping puts `" + path + "` into payments",
			Agent: "finance-sme", Source: "signals", Suggestion: pipeline.ConfigPatch{File: config.FileDomains, Operations: pipeline.List[pipeline.PatchOperation]{{
				Op: "add", Path: "/items/-", Value: map[string]any{"type": "domain", "id": "payments-" + path[:3], "domain": "payments", "globs": []string{path}},
			}}},
		}
	}
	v.Review.Report.GapLog = pipeline.List[pipeline.GapLogEntry]{gap("api/orders.go", 76), gap("client/http.go", 17), gap("client/http.go", 19)}
	return v
}

// evaluationView has findings in evaluation that would block the merge.
func evaluationView() View {
	v := cleanView()
	tried := findingsView().Review.Report.Findings[:2]
	v.Review.Report.Evaluation = &pipeline.Evaluation{
		Findings: tried, Decision: pipeline.DecisionFail, Condition: "critical > 0",
		Coverage: pipeline.List[pipeline.Coverage]{{Agent: "security-reviewer", Status: pipeline.AgentOK, Findings: 2}},
	}
	return v
}

// proposedView changes the repository's config.
func proposedView() View {
	v := customGateView()
	v.Review.Report.ProposedConfig = pipeline.ProposedConfig{
		Files:    pipeline.List[string]{".github/reviewgate/review-rules.json", ".github/reviewgate/review-settings.json"},
		Decision: pipeline.DecisionFail, Condition: "critical > 0", Counts: pipeline.Counts{Critical: 1},
		Changes: pipeline.List[pipeline.ConfigChange]{
			{File: config.FileRules, ID: "br-errors-03", Change: pipeline.ChangeChanged, Fields: pipeline.List[string]{"match", "severity"}},
			{File: config.FileRules, ID: "pr-body-01", Change: pipeline.ChangeRemoved},
			{File: config.FileRules, ID: "shop-no-legacy", Change: pipeline.ChangeAdded},
			{File: config.FileComposition, ID: "docs-changes", Change: pipeline.ChangeAdded},
			{File: config.FileAgents, ID: "infra-reviewer", Change: pipeline.ChangeRemoved},
			{File: config.FileDomains, ID: "payments", Change: pipeline.ChangeAdded},
			{File: config.FileSettings, ID: "gate.conditions", Change: pipeline.ChangeChanged},
		},
		AgentsAdded: pipeline.List[string]{"docs-reviewer"}, AgentsGone: pipeline.List[string]{"finance-sme", "security-reviewer"},
		FindingsNew: 1, FindingsGone: 2,
		Findings: pipeline.List[pipeline.ConfigFinding]{
			{Severity: pipeline.SeverityCritical, Title: "The legacy client is used", Path: "api/orders.go", Line: 76, RuleID: "shop-no-legacy"},
			{Gone: true, Severity: pipeline.SeverityWarning, Title: "Description is empty", RuleID: "pr-body-01"},
			{Gone: true, Severity: pipeline.SeverityWarning, Title: "Error of `rows.Close` is dropped", Path: "api/orders.go", Line: 77, RuleID: "br-errors-03"},
		},
	}
	return v
}

// proposedTestsView proposes a config some of whose policy tests fail.
func proposedTestsView() View {
	v := proposedSameView()
	v.Review.Report.ProposedConfig.Tests = &pipeline.PolicyTests{
		Cases: 212, Failed: 7, NotRun: 2,
		Failures: pipeline.List[pipeline.TestFailure]{
			{Name: "a payment without a test", Why: "decision: want fail, got pass (no condition held)"},
			{Name: "sql in a loop", Why: "finding sec-sql-go-01 at store/db.go:12: not found; there is no finding, and 2 more"},
		},
		Problems:     pipeline.List[pipeline.ConfigProblem]{{File: ".github/reviewgate/tests/docs.json", Line: 4, Column: 9, Pointer: "/expect/not_agents/0", Problem: "the config has no agent \"doc-reviewer\"", Remedy: "did you mean \"docs-reviewer\"?"}},
		ProblemsMore: 3,
	}
	return v
}

func proposedTestsPassView() View {
	v := proposedSameView()
	v.Review.Report.ProposedConfig.Tests = &pipeline.PolicyTests{Cases: 12}
	return v
}

func proposedLargeView() View {
	v := proposedSameView()
	v.Review.Report.ProposedConfig.ChangesMore = 4799
	return v
}

func proposedSameView() View {
	v := cleanView()
	v.Review.Report.ProposedConfig = pipeline.ProposedConfig{
		Files: pipeline.List[string]{".github/reviewgate/review-settings.json"}, Decision: pipeline.DecisionPass, Condition: "no condition held",
		Changes: pipeline.List[pipeline.ConfigChange]{{File: config.FileSettings, ID: "drafts", Change: pipeline.ChangeChanged}},
	}
	return v
}

// backtestedView is proposedView with the backtest of its proposed config.
func backtestedView() View {
	v := proposedView()
	v.Backtest = &pipeline.ConfigBacktest{
		Days: 90, Stored: 812, Reviews: 500, Changed: 16, Blocked: 3, BlockedOverridden: 2, Passing: 11, Unknown: 31,
		Why: pipeline.List[string]{"what infra-reviewer would find", "what security-sme with large would find"},
	}
	for i, people := range []string{
		pipeline.PeopleOverrode, pipeline.PeopleOverrode, pipeline.PeopleMerged, pipeline.PeopleFixed, "",
	} {
		r := pipeline.BacktestedReview{
			Pull: fmt.Sprintf("#%d", 104-i), HeadSHA: fmt.Sprintf("%x%033d", 0xabc1234+i, 0), From: pipeline.DecisionPass, To: pipeline.DecisionNeedsFixes,
			Because: "The legacy API is called, major, at store/legacy.go:3", People: people,
		}
		switch i {
		case 3:
			r.From, r.To, r.Because = r.To, r.From, "the gate's condition major > 0"
		case 4:
			r.To = pipeline.DecisionPassWithWarnings
		}
		v.Backtest.Named = append(v.Backtest.Named, r)
	}
	return v
}

// hostileBacktest is a backtest in which every text is s.
func hostileBacktest(s string) *pipeline.ConfigBacktest {
	return &pipeline.ConfigBacktest{
		Days: 90, Stored: 3, Reviews: 3, Changed: 1, Blocked: 1, Unknown: 1, Why: pipeline.List[string]{s},
		Named: pipeline.List[pipeline.BacktestedReview]{{Pull: s, HeadSHA: s, From: pipeline.DecisionPass, To: pipeline.DecisionFail, Because: s, People: s}},
	}
}

func backtestedOrganisationView() View {
	v := proposedSameView()
	v.Backtest = &pipeline.ConfigBacktest{Days: 90, Stored: 1812, Reviews: 130, OutOfTime: true, Organisation: true, Changed: 1, Blocked: 1, BlockedOverridden: 1, Elsewhere: 1}
	return v
}

// backtestedOwnView has changed decisions of the organisation's own repository that are not listed.
func backtestedOwnView() View {
	v := backtestedView()
	v.Backtest.Organisation, v.Backtest.Elsewhere = true, 8
	return v
}

func backtestedSameView() View {
	v := proposedSameView()
	v.Backtest = &pipeline.ConfigBacktest{Days: 90, Stored: 212, Reviews: 212}
	return v
}

// proposedExceptionsView edits the files with exceptions.
func proposedExceptionsView() View {
	v := findingsView()
	v.Review.Report.ProposedConfig = pipeline.ProposedConfig{
		Files: pipeline.List[string]{".gitattributes", ".gitleaks.toml"}, Decision: pipeline.DecisionPass, Exceptions: true, FindingsGone: 3,
		Covered: pipeline.List[pipeline.Covered]{
			{As: pipeline.CoveredVendored, Files: pipeline.List[string]{"lib/a.js", "lib/b.js", "lib/c.js", "lib/d.js", "lib/e.js", "lib/f.js"}, More: 14},
			{As: pipeline.CoveredUnread, Files: pipeline.List[string]{"tool.sh"}},
		},
	}
	return v
}

func proposedUncoveredView() View {
	v := cleanView()
	v.Review.Report.ProposedConfig = pipeline.ProposedConfig{Files: pipeline.List[string]{".gitattributes"}, Decision: pipeline.DecisionPass, Exceptions: true}
	return v
}

func proposedBrokenView() View {
	v := cleanView()
	v.Review.Report.ProposedConfig = pipeline.ProposedConfig{
		Files:    pipeline.List[string]{".github/reviewgate/review-rules.json"},
		Problems: brokenConfigView().Review.Facts.Config.Problems,
	}
	return v
}

func proposedUnknownView() View {
	v := cleanView()
	v.Review.Report.ProposedConfig = pipeline.ProposedConfig{
		Files: pipeline.List[string]{".github/reviewgate/review-rules.json"}, Note: "GitHub answered 502 while it was read",
	}
	return v
}

// disagreeView has two disagreements of reviewers. One blocks, and the other does not.
func disagreeView() View {
	v := findingsView()
	all := v.Review.Report.Findings
	blocking, mild := all[1], all[3]
	blocking.Title, blocking.Message, blocking.SuggestedFix = "Trade-off: cents are summed as floats", "Reviewers disagree.", ""
	blocking.Perspectives = pipeline.List[pipeline.Perspective]{
		{Agent: "build-reviewer", Action: pipeline.ActionKeep, Severity: pipeline.SeverityWarning, Message: "Every other total of the shop is a float; one that isn't can't be compared with them",
			Recommendation: "Keep it until all totals change."},
		{Agent: "finance-sme", Model: "claude-opus", Action: pipeline.ActionRemove, Severity: pipeline.SeverityMajor, Message: "Sums of prices drift by a cent after a few lines.",
			Recommendation: "Add with `money()`."},
	}
	mild.Title = "Trade-off: orders are cached for a second"
	mild.Perspectives = pipeline.List[pipeline.Perspective]{
		{Agent: "scope-guardian", Action: pipeline.ActionRemove, Severity: pipeline.SeverityWarning, Message: "It has one caller and saves 2 ms."},
		{Agent: "coherence", Action: pipeline.ActionKeep, Severity: pipeline.SeverityInfo, Message: "The other stores have one."},
	}
	setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", blocking, mild, all[4])
	return v
}

// reportsView has review reports that let a specification proceed, and reports that block a
// plan.
func reportsView() View {
	v := findingsView()
	score := func(x float64) *float64 { return &x }
	setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", pipeline.Finding{
		Title: "Review reports block the plan", Severity: pipeline.SeverityMajor, Path: "docs/02-plans/007-refunds/review/technical-review-report.md",
		Message: "Review failures: unknown", Category: "review_report", Agent: "review-reports", ID: "77776666ddddcccc", Confidence: 1,
		Recommendation: "Change what the reports object to, and have it reviewed again.",
	})
	advice := func(n int) (list pipeline.List[pipeline.Recommendation]) {
		for i := range n {
			list = append(list, pipeline.Recommendation{
				Priority: "High", Category: "requirements_completeness", Finding: fmt.Sprintf("FR-00%d says nothing of partial refunds", i+1),
				Recommendation: "Say who may refund a part, and how it is rounded.", Location: fmt.Sprintf("spec.md#fr-00%d", i+1), Reviewer: "spec-reviewer", Severity: "Minor",
			})
		}
		return list
	}
	v.Review.Report.ReviewReports = pipeline.List[pipeline.ReviewReportOutcome]{
		{
			Phase: pipeline.PhasePlan, Place: "docs/02-plans/007-refunds/review", Rationale: "Review failures: unknown", Readiness: pipeline.NotReady,
			QualityScores: pipeline.QualityScores{Error: "No spec-reviewer found"}, ReviewPaths: pipeline.List[string]{"unknown", "architecture-review"},
			Errors: pipeline.List[pipeline.ReviewReportError]{{
				Source: "docs/02-plans/007-refunds/review/technical-review-report.md", Error: "JSON parsing failed: 14:3: /severity: a comma is missing",
				Recovery: "Repair the JSON and push",
			}},
		},
		{
			Phase: pipeline.PhaseSpec, Place: "docs/01-planning/specifications/007-refunds/review", Proceed: true, Rationale: "All reviews passed quality gates",
			Readiness: pipeline.Conditional, ReviewPaths: pipeline.List[string]{"spec-reviewer", "technical-pm"}, Recommendations: advice(7),
			QualityScores: pipeline.QualityScores{OverallScore: 0.84, Grade: "B", Components: pipeline.ScoreComponents{SpecQuality: score(0.98), BusinessAlignment: score(1)}},
		},
	}
	return v
}

// modelsView is a review by two models, which agree on one finding only.
func modelsView() View {
	v := findingsView()
	all := v.Review.Report.Findings
	alone, agreed := all[2], all[1]
	alone.GateSeverity, alone.Model = pipeline.SeverityWarning, "claude-opus"
	alone.Reasons = pipeline.List[pipeline.Reason]{{Text: "major, by one model only"}}
	alone.FoundBy = pipeline.List[pipeline.Maker]{{Agent: "security-reviewer", Model: "claude-opus"}}
	alone.Opinions = pipeline.List[pipeline.Opinion]{{Model: "claude-haiku", Verdict: pipeline.OpinionRefuted, Quote: "if cfg.Local {", Why: "It is set only for a server on the same machine"}}
	agreed.Reviewers = pipeline.List[string]{"finance-sme", "security-reviewer"}
	agreed.FoundBy = pipeline.List[pipeline.Maker]{{Agent: "finance-sme"}, {Agent: "security-reviewer", Model: "claude-haiku"}, {Agent: "security-reviewer", Model: "claude-opus"}}
	setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", agreed, alone, all[5])
	v.Review.Report.Models = &pipeline.ModelsReport{
		Strategy: "parallel", Confidence: 0.6, ConfidenceLabel: "medium", AutoDecision: pipeline.AutoHuman,
		Verdicts: pipeline.List[pipeline.ModelVerdict]{
			{Model: "claude-haiku", Spec: pipeline.VerdictPass, Quality: pipeline.VerdictFail, Verdict: pipeline.VerdictFail},
			{Model: "claude-opus", Spec: pipeline.VerdictPass, Quality: pipeline.VerdictFail, Verdict: pipeline.VerdictFail},
		},
		Merge: pipeline.ModelsMerge{Agreed: 1, BOnly: 1},
		Stages: pipeline.List[pipeline.ModelsStage]{
			{Stage: pipeline.ReviewStageSpec, Categories: categoriesOf(0, "", "", 0, "", "")},
			{Stage: pipeline.ReviewStageQuality, Categories: categoriesOf(1, "major", pipeline.ModelsBlocks, 1, "major", pipeline.ModelsNoted)},
		},
	}
	v.Record.ModelUse = []pipeline.ModelUse{
		{Agent: pipeline.Matcher, Model: "claude-haiku", Asked: 1, Input: 900, Output: 120, CostUSD: 0.0016},
		{Agent: "security-reviewer", Model: "claude-haiku", Asked: 1, Input: 14200, Cached: 9000, Output: 800, CostUSD: 0.0102},
		{Agent: "security-reviewer", Model: "claude-opus", Asked: 1, Input: 14200, Cached: 9000, Output: 950, CostUSD: 0.0543},
	}
	v.Review.Report.Coverage[3].Model, v.Review.Report.Coverage[3].Shared = "claude-opus", 1
	v.Review.Report.Coverage = append(v.Review.Report.Coverage,
		pipeline.Coverage{Agent: "security-reviewer", Model: "claude-haiku", Status: pipeline.AgentOK, Shared: 1},
		pipeline.Coverage{Agent: pipeline.Matcher, Model: "claude-haiku", Status: pipeline.AgentOK},
		pipeline.Coverage{Agent: pipeline.Verifier, Model: "claude-haiku", Status: pipeline.AgentOK, Note: "confirmed 0 of 1, refuted 1"})
	return v
}

// categoriesOf returns the categories of a stage with findings by both models and by the
// second model alone.
func categoriesOf(agreed int, worst pipeline.Severity, does pipeline.ModelsAction, alone int, worstAlone pipeline.Severity, doesAlone pipeline.ModelsAction) pipeline.List[pipeline.ModelsCategory] {
	return pipeline.List[pipeline.ModelsCategory]{
		{Category: pipeline.ModelsAgreed, Count: agreed, Worst: worst, Action: does}, {Category: pipeline.ModelsAOnly},
		{Category: pipeline.ModelsBOnly, Count: alone, Worst: worstAlone, Action: doesAlone}, {Category: pipeline.ModelsContradictions},
	}
}

// heldView waits for a person, because only one model made a critical finding.
func heldView() View {
	v := modelsView()
	fs := v.Review.Report.Findings
	held := fs[1]
	held.Severity = pipeline.SeverityCritical
	held.Reasons = pipeline.List[pipeline.Reason]{{Text: "critical, by one model only"}, {Kind: pipeline.ReasonHeld}}
	setFindings(&v, pipeline.DecisionNeedsFixes, aggregate.PersonDecides, held, findingsView().Review.Report.Findings[3], fs[2])
	m := v.Review.Report.Models
	m.Confidence, m.ConfidenceLabel, m.AutoDecision = 0.7, "medium", pipeline.AutoHuman
	m.Verdicts[0].Quality, m.Verdicts[0].Verdict = pipeline.VerdictPass, pipeline.VerdictPass
	m.Merge = pipeline.ModelsMerge{BOnly: 1}
	m.Stages[1].Categories = categoriesOf(0, "", "", 1, "critical", pipeline.ModelsHolds)
	return v
}

// backView has a finding that came back after a fix, findings that are open since one push
// and since several, and a dismissed finding.
func backView() View {
	v := resolvedView()
	r := &v.Review.Report
	fs := append([]pipeline.Finding(nil), r.Findings...)
	fs[0].Reasons = pipeline.List[pipeline.Reason]{{Kind: pipeline.ReasonBack, Text: "5a5b5c5"}}
	fs[2].State = pipeline.StateOpen
	setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", fs...)
	was := append([]pipeline.Finding(nil), fs...)
	was[1].State, was[2].State = pipeline.StateOpen, pipeline.StateNew
	v.Review.Previous = &pipeline.PreviousReport{HeadSHA: prevSHA, Findings: was[1:]}
	unsure := findingsView().Review.Report.Findings[3]
	unsure.Title = "Retries have no limit"
	r.Changes.Unconfirmed = pipeline.List[pipeline.Finding]{unsure}
	dismissed := findingsView().Review.Report.Findings[5]
	dismissed.State = pipeline.StateDismissed
	r.Suppressed = pipeline.List[pipeline.Suppressed]{{Finding: dismissed, Reason: "dismissed: she asked to be named"}}
	v.Review.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: dismissed.ID, Reason: "she asked to be named", By: "mira"}}
	return v
}

// memoryView has findings that records of memory are about: one that blocks, one that what blocks
// depends on, one that is doubted, and two that are hidden.
func memoryView() View {
	v := modelsView()
	fs := v.Review.Report.Findings
	blocks, needed, doubted := fs[0], fs[1], fs[2]
	blocks.Reasons = append(slices.Clone(blocks.Reasons), pipeline.Reason{Kind: pipeline.ReasonJudgedWrong, Text: "M-12"})
	needed.Reasons = pipeline.List[pipeline.Reason]{{Kind: pipeline.ReasonJudgedWrong, Text: "M-3; it counts in full, since something that blocks depends on it"}}
	doubted.Reasons = pipeline.List[pipeline.Reason]{{Kind: pipeline.ReasonDoubted, Text: "M-4, which lowers the confidence from 0.95 to 0.65: carts are small, and prices are whole cents"}}
	doubted.Confidence = 0.65
	setFindings(&v, v.Review.Report.Decision, v.Review.Report.Gate.Condition, blocks, needed, doubted)
	hidden := findingsView().Review.Report.Findings[5]
	hidden.State, hidden.Agent, hidden.Model = pipeline.StateSuppressed, "quality", "m"
	other := hidden
	other.Title = "Names are not clear"
	v.Review.Report.Suppressed = pipeline.List[pipeline.Suppressed]{
		{Finding: hidden, Reason: pipeline.ReasonHidden + "M-5: the team agreed on it: see <b>the wiki</b>"}, {Finding: other, Reason: pipeline.ReasonHidden + "M-6"},
	}
	return v
}

// decideByHand replaces the gate's decision by a person's.
func decideByHand(v *View, a pipeline.HandAction, by, reason string) {
	r := &v.Review.Report
	r.ByHand = &pipeline.ByHand{
		Action: a, By: by, Reason: reason, At: time.Date(2026, 11, 3, 9, 41, 7, 0, time.UTC), Gate: r.Decision, GateCondition: r.Gate.Condition,
	}
	r.Decision, r.Gate.Condition = pipeline.DecisionPass, aggregate.Overridden
	if a == pipeline.HandReject {
		r.Decision, r.Gate.Condition = pipeline.DecisionFail, aggregate.Rejected
	}
}

func overriddenView() View {
	v := findingsView()
	decideByHand(&v, pipeline.HandOverride, "alice", "The warehouse is down; the fix follows in the next release, and on-call knows of it. See the incident's page for who agreed.")
	return v
}

func overriddenIncompleteView() View {
	v := incompleteView()
	decideByHand(&v, pipeline.HandOverride, "alice", "the scanner is out of order")
	return v
}

func rejectedView() View {
	v := cleanView()
	decideByHand(&v, pipeline.HandReject, "mira", "This needs the data team's word first.")
	return v
}

// acceptedView has a finding by one model that a person accepted.
func acceptedView() View {
	v := heldView()
	fs := append([]pipeline.Finding(nil), v.Review.Report.Findings...)
	fs[0].GateSeverity = fs[0].Severity
	fs[0].Reasons = pipeline.List[pipeline.Reason]{{Kind: pipeline.ReasonAccepted, Text: "mira"}}
	setFindings(&v, pipeline.DecisionFail, "critical > 0", fs...)
	return v
}

const nasty = "@octocat fixes #12, closes acme/shop#3 GH-4 and https://github.com/acme/shop/issues/5 " +
	"<img src=x onerror=alert(1)> </details><!-- reviewgate:report --> ![x](https://evil.example/p.png) " +
	"| a | b | **bold** _it_ `code @team/ops` [l](javascript:x) ``` &lt; \u202egnp.exe\u202c zero\u200bwidth \x1b[31mred \x00 ~~gone~~ $x$"

func hostileView() View {
	v := resolvedView()
	r := &v.Review
	path := "a b/`c`|d\n#@octocat/<e>[f](g)\u202e.ts"
	r.Facts.Files = append(r.Facts.Files, pipeline.File{Path: path, Status: pipeline.FileAdded, Hunks: pipeline.List[pipeline.Hunk]{
		addedLines(1, "```", "// cc @octocat \u202e evil", "</details> # 12"),
	}})
	r.Facts.Base.Ref = "main`@octocat"
	r.Report.Probation = pipeline.List[string]{nasty}
	r.Classification.Domains[0].ID = "api|@octocat"
	fs := []pipeline.Finding{
		{Title: nasty, Severity: pipeline.SeverityMajor, Path: path, StartLine: 1, EndLine: 3, Message: nasty + "\n\n# heading\n- item\n1. one\n> quote\n```\nfence",
			WhyItMatters: "1. " + nasty, Recommendation: "# " + nasty, Evidence: pipeline.List[string]{nasty, "``` ` ````"},
			SuggestedFix: "````\n// cc @octocat\n</details>", RuleID: "r`1`", Agent: "agent|@octocat", ID: "0011223344556677"},
		{Title: "# not a heading\n## nor this", Severity: pipeline.SeverityWarning, Section: nasty, Message: "- " + nasty, Agent: "<b>x</b>"},
	}
	fs[0].Reasons = append(fs[0].Reasons, pipeline.Reason{Kind: pipeline.ReasonJudgedWrong, Text: nasty + "; " + nasty})
	fs[1].Reasons = append(fs[1].Reasons, pipeline.Reason{Kind: pipeline.ReasonDoubted, Text: nasty + ", " + nasty})
	setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", fs...)
	r.Report.Changes.Resolved, r.Report.Changes.Unconfirmed = pipeline.List[pipeline.Finding]{fs[0]}, pipeline.List[pipeline.Finding]{fs[1]}
	r.Report.Suppressed = pipeline.List[pipeline.Suppressed]{{Finding: fs[1], Reason: nasty}}
	r.Report.GapLog = pipeline.List[pipeline.GapLogEntry]{{Concern: "c", Name: nasty, Path: path, Line: 1, Quote: "```", Missed: nasty,
		Suggestion: pipeline.ConfigPatch{File: "x`y", Operations: pipeline.List[pipeline.PatchOperation]{{Op: "add", Path: "```", Value: nasty}}}}}
	r.Report.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: "patch", Path: path, Why: nasty}}
	r.Facts.Config.Problems = pipeline.List[pipeline.ConfigProblem]{{Layer: "repository", File: path, Line: 1, Pointer: "/`x`", Problem: nasty, Remedy: nasty}}
	r.Report.Evaluation = &pipeline.Evaluation{Findings: fs[:2:2], More: 3, Decision: pipeline.DecisionFail, Condition: nasty, Note: nasty}
	r.Manifest.Skipped[0].Reason = nasty
	r.Classification.Domains[1].Files[0] = pipeline.DomainFile{Path: path, Mappings: pipeline.List[string]{nasty}}
	r.Classification.Unclassified = pipeline.List[string]{path}
	v.Backtest = hostileBacktest(nasty)
	r.Report.ProposedConfig = pipeline.ProposedConfig{
		Files: pipeline.List[string]{path}, Decision: pipeline.DecisionFail, Condition: nasty, FindingsNew: 1,
		Findings:    pipeline.List[pipeline.ConfigFinding]{{Severity: pipeline.SeverityMajor, Title: nasty, Path: path, Line: 3, RuleID: nasty}},
		Changes:     pipeline.List[pipeline.ConfigChange]{{File: nasty, ID: nasty, Change: nasty, Fields: pipeline.List[string]{nasty}}},
		AgentsAdded: pipeline.List[string]{nasty}, AgentsGone: pipeline.List[string]{nasty},
		Tests: &pipeline.PolicyTests{
			Cases: 2, Failed: 1, Failures: pipeline.List[pipeline.TestFailure]{{Name: nasty, Why: nasty}},
			Problems: pipeline.List[pipeline.ConfigProblem]{{File: path, Line: 1, Pointer: nasty, Problem: nasty, Remedy: nasty}},
		},
	}
	dispute := fs[1]
	dispute.Perspectives = pipeline.List[pipeline.Perspective]{
		{Agent: nasty, Model: nasty, Action: pipeline.ActionKeep, Message: nasty, Recommendation: "# " + nasty}, {Agent: nasty, Action: nasty, Message: nasty, Recommendation: nasty},
	}
	dispute.Reasons = pipeline.List[pipeline.Reason]{{Kind: pipeline.ReasonBack, Text: nasty}, {Kind: pipeline.ReasonAccepted, Text: nasty}}
	r.Report.Findings = append(r.Report.Findings, dispute)
	r.Report.Models = &pipeline.ModelsReport{
		Strategy: nasty, ConfidenceLabel: nasty, AutoDecision: nasty,
		Verdicts: pipeline.List[pipeline.ModelVerdict]{{Model: nasty, Spec: nasty, Quality: nasty, Verdict: nasty}, {Model: "|@octocat"}},
		Stages: pipeline.List[pipeline.ModelsStage]{{Stage: nasty, Categories: pipeline.List[pipeline.ModelsCategory]{
			{Category: nasty, Count: 1}, {Category: pipeline.ModelsAOnly, Count: 1, Worst: nasty, Action: nasty}, {Category: pipeline.ModelsBOnly, Count: 2},
		}}},
	}
	fs[0].FoundBy = pipeline.List[pipeline.Maker]{{Agent: nasty}, {Agent: "a", Model: nasty}}
	fs[0].Opinions = pipeline.List[pipeline.Opinion]{{Model: nasty, Verdict: nasty, Quote: nasty, Why: nasty}, {Model: "b", Verdict: pipeline.OpinionRefuted}}
	r.Report.ReviewReports = pipeline.List[pipeline.ReviewReportOutcome]{
		{Phase: nasty, Place: path, Rationale: nasty, Readiness: nasty, QualityScores: pipeline.QualityScores{Error: nasty}, ReviewPaths: pipeline.List[string]{nasty},
			Errors:          pipeline.List[pipeline.ReviewReportError]{{Source: nasty, Error: nasty, Recovery: nasty}},
			Recommendations: pipeline.List[pipeline.Recommendation]{{Priority: nasty, Category: nasty, Finding: "- " + nasty, Recommendation: nasty, Location: nasty, Reviewer: nasty, Severity: nasty}}},
		{Place: nasty, QualityScores: pipeline.QualityScores{Grade: nasty}},
	}
	r.Report.ResidualConcerns = pipeline.List[pipeline.SourcedText]{{Text: nasty, Source: nasty}}
	r.Report.DeferredQuestions = pipeline.List[pipeline.SourcedText]{{Text: nasty, Source: nasty}}
	dismissed := fs[0]
	dismissed.State = pipeline.StateDismissed
	r.Report.Suppressed = append(r.Report.Suppressed, pipeline.Suppressed{Finding: dismissed, Reason: "dismissed: " + nasty})
	hidden := fs[1]
	hidden.State = pipeline.StateSuppressed
	r.Report.Suppressed = append(r.Report.Suppressed, pipeline.Suppressed{Finding: hidden, Reason: pipeline.ReasonHidden + nasty + ": " + nasty})
	r.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: dismissed.ID, By: nasty}}
	v.Rules = map[string]RuleNote{"r`1`": {Reference: "https://github.example/" + nasty, Layer: nasty}}
	v.Notices = []string{nasty}
	return hostileSession(v)
}

// overflowView has n equal-sized findings, worst first.
func overflowView(n int) View {
	v := cleanView()
	var fs []pipeline.Finding
	sev := pipeline.Severities()
	for i := range n {
		s := sev[min(3, i*8/max(1, n))]
		fs = append(fs, pipeline.Finding{
			Title: fmt.Sprintf("Money is added in binary floating point (%d)", i), Severity: s, Path: "pricing/total.ts", StartLine: 42, EndLine: 42,
			Message:      strings.Repeat("Sums of prices drift by a cent after a few lines. ", 6),
			RuleID:       "fin-decimal-01",
			SuggestedFix: "  const total = sum(items);",
			Agent:        "finance-sme", ID: "fedcba9876543210",
		})
	}
	setFindings(&v, pipeline.DecisionFail, "critical > 0", fs...)
	return v
}

// replaceNasty replaces every hostile text of a view by s.
func replaceNasty(v *View, s string) {
	var replace func(v reflect.Value)
	replace = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			if strings.Contains(v.String(), "@octocat") || strings.Contains(v.String(), "`") {
				v.SetString(s)
			}
		case reflect.Slice:
			for i := range v.Len() {
				replace(v.Index(i))
			}
		case reflect.Struct:
			if v.Type() != reflect.TypeFor[time.Time]() {
				for i := range v.NumField() {
					replace(v.Field(i))
				}
			}
		case reflect.Pointer:
			if !v.IsNil() {
				replace(v.Elem())
			}
		case reflect.Interface:
			if _, ok := v.Interface().(string); ok {
				v.Set(reflect.ValueOf(s))
			}
		}
	}
	replace(reflect.ValueOf(v).Elem())
}
