// Package rendertest checks what reviewgate writes for other programs as those programs do. Only
// tests import it.
package rendertest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// sarifSchema is the schema of the OASIS standard with its errata 01:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json
//
//go:embed sarif-schema-2.1.0.json
var sarifSchema []byte

var compiledSARIF = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(sarifSchema))
	if err != nil {
		return nil, fmt.Errorf("read the schema of SARIF: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	const name = "sarif-schema-2.1.0.json"
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("add the schema of SARIF: %w", err)
	}
	return c.Compile(name)
})

// sarif has the properties that GitHub reads.
type sarif struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name  string      `json:"name"`
				Rules []sarifRule `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	} `json:"runs"`
}

type sarifText struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
}

type sarifRule struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Short      sarifText `json:"shortDescription"`
	Full       sarifText `json:"fullDescription"`
	Help       sarifText `json:"help"`
	HelpURI    string    `json:"helpUri"`
	Properties struct {
		Tags      []string `json:"tags"`
		Precision string   `json:"precision"`
		Problem   string   `json:"problem.severity"`
		Security  *string  `json:"security-severity"`
	} `json:"properties"`
}

type sarifResult struct {
	RuleID    string    `json:"ruleId"`
	RuleIndex int       `json:"ruleIndex"`
	Message   sarifText `json:"message"`
	Locations []struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				StartLine   int `json:"startLine"`
				StartColumn int `json:"startColumn"`
				EndLine     int `json:"endLine"`
				EndColumn   int `json:"endColumn"`
			} `json:"region"`
		} `json:"physicalLocation"`
	} `json:"locations"`
	Suppressions []json.RawMessage `json:"suppressions"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

// GitHubAccepts returns what is wrong with a SARIF file: by the standard's schema, by the properties and
// limits that GitHub's code scanning documents, and because GitHub shows suppressed results as alerts.
func GitHubAccepts(b []byte) error {
	schema, err := compiledSARIF()
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if err := schema.Validate(doc); err != nil {
		return fmt.Errorf("against the schema: %w", err)
	}
	var log sarif
	if err := json.Unmarshal(b, &log); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if log.Version != "2.1.0" || log.Schema == "" || len(log.Runs) != 1 {
		return fmt.Errorf("version %q, schema %q, %d runs", log.Version, log.Schema, len(log.Runs))
	}
	if n := gzipped(b); n > 10<<20 {
		return fmt.Errorf("%d bytes after gzip", n)
	}
	run := log.Runs[0]
	if run.Tool.Driver.Name == "" || run.Tool.Driver.Rules == nil || run.Results == nil {
		return errors.New("no name of the tool, no rules or no results")
	}
	if r, n := len(run.Tool.Driver.Rules), len(run.Results); r > 25_000 || n > 25_000 {
		return fmt.Errorf("%d rules, %d results", r, n)
	}
	var wrong []error
	for i := range run.Tool.Driver.Rules {
		wrong = append(wrong, run.Tool.Driver.Rules[i].check())
	}
	for i := range run.Results {
		wrong = append(wrong, run.Results[i].check(run.Tool.Driver.Rules))
	}
	return errors.Join(wrong...)
}

func (r *sarifRule) check() error {
	switch {
	case r.ID == "" || r.Name == "" || r.Short.Text == "" || r.Full.Text == "" || r.Help.Text == "" || r.Help.Markdown == "":
		return fmt.Errorf("rule %+v lacks a text", r)
	case utf8.RuneCountInString(r.Name) > 255 || utf8.RuneCountInString(r.Short.Text) > 1024 || utf8.RuneCountInString(r.Full.Text) > 1024:
		return fmt.Errorf("rule %s has a text that is too long", r.ID)
	case len(r.Properties.Tags) > 10: // GitHub accepts 20 and shows 10
		return fmt.Errorf("rule %s has %d tags", r.ID, len(r.Properties.Tags))
	case r.HelpURI != "" && !strings.HasPrefix(r.HelpURI, "https://"):
		return fmt.Errorf("rule %s has the help URI %q", r.ID, r.HelpURI)
	case !oneOf(r.Properties.Precision, "very-high", "high", "medium", "low") || !oneOf(r.Properties.Problem, "error", "warning", "recommendation"):
		return fmt.Errorf("rule %s has the properties %+v", r.ID, r.Properties)
	}
	if s := r.Properties.Security; s != nil {
		score, err := strconv.ParseFloat(*s, 64)
		if err != nil || score <= 0 || score > 10 || !oneOf("security", r.Properties.Tags...) {
			return fmt.Errorf("rule %s of security has the properties %+v", r.ID, r.Properties)
		}
	}
	return nil
}

func (r *sarifResult) check(rules []sarifRule) error {
	if r.RuleIndex < 0 || r.RuleIndex >= len(rules) || rules[r.RuleIndex].ID != r.RuleID {
		return fmt.Errorf("a result of rule %q points to rule %d", r.RuleID, r.RuleIndex)
	}
	if r.Message.Text == "" || len(r.Locations) != 1 || len(r.Suppressions) > 0 {
		return fmt.Errorf("result of rule %q: message %q, %d locations, %d suppressions", r.RuleID, r.Message.Text, len(r.Locations), len(r.Suppressions))
	}
	if liveLink.MatchString(r.Message.Text) {
		return fmt.Errorf("the message %q has a link", r.Message.Text)
	}
	at := r.Locations[0].Physical
	u, err := url.Parse(at.Artifact.URI)
	if err != nil || at.Artifact.URI == "" || u.IsAbs() || strings.HasPrefix(u.Path, "/") || u.Host != "" {
		return fmt.Errorf("result of rule %q is at %q (%w)", r.RuleID, at.Artifact.URI, err)
	}
	g := at.Region
	if g.StartLine < 1 || g.StartColumn < 1 || g.EndLine < g.StartLine || g.EndColumn < 1 || g.EndLine == g.StartLine && g.EndColumn < g.StartColumn {
		return fmt.Errorf("result of rule %q has the region %+v", r.RuleID, g)
	}
	return nil
}

// liveLink matches what a message of SARIF links: [text](target).
var liveLink = regexp.MustCompile(`\]\(`)

func oneOf(s string, list ...string) bool { return slices.Contains(list, s) }

func gzipped(b []byte) int {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b) // a buffer takes everything
	_ = w.Close()
	return out.Len()
}
