package config

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/expression"
)

var update = flag.Bool("update", false, "write docs/reference anew")

// TestReference checks that docs/reference says what the schemas and the shipped config say.
func TestReference(t *testing.T) {
	c := mustLoad(t)
	for name, page := range map[string]string{
		"config.md":      configPage(t),
		"expressions.md": expressionsPage(t),
		"policies.md":    policiesPage(c),
		"rules.md":       rulesPage(c),
	} {
		file := filepath.Join("..", "docs", "reference", name)
		if *update {
			if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(have, []byte(page)) {
			t.Errorf("%s differs from the schemas and the config (%v): run go test ./config -run TestReference -update", file, err)
		}
	}
}

// book writes the pages of the reference from the schemas.
type book struct {
	t *testing.T
	strings.Builder
	schemas map[string]*jsontree.Node // by file name
}

func newBook(t *testing.T) *book {
	t.Helper()
	b := &book{t: t, schemas: map[string]*jsontree.Node{}}
	for _, name := range SchemaNames() {
		text, err := SchemaText(name)
		if err != nil {
			t.Fatal(err)
		}
		root, errs := jsontree.Parse(&jsontree.Document{Name: name}, text)
		if len(errs) > 0 {
			t.Fatalf("%s: %v", name, errs)
		}
		b.schemas[name+".json"] = root
	}
	return b
}

func (b *book) line(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }

// view is a schema with the schemas that it refers to. A keyword is looked up in the order of
// nodes.
type view struct {
	file  string
	nodes []*jsontree.Node
}

func (b *book) view(file string, n *jsontree.Node) view {
	v := view{file: file, nodes: []*jsontree.Node{n}}
	for ref := n.Get("$ref"); ref != nil; {
		at, pointer, _ := strings.Cut(ref.Text, "#")
		v.file = cmp.Or(at, v.file)
		target := b.schemas[v.file]
		if pointer != "" {
			target = target.At(strings.Split(strings.TrimPrefix(pointer, "/"), "/")...)
		}
		if target == nil {
			b.t.Fatalf("%s: %s leads nowhere", file, ref.Text)
		}
		v.nodes = append(v.nodes, target)
		ref = target.Get("$ref")
	}
	return v
}

func (v view) get(keyword string) *jsontree.Node {
	for _, n := range v.nodes {
		if x := n.Get(keyword); x != nil {
			return x
		}
	}
	return nil
}

func (v view) text(keyword string) string {
	if n := v.get(keyword); n != nil {
		return n.Text
	}
	return ""
}

// form describes the allowed values in a few words.
func (b *book) form(v view) string {
	if enum := v.get("enum"); enum != nil {
		var words []string
		for _, e := range enum.Elems {
			if e.Text != "" {
				words = append(words, code(e.Text))
			}
		}
		return strings.Join(words, ", ")
	}
	kind := v.text("type")
	switch kind {
	case "array":
		if items := v.get("items"); items != nil {
			return "list of " + strings.TrimPrefix(b.form(b.view(v.file, items)), "a ")
		}
	case "integer", "number":
		least, most := v.text("minimum"), v.text("maximum")
		if least != "" && most != "" {
			return least + " to " + most
		}
		if kind == "integer" {
			return "whole number"
		}
	case "object":
		return cmp.Or(v.text("title"), "object")
	case "boolean":
		return "true or false"
	case "string":
		return cmp.Or(v.text("title"), "text")
	}
	return kind
}

func code(s string) string { return "`" + s + "`" }

// cell returns a text for a cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(s)
}

// requires returns the names that schemas require.
func requires(schemas ...*jsontree.Node) (names []string) {
	for _, n := range schemas {
		if list := n.Get("required"); list != nil {
			for _, e := range list.Elems {
				names = append(names, e.Text)
			}
		}
	}
	return names
}

// table lists the fields of an object, and returns those that are objects themselves. complete is the
// schema of a new entry, or nil.
func (b *book) table(v view, complete *jsontree.Node) (nested []jsontree.Member) {
	b.line("| field | values | default | meaning |")
	b.line("|---|---|---|---|")
	required := requires(append(slices.Clip(v.nodes), complete)...)
	for _, m := range v.get("properties").Members {
		f := b.view(v.file, m.Value)
		fallback := ""
		if slices.Contains(required, m.Key) {
			fallback = "**required**"
		} else if d := f.get("default"); d != nil {
			fallback = code(string(d.AppendJSON(nil)))
		}
		b.line("| %s | %s | %s | %s |", code(m.Key), cell(b.form(f)), fallback, cell(f.text("description")))
		if f.get("properties") != nil {
			nested = append(nested, m)
		} else if items := f.get("items"); items != nil && b.view(f.file, items).get("properties") != nil {
			nested = append(nested, jsontree.Member{Key: m.Key, Value: items})
		}
	}
	b.line("")
	return nested
}

func configPage(t *testing.T) string {
	b := newBook(t)
	b.line("# Config: every file and field\n")
	b.line("<!-- Made from config/schemas by go test ./config -run TestReference -update -->\n")
	b.line("Five files, in `%s/` on a repository's default branch, in the same directory", RepositoryDir)
	b.line("of the organisation's `.github` repository, and in the directory that the server's")
	b.line("`REVIEWGATE_CONFIG_DIR` names. Later layers win: defaults, server, organisation,")
	b.line("repository. Lists are merged by `id`; a field that is left out keeps its value.")
	b.line("Each file may also be JSONC or [YAML](../guide.md#yaml-and-comments), with the ending `.jsonc`,")
	b.line("`.yaml` or `.yml`. The [guide](../guide.md) shows how they are used.\n")
	for _, file := range FileNames() {
		root := view{file: file, nodes: []*jsontree.Node{b.schemas[file]}}
		var complete *jsontree.Node
		b.line("## %s\n", file)
		b.line("%s\n", root.text("description"))
		if items := root.get("items"); items != nil {
			b.line(`A list of entries, or an object with "$schema", "extends" and "items".`)
			b.line(`"extends": [] switches the file's defaults off.` + "\n")
			root = b.view(file, items)
			complete = b.schemas[file].At(strings.Split(entrySchemas[file], "/")[1:]...)
			b.line("A new entry needs the fields that are **required**%s.", neededToo(complete))
			b.line("An entry that overrides another needs only its `id`.\n")
		}
		b.object(root, complete, "")
	}
	return b.String()
}

// neededToo says which fields a new entry needs besides those that all need.
func neededToo(complete *jsontree.Node) string {
	if any := complete.Get("anyOf"); any != nil {
		var names []string
		for _, n := range requires(any.Elems...) {
			names = append(names, code(n))
		}
		return ", and one of " + strings.Join(names, ", ")
	}
	if complete.Get("allOf") != nil {
		return ", and those that its type requires"
	}
	return ""
}

// object writes the table of an object and of the objects in it. complete is the schema of a new
// entry, or nil.
func (b *book) object(v view, complete *jsontree.Node, path string) {
	cases := v.get("allOf")
	for _, m := range b.table(v, complete) {
		f := b.view(v.file, m.Value)
		if f.nodes[len(f.nodes)-1] == v.nodes[len(v.nodes)-1] {
			continue // a trigger within a trigger
		}
		at := strings.TrimPrefix(path+"."+m.Key, ".")
		b.line("### %s\n", code(at))
		if d := f.text("description"); d != "" {
			b.line("%s\n", d)
		}
		b.object(f, complete.Get("properties").Get(m.Key), at)
	}
	if cases != nil {
		b.cases(cases, complete.Get("allOf"))
	}
}

// cases lists the fields that each type of entry or trigger reads. complete has what a new entry of
// each type needs, or is nil.
func (b *book) cases(list, complete *jsontree.Node) {
	b.line("| type | fields it reads |")
	b.line("|---|---|")
	for i, c := range list.Elems {
		kind := c.Get("if").Get("properties").Get("type")
		then := []*jsontree.Node{c.Get("then")}
		if complete != nil {
			then = append(then, complete.Elems[i].Get("then"))
		}
		required := requires(then...)
		var names []string
		for _, m := range c.Get("then").Get("properties").Members {
			switch {
			case m.Key == "type":
			case slices.Contains(required, m.Key):
				names = append(names, code(m.Key)+" (**required**)")
			default:
				names = append(names, code(m.Key))
			}
		}
		var types []string
		if one := kind.Get("const"); one != nil {
			types = append(types, code(one.Text))
		} else {
			for _, e := range kind.Get("enum").Elems {
				types = append(types, code(e.Text))
			}
		}
		b.line("| %s | %s |", strings.Join(types, ", "), cmp.Or(strings.Join(names, ", "), "none"))
	}
	b.line("")
}

func expressionsPage(t *testing.T) string {
	b := newBook(t)
	b.line("# Conditions and expressions\n")
	b.line("<!-- Made from config/schemas and the code by go test ./config -run TestReference -update -->\n")
	b.line("## Gate conditions\n")
	b.line("`gate.conditions` in review-settings.json are read top to bottom, and the first that")
	b.line("holds decides. A condition is a [CEL](https://cel.dev) expression over the metrics of the")
	b.line("report, which are numbers:\n")
	b.line("```")
	b.line("risk_score >= 75 && new_findings > 0")
	b.line("critical > 0 || major + warning > 10")
	b.line("[critical, major, warning].exists(n, n > 3)")
	b.line("```\n")
	b.line("There are `>` `>=` `<` `<=` `==` `!=`, `&&` `||` `!`, `+` `-` `*`, `? :`, lists with `in`, and")
	b.line("the loops `exists`, `all`, `exists_one`, `filter` and `map`. All numbers are doubles:")
	b.line("`critical > 0` and `critical > 0.0` are the same. Conditions are type-checked when the config")
	b.line("is loaded, and what they may cost is bounded as for expressions. A condition that can't be")
	b.line("evaluated decides `needs_fixes`, and the report says why.\n")
	b.line("| metric | what it is |")
	b.line("|---|---|")
	for _, m := range policies.Metrics() {
		b.line("| %s | %s |", code(m.Name), cell(m.Description))
	}
	b.line("\nWhat no condition can loosen: a required agent that did not finish, a stage that failed,")
	b.line("or facts that are not whole make the decision at least `needs_fixes`. Nor is a decision")
	b.line("looser with what language models say than without: where a condition would open for")
	b.line("that, the stricter decision counts.\n")
	b.line("## Expressions\n")
	b.line("A policy's trigger of type `expression` and a rule's `when` are")
	b.line("[CEL](https://cel.dev): true or false, over two variables. Expressions are")
	b.line("type-checked when the config is loaded, and what one may cost is bounded. One that")
	b.line("can't be evaluated on a change counts as holding, and says so.\n")
	b.line("```")
	b.line(`classification.scope.changed_lines > 600 && !facts.labels.exists(l, l == "large")`)
	b.line(`facts.files.exists(f, glob(f.path, "db/migrate/**")) && classification.type != "fix"`)
	b.line("```\n")
	b.line("| function | what it gives |")
	b.line("|---|---|")
	for _, f := range expression.Functions() {
		b.line("| %s | %s |", code(f.Usage), cell(f.Description))
	}
	b.line("")
	b.variable("facts", "pr-facts.json")
	b.variable("classification", "classification.json")
	return b.String()
}

// variable lists the fields of a variable that expressions can read, with their descriptions in the
// schema.
func (b *book) variable(name, file string) {
	fields, err := expression.Reference()
	if err != nil {
		b.t.Fatal(err)
	}
	root := view{file: file, nodes: []*jsontree.Node{b.schemas[file]}}
	b.line("### %s\n", code(name))
	b.line("%s\n", root.text("description"))
	b.line("| field | type | what it is |")
	b.line("|---|---|---|")
	for _, f := range fields {
		path, ok := strings.CutPrefix(f.Name, name+".")
		if !ok {
			continue
		}
		b.line("| %s | %s | %s |", code(f.Name), f.Type, cell(b.below(root, path).text("description")))
	}
	b.line("")
}

// below follows a path such as files[].path from an object.
func (b *book) below(v view, path string) view {
	for _, step := range strings.Split(path, ".") {
		name, inList := strings.CutSuffix(step, "[]")
		v = b.view(v.file, v.get("properties").Get(name))
		if inList {
			v = b.view(v.file, v.get("items"))
		}
	}
	return v
}

func policiesPage(c *Config) string {
	var b strings.Builder
	b.WriteString("# Agents, policies, domains: the defaults\n\n<!-- Made from config/*.json by go test ./config -run TestReference -update -->\n\n")
	b.WriteString("What stands here holds for a repository that configures nothing. Each entry can be\nchanged or switched off by its id.\n\n## Agents\n\n| agent | kind | what it looks for |\n|---|---|---|\n")
	for _, a := range c.Agents {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", code(a.ID), a.Kind, cell(a.Description))
	}
	b.WriteString("\n## Policies\n\n| policy | priority | holds | dispatches | required | scope | why |\n|---|--:|---|---|---|---|---|\n")
	for _, p := range c.Policies {
		var agents []string
		for _, a := range p.Dispatch.Agents {
			agents = append(agents, code(a))
		}
		required := "no"
		if p.Dispatch.Required {
			required = "yes"
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %s |\n", code(p.ID), p.Priority, cell(triggerWords(p.Trigger)), strings.Join(agents, ", "), required, cmp.Or(p.Dispatch.Scope, ScopeAll), cell(p.Description))
	}
	b.WriteString("\n## Domains\n\n| domain | risk points | covers | what it is | globs |\n|---|--:|---|---|---|\n")
	for _, d := range c.Domains {
		var globs []string
		for _, g := range d.Globs {
			globs = append(globs, code(g))
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", code(d.Domain), d.Weight, d.Covers, cell(d.Description), cell(strings.Join(globs, " ")))
	}
	b.WriteString("\n## Risk\n\nThe score is the sum of these points and of the touched domains', at most 100: low is\nbelow 25, medium below 50, high below 75, critical from there. What an entry covers is a\ndomain of the same concern: where all its files count for the entry, the domain adds only\nwhat it weighs more, and the entry's reason says so.\n\n| entry | factor | points | covers | why |\n|---|---|--:|---|---|\n")
	for _, r := range c.Risk {
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s |\n", code(r.ID), r.Factor, r.Points, r.Covers, cell(r.Description))
	}
	b.WriteString("\n## Gap signals\n\nConcerns that are looked for in added lines of files that no mapping puts into the domain.\n\n| signal | concern | reports say | domain | asks | what it finds |\n|---|---|---|---|---|---|\n")
	for _, s := range c.Signals {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", code(s.ID), s.Concern, s.Title(), s.Domain, code(s.Agent), cell(s.Description))
	}
	return b.String()
}

// triggerWords describes when a trigger holds.
func triggerWords(t policies.Trigger) string {
	var parts []string
	for _, sub := range t.Triggers {
		parts = append(parts, triggerWords(sub))
	}
	switch t.Type {
	case policies.TriggerAlways:
		return "always"
	case policies.TriggerRisk:
		return "risk is at least " + t.AtLeast
	case policies.TriggerSize:
		return "size is at least " + t.AtLeast
	case policies.TriggerExpression:
		return code(t.When)
	case policies.TriggerAny:
		return strings.Join(parts, " or ")
	case policies.TriggerAll:
		return strings.Join(parts, " and ")
	case policies.TriggerNot:
		return "not " + strings.Join(parts, "")
	}
	of := slices.Concat(t.Domains, t.Types, t.Globs, t.Labels, t.Associations, t.Services)
	return string(t.Type) + " " + strings.Join(of, ", ")
}

func rulesPage(c *Config) string {
	var b strings.Builder
	b.WriteString("# Rules: the defaults\n\n<!-- Made from config/review-rules.json by go test ./config -run TestReference -update -->\n\n")
	checked := 0
	rules := slices.Concat(c.Rules, c.Strict)
	for _, r := range rules {
		if r.Match != nil || r.When != "" {
			checked++
		}
	}
	fmt.Fprintf(&b, "%d rules, of which %d are checked by machine. The others are the checklist of agents that\nread like people do. %d rules run only in the [profile](../guide.md#profiles) strict.\n\n", len(rules), checked, len(c.Strict))
	for _, a := range c.Agents {
		var own []Rule
		for _, r := range rules {
			if r.Agent == a.ID {
				own = append(own, r)
			}
		}
		if len(own) == 0 {
			continue
		}
		slices.SortStableFunc(own, func(x, y Rule) int { return cmp.Compare(x.Category, y.Category) })
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", a.ID, a.Description)
		for _, r := range own {
			ruleEntry(&b, r)
		}
	}
	return b.String()
}

func ruleEntry(b *strings.Builder, r Rule) {
	fmt.Fprintf(b, "### %s: %s\n\n%s · %s", code(r.ID), r.Name, severityWord(r.Severity), r.Category)
	for _, domain := range slices.Sorted(maps.Keys(r.SeverityIn)) {
		fmt.Fprintf(b, " · %s in the domain %s", severityWord(r.SeverityIn[domain]), domain)
	}
	if r.Profile == ProfileStrict {
		b.WriteString(" · only in the profile strict")
	}
	if r.IsStyle() {
		b.WriteString(" · style")
	}
	switch {
	case r.When != "" && r.Match == nil:
		b.WriteString(" · the whole change")
	case r.Match == nil:
		b.WriteString(" · not checked by machine")
	default:
		fmt.Fprintf(b, " · %s", cmp.Or(r.Match.On, OnAdded))
		if len(r.Match.Languages) > 0 {
			b.WriteString(" · " + strings.Join(r.Match.Languages, ", "))
		}
	}
	fmt.Fprintf(b, "\n\n%s\n\nLooks for: %s\n\nFix: %s\n", r.Description, sentence(r.Detection), sentence(r.Recommendation))
	if len(r.Linters) > 0 {
		var checks []string
		for _, linter := range slices.Sorted(maps.Keys(r.Linters)) {
			checks = append(checks, linter+" "+strings.Join(r.Linters[linter], ", "))
		}
		fmt.Fprintf(b, "\nLinters: %s\n", sentence(strings.Join(checks, "; ")))
	}
	if r.Reference != "" {
		fmt.Fprintf(b, "\nMore: <%s>\n", r.Reference)
	}
	b.WriteString("\n")
}

func severityWord(s pipeline.Severity) string { return "**" + string(s) + "**" }

func sentence(s string) string { return strings.TrimSuffix(s, ".") + "." }
