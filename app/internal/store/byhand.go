package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// apply stores what a command changes. A verdict that was written later replaces an earlier one on the
// same finding, whichever arrives first. The same holds for decisions by hand on a head and its base.
func (s commands) apply(ctx context.Context, t tx, c ports.Command, e ports.Effect) error {
	g, key, said := c.Target, c.Target.Key(), micros(c.SaidAt())
	for _, d := range e.Dismiss {
		if err := saveVerdict(ctx, t, key, verdict{d, false, e.BaseRef, said}); err != nil {
			return err
		}
	}
	for _, a := range e.Accept {
		if err := saveVerdict(ctx, t, key, verdict{pipeline.Dismissal{Fingerprint: a.Fingerprint, By: a.By, Reason: a.Ignore, Surroundings: a.Surroundings}, true, e.BaseRef, said}); err != nil {
			return err
		}
	}
	for _, fingerprint := range e.Restore {
		if _, err := t.exec(ctx, `DELETE FROM verdicts WHERE target_key = ? AND fingerprint = ? AND said_at <= ?`, key, fingerprint, said); err != nil {
			return fmt.Errorf("restore a finding: %w", err)
		}
	}
	if e.ByHand != nil {
		if err := saveByHand(ctx, t, key, e); err != nil {
			return err
		}
	}
	if e.Resume {
		if err := must(t.exec(ctx, `UPDATE targets SET fix_resumes = fix_resumes + 1 WHERE key = ?`, key)); err != nil {
			return fmt.Errorf("resume the fix loop: %w", err)
		}
	}
	if err := s.applySession(ctx, t, key, e); err != nil {
		return err
	}
	if e.Notice != "" {
		if err := s.addNotice(ctx, t, key, e.Notice); err != nil {
			return err
		}
	}
	if err := s.applyMemory(ctx, t, key, e.Memory); err != nil {
		return err
	}
	if err := learn(ctx, t, g, e.Entry); err != nil {
		return err
	}
	if e.Audit != nil {
		return s.saveAudit(ctx, t, g.RepoID, key, *e.Audit)
	}
	return nil
}

// verdict is what a person said of a finding at a time: a dismissal, or an acceptance in its form.
type verdict struct {
	pipeline.Dismissal
	accepted bool
	base     string
	said     int64
}

func saveVerdict(ctx context.Context, t tx, key string, d verdict) error {
	if d.Fingerprint == "" {
		return errors.New("store a decision about a finding: the finding has no fingerprint")
	}
	_, err := t.exec(ctx, `
		INSERT INTO verdicts (target_key, fingerprint, accepted, path, reason, override, person, final_in, final_base, surroundings, class, said_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (target_key, fingerprint) DO UPDATE SET accepted = excluded.accepted, path = excluded.path,
			reason = excluded.reason, override = excluded.override, person = excluded.person,
			final_in = excluded.final_in, final_base = excluded.final_base, surroundings = excluded.surroundings, class = excluded.class, said_at = excluded.said_at
		WHERE verdicts.said_at <= excluded.said_at`,
		key, d.Fingerprint, number(d.accepted), d.Path, d.Reason, number(d.Override), d.By, strings.Join(d.FinalIn, " "), d.base, d.Surroundings, d.Class, d.said)
	return wrap(err, "store a decision about a finding")
}

func saveByHand(ctx context.Context, t tx, key string, e ports.Effect) error {
	if e.HeadSHA == "" || e.BaseRef == "" {
		return errors.New("store a decision by hand: it needs a head and a base")
	}
	d := e.ByHand
	_, err := t.exec(ctx, `
		INSERT INTO hand_decisions (target_key, head_sha, base_ref, action, person, reason, at, final_in) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (target_key, head_sha, base_ref) DO UPDATE SET action = excluded.action, person = excluded.person,
			reason = excluded.reason, at = excluded.at, final_in = excluded.final_in`,
		key, e.HeadSHA, e.BaseRef, string(d.Action), d.By, d.Reason, micros(d.At), strings.Join(d.FinalIn, " "))
	return wrap(err, "store a decision by hand")
}

func (s *core) saveAudit(ctx context.Context, t tx, repoID int64, key string, a ports.AuditEntry) error {
	at := micros(a.At)
	if at == 0 {
		at = s.now()
	}
	_, err := t.exec(ctx, `INSERT INTO audit (at, repo_id, target_key, head_sha, actor, action, subject, reason, auto_decision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		at, repoID, key, a.HeadSHA, a.Actor, a.Action, a.Subject, a.Reason, string(a.AutoDecision))
	return wrap(err, "write the audit log")
}

// Taught implements ports.Store.
func (s commands) Taught(ctx context.Context, key, headSHA, baseRef string) (m pipeline.Memory, err error) {
	err = s.db.read(ctx, func(t tx) error {
		err := t.each(ctx, func(row scanner) error {
			var d pipeline.Dismissal
			var accepted bool
			var final, base string
			if err := row.Scan(&d.Fingerprint, &accepted, &d.Path, &d.Reason, &d.Override, &d.By, &final, &base, &d.Surroundings, &d.Class); err != nil {
				return err
			}
			if base == baseRef {
				d.FinalIn = splitNames(final)
			} else {
				d.Surroundings = pipeline.SurroundingsElsewhere
			}
			switch {
			case !accepted:
				m.Dismissed = append(m.Dismissed, d)
			case d.Reason == "" || base == baseRef: // what ignores a finding was accepted for one base
				m.Accepted = append(m.Accepted, pipeline.Acceptance{Fingerprint: d.Fingerprint, By: d.By, Ignore: d.Reason, Surroundings: d.Surroundings})
			}
			return nil
		}, `SELECT fingerprint, accepted = 1, path, reason, override = 1, person, final_in, final_base, surroundings, class FROM verdicts WHERE target_key = ? ORDER BY fingerprint`, key)
		if err != nil {
			return err
		}
		m.ByHand, err = byHand(ctx, t, key, headSHA, baseRef)
		return err
	})
	return m, wrap(err, "read people's decisions about %s", key)
}

func byHand(ctx context.Context, t tx, key, headSHA, baseRef string) (*pipeline.HandDecision, error) {
	var d pipeline.HandDecision
	var at int64
	var final string
	err := t.row(ctx, `SELECT action, person, reason, at, final_in FROM hand_decisions WHERE target_key = ? AND head_sha = ? AND base_ref = ?`, key, headSHA, baseRef).
		Scan(&d.Action, &d.By, &d.Reason, &at, &final)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	}
	d.At, d.FinalIn = fromMicros(at), splitNames(final)
	return &d, nil
}

// splitNames reads names separated by blanks; nil for the empty text.
func splitNames(names string) []string {
	if names == "" {
		return nil
	}
	return strings.Fields(names)
}

// Audit implements ports.Store.
func (s commands) Audit(ctx context.Context, key string, limit int) ([]ports.AuditEntry, error) {
	return s.audited(ctx, key, limit)
}

// audited lists the entries of the audit log with a key, newest first.
func (s *core) audited(ctx context.Context, key string, limit int) ([]ports.AuditEntry, error) {
	return listNow(ctx, s.db, "read the audit log of "+key, func(row scanner) (a ports.AuditEntry, err error) {
		a.Key = key
		var at int64
		err = row.Scan(&at, &a.RepoID, &a.HeadSHA, &a.Actor, &a.Action, &a.Subject, &a.Reason, &a.AutoDecision)
		a.At = fromMicros(at)
		return a, err
	}, `SELECT at, repo_id, head_sha, actor, action, subject, reason, auto_decision FROM audit WHERE target_key = ? ORDER BY id DESC LIMIT ?`, key, limit)
}
