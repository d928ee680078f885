package config

import (
	"encoding/json"
	"fmt"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// DecodeData reads JSON that came from outside, checks it against the schema of
// the name, and decodes it into a value of the schema's type. The problems say
// all that is wrong, as those of config files do; where there are any, nothing
// was decoded. file is what the text is called in them.
func DecodeData(schema, file string, text []byte, bounds jsontree.Options, into any) []pipeline.ConfigProblem {
	var p problems
	root, errs := bounds.Parse(&jsontree.Document{Name: file}, text)
	for _, e := range errs {
		p.list = append(p.list, ProblemOf(e))
	}
	if len(errs) == 0 {
		schemas().check(schemas().schema(schema, ""), root, &p)
	}
	if len(p.list) == 0 {
		// From the tree: it writes 1.0 as the integer that it is to a schema.
		if err := json.Unmarshal(root.AppendJSON(nil), into); err != nil {
			p.of(root, fmt.Sprintf("this is not a %s: %v", schema, err), "see its schema")
		}
	}
	return p.ordered()
}

// ProblemOf is an error of a text as a problem, for [FormatProblem].
func ProblemOf(e jsontree.Error) pipeline.ConfigProblem {
	var p problems
	p.at(e.Place, e.Problem, e.Remedy)
	return p.list[0]
}
