package app

import (
	"context"
	"iter"

	"github.com/reviewgate/reviewgate/app/analytics"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// ReadLogs calls f with the chosen logs of the database at a URL, which can be read several times, with
// what is on probation in the chosen repositories, and with what describes findings. It changes nothing;
// a server may be using the database.
func ReadLogs(ctx context.Context, databaseURL string, which ports.LogFilter,
	f func(iter.Seq2[[]learning.Entry, error], []ports.RepositoryProbation, analytics.Describe) error) error {
	reader, err := store.OpenReader(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer reader.Close() //nolint:errcheck // it wrote nothing
	found, err := reader.Probations(ctx, which.Concerns)
	if err != nil {
		return err
	}
	d := described{from: reader}
	return f(reader.Logs(ctx, which), found, d.describe)
}

// described knows what the findings of one review said.
type described struct {
	from   ports.Archive
	run    string
	titles map[string]string // by fingerprint
}

// describe returns the title of a finding if its review is still kept as it was saved.
func (d *described) describe(ctx context.Context, run, finding string) (string, bool) {
	if d.run != run {
		d.run, d.titles = run, map[string]string{}
		for r, err := range d.from.Archived(ctx, ports.ReviewFilter{RunID: run}) {
			if err != nil {
				break // then nothing is known of it
			}
			note := func(f *pipeline.Finding) {
				for _, id := range append([]string{f.ID}, f.Fingerprints...) {
					d.titles[id] = f.Title
				}
			}
			for i := range r.Review.Report.Findings {
				note(&r.Review.Report.Findings[i])
			}
			for i := range r.Review.Report.Suppressed {
				note(&r.Review.Report.Suppressed[i].Finding)
			}
		}
	}
	title, known := d.titles[finding]
	return title, known
}
