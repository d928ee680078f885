package policytest

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// noteUnread says why the tests of a proposed config could not be run.
const noteUnread = "they could not be read"

// Proposed runs the policy tests of a proposed config. It returns nil if the config has no tests. err
// is what went wrong when their files were read.
func Proposed(ctx context.Context, proposed *run.Engine, files []config.File, err error) *pipeline.PolicyTests {
	if err != nil {
		return &pipeline.PolicyTests{Note: noteUnread}
	}
	if len(files) == 0 {
		return nil
	}
	var out pipeline.PolicyTests
	cfg := proposed.Config()
	cases, problems, err := Read(ctx, files, cfg)
	if err != nil {
		return &pipeline.PolicyTests{Note: run.NoteTestsLate}
	}
	out.Problems = problems.List[:min(len(problems.List), pipeline.MaxTestProblems)]
	out.ProblemsMore = len(problems.List) - len(out.Problems) + problems.More
	r := Run(ctx, cases, cfg, Options{Engines: run.EnginesWith(proposed)})
	out.Cases, out.Failed, out.NotRun = r.Cases, r.Failed, r.NotRun
	for i := range r.Results {
		c := &r.Results[i]
		if c.Status != Failed || len(out.Failures) == pipeline.MaxTestFailures {
			continue
		}
		why := c.Differences[0]
		if more := len(c.Differences) - 1; more > 0 {
			why += fmt.Sprintf(", and %d more", more)
		}
		out.Failures = append(out.Failures, pipeline.TestFailure{Name: c.Name, Why: why})
	}
	return &out
}
