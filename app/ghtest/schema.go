package ghtest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// schema is the part of JSON Schema that GitHub's request bodies need. Unlike the published
// description it forbids other keys, as GitHub's own checks do, because a key without effect
// is a client's mistake.
type schema struct {
	kind     string // object, array, string, integer, date-time, any
	must     bool   // must be present in its object
	enum     []string
	maxChars int
	maxItems int
	items    *schema
	fields   map[string]*schema
	open     bool // any keys, each like items
}

func text() *schema                   { return &schema{kind: "string"} }
func integer() *schema                { return &schema{kind: "integer"} }
func date() *schema                   { return &schema{kind: "date-time"} }
func word(of ...string) *schema       { return &schema{kind: "string", enum: of} }
func atMost(chars int) *schema        { return &schema{kind: "string", maxChars: chars} }
func list(of *schema) *schema         { return &schema{kind: "array", items: of} }
func (sc *schema) req() *schema       { sc.must = true; return sc }
func (sc *schema) most(n int) *schema { sc.maxItems = n; return sc }

func fields(of map[string]*schema) *schema { return &schema{kind: "object", fields: of} }

// The bodies that GitHub accepts, from its OpenAPI description 23.0.2.
var (
	annotationSchema = fields(map[string]*schema{
		"path": text().req(), "start_line": integer().req(), "end_line": integer().req(), "start_column": integer(), "end_column": integer(),
		"annotation_level": word("notice", "warning", "failure").req(), "message": text().req(), "title": atMost(255), "raw_details": text(),
	})
	imageSchema  = fields(map[string]*schema{"alt": text().req(), "image_url": text().req(), "caption": text()})
	actionSchema = fields(map[string]*schema{"label": atMost(20).req(), "description": atMost(40).req(), "identifier": atMost(20).req()})

	createCheckSchema = checkSchema(true)
	updateCheckSchema = checkSchema(false)

	commentSchema  = fields(map[string]*schema{"body": text().req()})
	reactionSchema = fields(map[string]*schema{"content": word(reactionWords...).req()})

	tokenSchema = fields(map[string]*schema{
		"repositories": list(text()), "repository_ids": list(integer()), "permissions": {kind: "object", open: true, items: text()},
	})
)

// checkSchema describes a check run. One to create must have a name, a head and, in its
// output, a title. One to update need not.
func checkSchema(create bool) *schema {
	output := map[string]*schema{
		"title": text(), "summary": text().req(), "text": text(),
		"annotations": list(annotationSchema).most(50), "images": list(imageSchema),
	}
	o := map[string]*schema{
		"name": text(), "details_url": text(), "external_id": text(), "started_at": date(), "completed_at": date(),
		"status":     word("queued", "in_progress", "completed"),
		"conclusion": word("action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"),
		"output":     fields(output), "actions": list(actionSchema).most(3),
	}
	if create {
		o["head_sha"] = text().req()
		o["name"].req()
		output["title"].req()
	}
	return fields(o)
}

func (sc *schema) required() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(sc.fields)) {
		if sc.fields[name].must {
			names = append(names, name)
		}
	}
	return names
}

// check returns the fault of a value in GitHub's words, or "". at is the place of the value,
// such as "properties/output".
func (sc *schema) check(at string, value any) string {
	in := ""
	if at != "" {
		in = "For '" + at + "', "
	}
	switch v := value.(type) {
	case map[string]any:
		if sc.kind == "object" {
			return sc.checkObject(at, in, v)
		}
	case []any:
		if sc.kind == "array" {
			return sc.checkArray(at, in, v)
		}
	case string:
		if sc.kind == "string" || sc.kind == "date-time" {
			return sc.checkText(in, v)
		}
	case float64:
		if sc.kind == "integer" && v == math.Trunc(v) {
			return ""
		}
	}
	kind := sc.kind
	if kind == "any" {
		return ""
	}
	if kind == "date-time" {
		kind = "string"
	}
	return fmt.Sprintf("%s%s is not a%s.", in, show(value), map[bool]string{true: "n " + kind, false: " " + kind}[strings.ContainsAny(kind[:1], "aio")])
}

func show(value any) string {
	if value == nil {
		return "nil"
	}
	return fmt.Sprintf("%.60v", value)
}

func (sc *schema) checkObject(at, in string, v map[string]any) string {
	for _, name := range sc.required() {
		if _, ok := v[name]; !ok {
			return fmt.Sprintf("%s%q wasn't supplied.", in, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		field := sc.fields[name]
		if sc.open {
			field = sc.items
		}
		if field == nil {
			return fmt.Sprintf("%s%q is not a permitted key.", in, name)
		}
		if problem := field.check(strings.TrimPrefix(at+"/properties/"+name, "/"), v[name]); problem != "" {
			return problem
		}
	}
	return ""
}

func (sc *schema) checkArray(at, in string, v []any) string {
	if over(len(v), sc.maxItems) {
		return fmt.Sprintf("%sno more than %d items are allowed; %d were supplied.", in, sc.maxItems, len(v))
	}
	for i, item := range v {
		if problem := sc.items.check(fmt.Sprintf("%s/%d", at, i), item); problem != "" {
			return problem
		}
	}
	return ""
}

func (sc *schema) checkText(in, v string) string {
	if sc.enum != nil && !slices.Contains(sc.enum, v) {
		return fmt.Sprintf("%s%.60q is not a member of %q.", in, v, sc.enum)
	}
	if n := utf8.RuneCountInString(v); over(n, sc.maxChars) {
		return fmt.Sprintf("%sonly %d characters are allowed; %d were supplied.", in, sc.maxChars, n)
	}
	if sc.kind == "date-time" {
		if _, err := time.Parse(time.RFC3339, v); err != nil {
			return fmt.Sprintf("%s%.60q is not a valid date-time.", in, v)
		}
	}
	return ""
}
