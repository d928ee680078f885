package config

import (
	"encoding/json"
	"fmt"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// DecodeData reads JSON from outside, checks it against the named schema, and decodes it into a
// value of the schema's type. It returns all problems, in the form of config problems. If there are
// any, it decodes nothing. The problems call the text by the name in file.
func DecodeData(schema, file string, text []byte, bounds jsontree.Options, into any) []pipeline.ConfigProblem {
	var p problems
	root, errs := bounds.Parse(&jsontree.Document{Name: file}, text)
	for _, e := range errs {
		p.list = append(p.list, ProblemOf(e))
	}
	if len(errs) == 0 {
		s := allSchemas()
		s.check(s.schema(schema, ""), root, &p)
	}
	if len(p.list) == 0 {
		// The tree writes 1.0 as an integer, because to a schema it is one.
		if err := json.Unmarshal(root.AppendJSON(nil), into); err != nil {
			p.of(root, fmt.Sprintf("this is not a %s: %v", schema, err), "see its schema")
		}
	}
	return p.ordered()
}

// ProblemOf turns an error in a text into a problem, for [FormatProblem].
func ProblemOf(e jsontree.Error) pipeline.ConfigProblem {
	var p problems
	p.at(e.Place, e.Problem, e.Remedy)
	return p.list[0]
}
