package policies

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/expression"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// These limits of a trigger include all its nested triggers.
const (
	maxTriggerDepth = 8
	maxTriggers     = 64
)

// Problem is one fault in a document and its remedy. Pointer is an RFC 6901 pointer from the
// document's root.
type Problem struct {
	Pointer string
	Problem string
	Remedy  string
}

func (p Problem) Error() string {
	at := p.Pointer
	if at == "" {
		at = "/"
	}
	return at + ": " + p.Problem + ": " + p.Remedy
}

// ValidateTrigger lists the problems of a trigger, in document order. The caller must check that
// the domains and services exist.
func ValidateTrigger(t Trigger) []Problem {
	v := &validator{}
	v.trigger("", t, 1)
	return v.problems
}

type validator struct {
	problems []Problem
	count    int
}

func (v *validator) add(pointer, problem, remedy string) {
	v.problems = append(v.problems, Problem{pointer, problem, remedy})
}

func (v *validator) trigger(at string, t Trigger, depth int) {
	if v.count++; v.count > maxTriggers || depth > maxTriggerDepth {
		if v.count == maxTriggers+1 || depth > maxTriggerDepth {
			v.add(at, fmt.Sprintf("trigger is nested more than %d deep or has more than %d parts", maxTriggerDepth, maxTriggers), "split the policy into several")
		}
		return
	}
	v.stray(at, t)
	switch t.Type {
	case TriggerAlways:
	case TriggerDomain:
		v.some(at+"/domains", t.Domains, "a domain")
		v.oneOf(at+"/match", t.Match, "", "any", "all")
	case TriggerRisk:
		v.oneOf(at+"/at_least", t.AtLeast, "low", "medium", "high", "critical")
	case TriggerSize:
		v.oneOf(at+"/at_least", t.AtLeast, "XS", "S", "M", "L", "XL")
	case TriggerChange:
		v.some(at+"/types", t.Types, "a type of change")
	case TriggerPath:
		v.globs(at+"/globs", t.Globs)
	case TriggerLabel:
		v.some(at+"/labels", t.Labels, "a label")
	case TriggerService:
		v.some(at+"/services", t.Services, "a service")
	case TriggerAuthor:
		v.author(at, t)
	case TriggerExpression:
		v.expression(at+"/when", t.When)
	case TriggerAny, TriggerAll:
		if len(t.Triggers) == 0 {
			v.add(at+"/triggers", "trigger has no parts", "list at least one trigger")
		}
	case TriggerNot:
		if len(t.Triggers) != 1 {
			v.add(at+"/triggers", fmt.Sprintf("not has %d triggers", len(t.Triggers)), `give it exactly one; put several into an "any"`)
		}
	default:
		v.add(at+"/type", fmt.Sprintf("trigger type %q does not exist", t.Type), "use one of "+strings.Join(triggerTypes(), ", "))
	}
	for i, sub := range t.Triggers {
		v.trigger(at+"/triggers/"+strconv.Itoa(i), sub, depth+1)
	}
}

func triggerTypes() []string {
	var names []string
	for _, t := range []TriggerType{TriggerAlways, TriggerDomain, TriggerRisk, TriggerChange, TriggerPath, TriggerLabel,
		TriggerAuthor, TriggerService, TriggerSize, TriggerExpression, TriggerAny, TriggerAll, TriggerNot} {
		names = append(names, string(t))
	}
	return names
}

// stray reports fields that the trigger's type does not read. Most often the type is wrong.
func (v *validator) stray(at string, t Trigger) {
	fields := []struct {
		name  string
		set   bool
		types []TriggerType
	}{
		{"domains", t.Domains != nil, []TriggerType{TriggerDomain}},
		{"match", t.Match != "", []TriggerType{TriggerDomain}},
		{"at_least", t.AtLeast != "", []TriggerType{TriggerRisk, TriggerSize}},
		{"types", t.Types != nil, []TriggerType{TriggerChange}},
		{"globs", t.Globs != nil, []TriggerType{TriggerPath}},
		{"labels", t.Labels != nil, []TriggerType{TriggerLabel}},
		{"associations", t.Associations != nil, []TriggerType{TriggerAuthor}},
		{"bot", t.Bot != nil, []TriggerType{TriggerAuthor}},
		{"first_time", t.FirstTime != nil, []TriggerType{TriggerAuthor}},
		{"services", t.Services != nil, []TriggerType{TriggerService}},
		{"when", t.When != "", []TriggerType{TriggerExpression}},
		{"triggers", t.Triggers != nil, []TriggerType{TriggerAny, TriggerAll, TriggerNot}},
	}
	for _, f := range fields {
		if f.set && !containsType(f.types, t.Type) {
			v.add(at+"/"+f.name, fmt.Sprintf("a trigger of type %q does not read %s", t.Type, f.name), fmt.Sprintf("remove it, or use the type %q", f.types[0]))
		}
	}
}

func containsType(list []TriggerType, t TriggerType) bool {
	return slices.Contains(list, t)
}

func (v *validator) some(at string, list []string, what string) {
	if len(list) == 0 {
		v.add(at, "trigger names none", "name at least "+what)
	}
	for i, s := range list {
		if strings.TrimSpace(s) == "" {
			v.add(at+"/"+strconv.Itoa(i), "name is empty", "name "+what)
		}
	}
}

func (v *validator) oneOf(at, value string, allowed ...string) {
	var shown []string
	for _, a := range allowed {
		if value == a {
			return
		}
		if a != "" {
			shown = append(shown, a)
		}
	}
	v.add(at, fmt.Sprintf("%q is not allowed", value), "use one of "+strings.Join(shown, ", "))
}

func (v *validator) globs(at string, globs []string) {
	v.some(at, globs, "a glob such as src/**")
	for i, g := range globs {
		if g == "" {
			continue // some has reported this
		}
		if err := glob.Validate(g); err != nil {
			problem, remedy, _ := strings.Cut(err.Error(), ": ")
			v.add(at+"/"+strconv.Itoa(i), problem, remedy)
		}
	}
}

func (v *validator) expression(at, when string) {
	_, err := expression.Compile(when)
	var e *expression.Error
	switch {
	case errors.As(err, &e):
		v.add(at, e.Placed(), e.Remedy)
	case err != nil:
		v.add(at, "the expression can't be used: "+err.Error(), "write it in another way")
	}
}

func (v *validator) author(at string, t Trigger) {
	if len(t.Associations) == 0 && t.Bot == nil && t.FirstTime == nil {
		v.add(at, "author trigger asks nothing", "give associations, bot or first_time")
	}
	for i, a := range t.Associations {
		v.oneOf(at+"/associations/"+strconv.Itoa(i), a, associations()...)
	}
}

// associations lists GitHub's values of author_association.
func associations() []string {
	return []string{"OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "MANNEQUIN", "NONE"}
}

// FirstTime reports whether an association belongs to somebody whose work was never merged before.
func FirstTime(a pipeline.Author) bool {
	return a.Association == "FIRST_TIMER" || a.Association == "FIRST_TIME_CONTRIBUTOR"
}
