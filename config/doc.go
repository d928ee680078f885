// Package config reads reviewgate's five JSON files and the prompts beside them,
// layer over layer, and hands out one validated [Config].
//
//	embedded defaults < server < organisation < repository
//
// Layers are merged as JSON, entry by entry: lists by id, where a later layer
// may override single fields of an entry or switch it off, and settings field
// by field. Only then are they decoded, so that a field that was left out can
// be told from one that was set to its zero value. Within a layer the order of
// files means nothing, and that of entries only where new ones stand in the
// config. Every merged value still knows the file, line and layer it came from,
// which is what a problem is reported with.
//
// An entry of the server's or the organisation's layer can be final: later
// layers can repeat it and make it stricter (raise a rule's severity, a
// policy's priority, a domain's weight or a factor's points; add agents and
// globs, those of review reports among them; turn required and the reading of
// comments on, on_failure to block, scope to all; take in more of what other
// Apps found and wait for more of them; give a model's checklist more rules), and
// nothing else. What such an entry
// depends on is held with it: the agents of final rules, policies and signals, the policies that dispatch a final rule's agent,
// and the domains and services that the triggers of these policies and of final
// ones read. Switching the defaults off whole leaves all of them in place. An
// agent that is held is told nothing that a layer above the one that holds it
// wrote, neither a prompt nor a rule, and no policy of such a layer names other
// models for it.
// Settings are held by naming them in the settings' own "final". Where the reviewers
// of models are, no agent and no policy of a layer above names others.
//
// How a final entry acts on a change is held by a [Floor]: the config of the layers up
// to the one that made it final. For the sake of what is final, the pipeline chooses
// agents, classifies the change and asks the gate's conditions once more by that config,
// and the stricter answer counts; the mode is no milder than the floor's. Only those
// whom that layer names under final_authority can take the finding of a final rule out
// of the gate.
//
// An organisation's layer can only make reviews stricter unless the server lets that
// organisation weaken them: see [Config.Weakened].
//
// A layer with a problem is left out whole and the others are used: [Load]
// always returns a valid Config, and lists what was wrong beside it. A mistake
// in the JSON of which there is no doubt what was meant, such as a comma after
// the last entry, is a problem like any other: what else is wrong is told with
// it. A caller that keeps the last good version of a layer passes it in the
// broken one's stead.
//
// Config comes from repositories that nobody vouches for. It is decoded
// strictly, and sizes, nesting, numbers of entries and the cost of patterns and
// expressions are bounded, each before the work that it bounds: a file has at
// most 4 MiB and 200,000 values, 32 deep; a layer has at most [MaxPrompts] prompts
// of [MaxPromptBytes] each; patterns are compiled until they come
// to a million instructions together, and expressions if all layers have no
// more than 500. What is done beside grows with the size of the files alone, or
// stops at the hundredth problem.
//
// The JSON Schemas in schemas/ describe the five files and the data that flows
// through the pipeline; [ValidateData] checks JSON against them.
package config
