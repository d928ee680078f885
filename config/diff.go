package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Diff lists the entries of one config that another config changes, by file and then by id. An
// entry that is switched off counts as missing, and so does an entry whose agent is off. Settings
// are named by their path, such as gate.conditions. Prompts come last, by name.
func Diff(from, to *Config) []pipeline.ConfigChange {
	var changes []pipeline.ConfigChange
	before, after := from.inForce(), to.inForce()
	for _, file := range listFiles() {
		ids := slices.AppendSeq(slices.Collect(maps.Keys(before[file])), maps.Keys(after[file]))
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			if c := changeOf(before[file][id], after[file][id]); c.Change != "" {
				c.File, c.ID = file, id
				changes = append(changes, c)
			}
		}
	}
	settings := differences(&from.Settings, &to.Settings)
	slices.SortFunc(settings, func(a, b difference) int { return strings.Compare(a.field, b.field) })
	for _, d := range settings {
		changes = append(changes, pipeline.ConfigChange{File: FileSettings, ID: d.field, Change: pipeline.ChangeChanged})
	}
	return append(changes, promptsThatDiffer(from.prompts, to.prompts)...)
}

// promptsThatDiffer lists the prompts that the two configs have in different versions, by name.
func promptsThatDiffer(before, after map[string][]Prompt) (changes []pipeline.ConfigChange) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		change := pipeline.ChangeChanged
		b, was := upTo(before[name], "")
		a, is := upTo(after[name], "")
		switch {
		case !was:
			change = pipeline.ChangeAdded
		case !is:
			change = pipeline.ChangeRemoved
		case a.Text == b.Text:
			continue
		}
		changes = append(changes, pipeline.ConfigChange{File: promptPath(name), ID: name, Change: change})
	}
	return changes
}

// changeOf compares two versions of one entry, either of which may be missing.
func changeOf(before, after any) pipeline.ConfigChange {
	switch {
	case before == nil:
		return pipeline.ConfigChange{Change: pipeline.ChangeAdded}
	case after == nil:
		return pipeline.ConfigChange{Change: pipeline.ChangeRemoved}
	case reflect.TypeOf(before) != reflect.TypeOf(after):
		return pipeline.ConfigChange{Change: pipeline.ChangeChanged, Fields: pipeline.List[string]{"type"}}
	}
	var fields pipeline.List[string]
	for _, d := range differences(before, after) {
		fields = append(fields, d.field)
	}
	if len(fields) == 0 {
		return pipeline.ConfigChange{}
	}
	return pipeline.ConfigChange{Change: pipeline.ChangeChanged, Fields: fields}
}

// inForce returns pointers to the entries in force or in evaluation, by file and id.
func (c *Config) inForce() map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, file := range listFiles() {
		out[file] = map[string]any{}
	}
	for i, r := range c.Rules {
		out[FileRules][r.ID] = &c.Rules[i]
	}
	for i, p := range c.Policies {
		out[FileComposition][p.ID] = &c.Policies[i]
	}
	for i, a := range c.Agents {
		if a.Enabled {
			out[FileAgents][a.ID] = &c.Agents[i]
		}
	}
	for i, d := range c.Domains {
		out[FileDomains][d.ID] = &c.Domains[i]
	}
	for i, s := range c.Services {
		out[FileDomains][s.ID] = &c.Services[i]
	}
	for i, r := range c.Risk {
		out[FileDomains][r.ID] = &c.Risk[i]
	}
	for i, s := range c.Signals {
		out[FileDomains][s.ID] = &c.Signals[i]
	}
	if c.Evaluation != nil {
		for file, entries := range c.Evaluation.inForce() {
			maps.Copy(entries, out[file])
			out[file] = entries
		}
	}
	return out
}
