package policies

// Trigger is the condition of a policy. Type says which of the other fields
// count:
//
//	always      nothing
//	domain      Domains, Match (any, the default, or all)
//	risk        AtLeast (low, medium, high, critical)
//	type        Types
//	path        Globs
//	label       Labels
//	author      Associations, Bot, FirstTime: each one given must hold
//	service     Services
//	size        AtLeast (XS, S, M, L, XL)
//	expression  When, a CEL expression (package expression)
//	any, all    Triggers
//	not         Triggers, exactly one
type Trigger struct {
	Type         TriggerType `json:"type"`
	Domains      []string    `json:"domains,omitempty"`
	Match        string      `json:"match,omitempty"`
	AtLeast      string      `json:"at_least,omitempty"`
	Types        []string    `json:"types,omitempty"`
	Globs        []string    `json:"globs,omitempty"`
	Labels       []string    `json:"labels,omitempty"`
	Associations []string    `json:"associations,omitempty"`
	Bot          *bool       `json:"bot,omitempty"`
	FirstTime    *bool       `json:"first_time,omitempty"`
	Services     []string    `json:"services,omitempty"`
	When         string      `json:"when,omitempty"`
	Triggers     []Trigger   `json:"triggers,omitempty"`
}

// TriggerType names a kind of trigger.
type TriggerType string

// These are the types of trigger.
const (
	TriggerAlways     TriggerType = "always"
	TriggerDomain     TriggerType = "domain"
	TriggerRisk       TriggerType = "risk"
	TriggerChange     TriggerType = "type"
	TriggerPath       TriggerType = "path"
	TriggerLabel      TriggerType = "label"
	TriggerAuthor     TriggerType = "author"
	TriggerService    TriggerType = "service"
	TriggerSize       TriggerType = "size"
	TriggerExpression TriggerType = "expression"
	TriggerAny        TriggerType = "any"
	TriggerAll        TriggerType = "all"
	TriggerNot        TriggerType = "not"
)
