package histories

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/localgit"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/app/render/rendertest"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// The programs that read the formats accept what the pipeline makes of real defects.
func TestFormatsOfRealReviews(t *testing.T) {
	const least = 24
	defects := readDefects(t)
	var some []defect
	for i := range least {
		some = append(some, defects[i*len(defects)/least])
	}
	r, repo := newRunner(t), newRepository(t)
	shas := repo.imports(seeds(some, repo.git("rev-parse", "HEAD")))
	results := 0
	for i, d := range some {
		src, err := localgit.Open(t.Context(), localgit.Options{Dir: repo.dir, Base: shas[3*i], Head: shas[3*i+2]})
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.Run(t.Context(), src, run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		results += len(out.Review.Report.Findings)
		v := render.View{Review: out.Review, Record: out.Record, Mode: config.ModeEnforce, Rules: render.RuleNotes(&out.Review.Report, out.Config)}
		for name, f := range map[string]struct {
			write   func(render.View) ([]byte, error)
			accepts func([]byte) error
		}{
			"SARIF":      {render.SARIF, rendertest.GitHubAccepts},
			"GitLab":     {render.GitLab, rendertest.GitLabAccepts},
			"rdjson":     {render.RDJSON, rendertest.ReviewdogAccepts},
			"Checkstyle": {render.Checkstyle, rendertest.CheckstyleAccepts},
			"JUnit":      {render.JUnit, rendertest.JUnitAccepts},
		} {
			b, err := f.write(v)
			if err == nil {
				err = f.accepts(b)
			}
			if err != nil {
				t.Errorf("%s of %s: %v\n%s", name, d.ID, err, b)
			}
		}
		if _, _, err := rendertest.ReadLog(render.Workflow(v)); err != nil {
			t.Errorf("log of %s: %v", d.ID, err)
		}
	}
	if results < least/2 {
		t.Errorf("only %d findings", results)
	}
}
