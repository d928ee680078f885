package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// probations stores the rules and agents on probation.
type probations struct{ *core }

func scanProbation(row scanner) (p ports.Probation, err error) {
	var since int64
	var samples []byte
	if err := row.Scan(&p.Kind, &p.ID, &p.Judged, &p.People, &p.Precision, &p.High, &p.Blocks, &since, &samples); err != nil {
		return p, err
	}
	p.Since = fromMicros(since)
	if err := json.Unmarshal(samples, &p.Samples); err != nil {
		return p, fmt.Errorf("decode the samples of %s: %w", p.ID, err)
	}
	return p, nil
}

func listProbations(ctx context.Context, t tx, repoID int64) ([]ports.Probation, error) {
	return list(ctx, t, scanProbation, `SELECT kind, id, judged, people, share, share_high, blocks = 1, since, samples
		FROM probations WHERE repo_id = ? ORDER BY kind, id`, repoID)
}

// OnProbation implements ports.Store.
func (s probations) OnProbation(ctx context.Context, repoID int64) (all []ports.Probation, err error) {
	err = s.db.read(ctx, func(t tx) error {
		all, err = listProbations(ctx, t, repoID)
		return err
	})
	return all, wrap(err, "list the rules on probation in repository %d", repoID)
}

// SetProbations implements ports.Store.
func (s probations) SetProbations(ctx context.Context, repo ports.Target, all []ports.Probation, tell bool) error {
	err := s.db.write(ctx, func(t tx) error {
		before, err := listProbations(ctx, t, repo.RepoID)
		if err != nil {
			return err
		}
		if _, err := t.exec(ctx, `DELETE FROM probations WHERE repo_id = ?`, repo.RepoID); err != nil {
			return err
		}
		for _, p := range all[:min(len(all), ports.MaxProbations)] {
			since := s.now()
			if i := slices.IndexFunc(before, func(b ports.Probation) bool { return b.Kind == p.Kind && b.ID == p.ID }); i >= 0 {
				since = micros(before[i].Since)
			}
			samples, err := json.Marshal(p.Samples[:min(len(p.Samples), ports.MaxProbationSamples)])
			if err != nil {
				return err
			}
			_, err = t.exec(ctx, `INSERT INTO probations (repo_id, kind, id, judged, people, share, share_high, blocks, since, samples)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				repo.RepoID, string(p.Kind), p.ID, p.Judged, p.People, p.Precision, p.High, number(p.Blocks), since, string(samples))
			if err != nil {
				return err
			}
		}
		if !tell {
			return nil
		}
		repo.Number, repo.HeadSHA, repo.HeadRef = 0, "", ""
		// A job that runs now may have read the rows already, so this one is a job of its own.
		job := ports.IssuesJob{Ask: ports.IssuesAsk{Target: repo}, Delivery: fmt.Sprintf("probation %d", s.now())}
		_, err = t.insertJob(ctx, ports.NewJob(ports.JobIssues, job))
		return err
	})
	return wrap(err, "store the rules on probation in repository %d", repo.RepoID)
}

// LoggedRepositories implements ports.Store.
func (s probations) LoggedRepositories(ctx context.Context, since time.Time) ([]ports.Target, error) {
	which := `SELECT repo_id FROM learning WHERE at >= ?`
	if since.IsZero() {
		which += ` UNION SELECT repo_id FROM probations`
	}
	all, err := s.repositories(ctx, which, micros(since))
	return all, wrap(err, "list the repositories with a log")
}

// Probations lists, by repository, the rules and agents on probation in the repositories whose full names
// concerns accepts. Without concerns it lists everything.
func (r *Reader) Probations(ctx context.Context, concerns func(repository string) bool) (all []ports.RepositoryProbation, err error) {
	repos, err := r.probations.repositories(ctx, `SELECT repo_id FROM probations`)
	if err != nil {
		return nil, wrap(err, "list the repositories with something on probation")
	}
	for _, t := range repos {
		name := t.Owner + "/" + t.Name
		if concerns != nil && !concerns(name) {
			continue
		}
		rows, err := r.probations.OnProbation(ctx, t.RepoID)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			all = append(all, ports.RepositoryProbation{Repository: name, Probation: rows[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b ports.RepositoryProbation) int { return cmp.Compare(a.Repository, b.Repository) })
	return all, nil
}
