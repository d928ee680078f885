// Package config reads reviewgate's five files, in JSON, JSONC or YAML, and the prompts beside them, merges them layer
// by layer, and returns one validated [Config].
//
//	embedded defaults < server < organisation < repository
//
// Layers are merged as JSON, entry by entry. Lists are merged by id: a later layer may override
// single fields of an entry or switch the entry off. Settings are merged field by field. The merged
// JSON is decoded last, so that a field that was left out differs from a field that was set to its
// zero value. Within a layer, the order of files has no effect, and the order of entries only
// decides where new entries stand in the config. Every merged value knows the file, line and layer
// that it came from, and problems name them.
//
// An entry of the server's or the organisation's layer can be final. Later layers can repeat a
// final entry and make it stricter, and nothing else. They can raise a rule's severity, a policy's
// priority, a domain's weight or a factor's points. They can add agents and globs, also globs of
// review reports. They can turn on required and the reading of comments, set on_failure to block
// and scope to all, take in more findings of other Apps and wait for more of them, and give a
// model's checklist more rules.
//
// What a final entry depends on is held with it: the agents of final rules, policies and signals,
// the policies that dispatch a final rule's agent, and the domains and services that the triggers
// of these policies and of final ones read. Switching off all the defaults leaves them in place. A
// held agent gets no prompt and no rule from a layer above the one that holds it, and no policy of
// such a layer names other models for it. Settings are held if the settings' own "final" names
// them. If the models' reviewers are held, no agent and no policy of a layer above names others.
//
// A [Floor] makes sure that a final entry acts on every change. A floor is the config of the layers
// up to the one that made the entry final. The pipeline chooses agents, classifies the change and
// evaluates the gate's conditions with that config too, and the stricter answer counts. The mode is
// no milder than the floor's. Only the people whom that layer names under final_authority can take
// the finding of a final rule out of the gate.
//
// The program may lay one more layer between the defaults and the server's, which puts rules that
// people judge wrong too often in evaluation: see [Config.ProbationLayer].
//
// An organisation's layer can only make reviews stricter unless the server lets that organisation
// weaken them: see [Config.Weakened].
//
// A layer with a problem is left out as a whole, and the other layers are used. [Load] always
// returns a valid Config, with a list of the problems. Some mistakes in the JSON leave no doubt
// about what was meant, such as a comma after the last entry. They are problems too, but reading
// goes on, so that the list names the other problems as well. A caller that keeps the last good
// version of a layer passes it in place of the broken one.
//
// Config comes from repositories that may be hostile. It is decoded strictly. Sizes, nesting,
// numbers of entries and the cost of patterns and expressions are limited, and each limit is
// checked before the work that it bounds. A file has at most 4 MiB and 200,000 values, nested 32
// deep. A layer has at most [MaxPrompts] prompts of [MaxPromptBytes] each. Patterns are compiled up
// to a total of a million instructions, and expressions if all layers together have at most 500.
// All other work grows only with the size of the files, or stops at the hundredth problem.
//
// The JSON Schemas in schemas/ describe the five files and the data that flows through the
// pipeline. [ValidateData] checks JSON against them.
package config
