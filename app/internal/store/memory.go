package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	policy "github.com/reviewgate/reviewgate/policies/memory"
)

var _ ports.Memory = memory{}

// recordColumns are the columns of memory_records that an insert sets, in the order of recordValues.
const recordColumns = `repo_id, installation, owner, name, organisation, state, models, service, globs, rule, agent, category, title, reason, blocked,
	author, author_id, own, approver, approver_id, created_at, used_at, hits, taught_on, number, finding, base_ref, path, line, lines, checked_at, authors`

func recordValues(r *ports.MemoryRecord) ([]any, error) {
	globs := ""
	if len(r.About.Globs) > 0 {
		text, err := json.Marshal(r.About.Globs)
		if err != nil {
			return nil, fmt.Errorf("encode globs: %w", err)
		}
		globs = string(text)
	}
	authors := ""
	if len(r.Authors) > 0 {
		text, err := json.Marshal(r.Authors)
		if err != nil {
			return nil, fmt.Errorf("encode authors: %w", err)
		}
		authors = string(text)
	}
	a, c := &r.About, &r.Cited
	return []any{
		r.Repository.RepoID, r.Repository.Installation, r.Repository.Owner, r.Repository.Name, number(r.Organisation), string(r.State), number(r.Models),
		a.Service, globs, a.Rule, a.Agent, a.Category, a.Title, a.Reason, number(a.Blocked),
		r.Author.Login, r.Author.ID, number(r.Own), r.Approver.Login, r.Approver.ID, micros(r.Created), micros(r.Used), r.Hits,
		c.Key, c.Number, c.Finding, c.BaseRef, c.Path, c.Line, strings.Join(c.Lines, " "), c.CheckedAt, authors,
	}, nil
}

// selectRecords reads records m, each with the state of the target on which it was taught.
const selectRecords = `SELECT m.id, ` + recordColumns + `,
		coalesce((SELECT t.closed FROM targets t WHERE t.key = m.taught_on), m.closed) = 1,
		coalesce((SELECT t.merged FROM targets t WHERE t.key = m.taught_on), m.merged)
	FROM memory_records m`

func scanRecord(row scanner) (r ports.MemoryRecord, err error) {
	var organisation, models, blocked, own, merged int
	var created, used int64
	var globs, lines, authors string
	var closed bool
	a, c := &r.About, &r.Cited
	err = row.Scan(&r.ID, &r.Repository.RepoID, &r.Repository.Installation, &r.Repository.Owner, &r.Repository.Name, &organisation, &r.State, &models,
		&a.Service, &globs, &a.Rule, &a.Agent, &a.Category, &a.Title, &a.Reason, &blocked,
		&r.Author.Login, &r.Author.ID, &own, &r.Approver.Login, &r.Approver.ID, &created, &used, &r.Hits,
		&c.Key, &c.Number, &c.Finding, &c.BaseRef, &c.Path, &c.Line, &lines, &c.CheckedAt, &authors, &closed, &merged)
	if err != nil {
		return r, err
	}
	r.Repository.Kind = ports.TargetPull
	r.Organisation, r.Models, a.Blocked, r.Own = organisation == 1, models == 1, blocked == 1, own == 1
	r.Created, r.Used, c.Lines, c.End = fromMicros(created), fromMicros(used), splitNames(lines), pullEnd(closed, merged)
	if globs != "" {
		if err := json.Unmarshal([]byte(globs), &a.Globs); err != nil {
			return r, fmt.Errorf("decode the globs of %s: %w", r.Name(), err)
		}
	}
	if authors != "" {
		if err := json.Unmarshal([]byte(authors), &r.Authors); err != nil {
			return r, fmt.Errorf("decode the authors of %s: %w", r.Name(), err)
		}
	}
	return r, nil
}

// MemoryRecord implements ports.MemoryReader.
func (s memory) MemoryRecord(ctx context.Context, id int64) (r ports.MemoryRecord, err error) {
	err = s.db.read(ctx, func(t tx) error {
		if r, err = scanRecord(t.row(ctx, selectRecords+` WHERE m.id = ?`, id)); err != nil {
			return notFound(err)
		}
		all := []ports.MemoryRecord{r}
		err := addVotes(ctx, t, all, `record_id = ?`, id)
		r = all[0]
		return err
	})
	return r, wrap(err, "read record %s", ports.MemoryName(id))
}

// MemoryRecords implements ports.MemoryReader.
func (s memory) MemoryRecords(ctx context.Context, which ports.MemoryFilter) (all []ports.MemoryRecord, err error) {
	where, args := []string{`1 = 1`}, []any(nil)
	if which.RepoID != 0 {
		where, args = append(where, `m.repo_id = ?`), append(args, which.RepoID)
	}
	if h := which.Holding; h.RepoID != 0 {
		where = append(where, `(m.repo_id = ? OR m.organisation = 1 AND m.installation = ? AND lower(m.owner) = ?)`)
		args = append(args, h.RepoID, h.Installation, strings.ToLower(h.Owner))
	}
	if len(which.States) > 0 {
		where = append(where, `m.state IN (?`+strings.Repeat(`, ?`, len(which.States)-1)+`)`)
		for _, state := range which.States {
			args = append(args, string(state))
		}
	}
	newest := ``
	if which.Newest > 0 {
		newest, args = ` LIMIT ?`, append(args, which.Newest)
	}
	err = s.db.read(ctx, func(t tx) error {
		all, err = list(ctx, t, scanRecord, selectRecords+` WHERE `+strings.Join(where, ` AND `)+` ORDER BY m.used_at DESC, m.id DESC`+newest, args...)
		if err != nil || which.RepoID == 0 {
			return err
		}
		return addVotes(ctx, t, all, `repo_id = ?`, which.RepoID)
	})
	slices.SortFunc(all, func(a, b ports.MemoryRecord) int { return int(a.ID - b.ID) })
	return all, wrap(err, "list the records of memory")
}

// addVotes adds to records the votes that a condition chooses.
func addVotes(ctx context.Context, t tx, all []ports.MemoryRecord, where string, args ...any) error {
	at := map[int64]int{}
	for i := range all {
		at[all[i].ID] = i
	}
	return t.each(ctx, func(row scanner) error {
		var id, when int64
		var own int
		var v ports.MemoryVote
		if err := row.Scan(&id, &v.Key, &v.Finding, &v.Person.Login, &v.Person.ID, &own, &when); err != nil {
			return err
		}
		v.Own, v.At = own == 1, fromMicros(when)
		if i, ok := at[id]; ok {
			all[i].Votes = append(all[i].Votes, v)
		}
		return nil
	}, `SELECT record_id, taught_on, finding, person, person_id, own, at FROM memory_votes WHERE `+where+` ORDER BY record_id, at, person, taught_on, finding`, args...)
}

// MemoryPatterns implements ports.MemoryReader.
func (s memory) MemoryPatterns(ctx context.Context, repoID int64, which ports.PatternFilter) (all []ports.MemoryPattern, err error) {
	const patterns = `SELECT p.service, p.key, p.rule, p.category, p.title, p.severity,
			CASE WHEN s.key IS NULL THEN p.frequency ELSE p.frequency - 1 END AS frequency,
			CASE WHEN s.key IS NULL THEN p.last_seen ELSE s.seen_before END AS last_seen, p.example
		FROM memory_patterns p
		LEFT JOIN memory_sightings s ON s.repo_id = p.repo_id AND s.service = p.service AND s.key = p.key AND s.target_key = ?
		WHERE p.repo_id = ?`
	read := func(t tx, where string, args ...any) error {
		query := `SELECT ` + patternColumns + ` FROM (` + patterns + where + `) q WHERE last_seen >= ? ORDER BY frequency DESC, last_seen DESC, service, key`
		args = append(args, micros(which.Since))
		if which.Most > 0 {
			query, args = query+` LIMIT ?`, append(args, which.Most)
		}
		some, err := list(ctx, t, scanPattern, query, args...)
		all = append(all, some...)
		return err
	}
	err = s.db.read(ctx, func(t tx) error {
		if len(which.Services) == 0 {
			return read(t, ``, which.Without, repoID)
		}
		for _, service := range which.Services {
			if err := read(t, ` AND p.service = ?`, which.Without, repoID, service); err != nil {
				return err
			}
		}
		return nil
	})
	return all, wrap(err, "list the patterns of repository %d", repoID)
}

const patternColumns = `service, key, rule, category, title, severity, frequency, last_seen, example`

func scanPattern(row scanner) (p ports.MemoryPattern, err error) {
	var seen int64
	err = row.Scan(&p.Service, &p.Key, &p.Rule, &p.Category, &p.Title, &p.Severity, &p.Frequency, &seen, &p.Example)
	p.LastSeen = fromMicros(seen)
	return p, err
}

// memoryKey is the key under which the audit log has the changes of a record.
func memoryKey(repoID, id int64) string { return fmt.Sprintf("%s%d", memoryKeys(repoID), id) }

func memoryKeys(repoID int64) string { return fmt.Sprintf("memory/%d/", repoID) }

// MemoryLog implements ports.MemoryReader.
func (s memory) MemoryLog(ctx context.Context, r ports.MemoryRecord, limit int) ([]ports.AuditEntry, error) {
	return s.audited(ctx, memoryKey(r.Repository.RepoID, r.ID), limit)
}

// KnownRepositories implements ports.MemoryReader. A repository that was renamed has the name that
// deliveries had last.
func (s memory) KnownRepositories(ctx context.Context) ([]ports.Target, error) {
	return listNow(ctx, s.db, "list the repositories", func(row scanner) (g ports.Target, err error) {
		g.Kind = ports.TargetPull
		err = row.Scan(&g.RepoID, &g.Installation, &g.Owner, &g.Name)
		return g, err
	}, `SELECT repo_id, installation, owner, name FROM (
			SELECT repo_id, installation, owner, name, row_number() OVER (PARTITION BY repo_id ORDER BY head_at DESC, key DESC) AS place FROM targets) t WHERE place = 1
		UNION ALL SELECT repo_id, installation, owner, name FROM repositories r WHERE NOT EXISTS (SELECT 1 FROM targets t WHERE t.repo_id = r.repo_id)
		ORDER BY owner, name, repo_id`)
}

// ChangeMemory implements ports.Memory.
func (s memory) ChangeMemory(ctx context.Context, changes []ports.MemoryChange) (ids []int64, err error) {
	err = s.db.write(ctx, func(t tx) error {
		ids = nil
		for i := range changes {
			id, err := s.changeRecord(ctx, t, &changes[i])
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	return ids, wrap(err, "change memory")
}

// changeRecord makes one change, with its entry in the audit log.
func (s *core) changeRecord(ctx context.Context, t tx, c *ports.MemoryChange) (id int64, err error) {
	switch {
	case c.New != nil:
		return s.newRecord(ctx, t, c)
	case c.ID == 0:
		return 0, nil
	}
	var repoID int64
	err = t.row(ctx, `SELECT repo_id FROM memory_records WHERE id = ?`, c.ID).Scan(&repoID)
	if err == nil {
		err = t.alone(ctx, memoryKeys(repoID)) // before rows are locked, as everywhere
	}
	if err != nil {
		return 0, fmt.Errorf("change record %s: %w", ports.MemoryName(c.ID), notFound(err))
	}
	r, err := scanRecord(t.row(ctx, selectRecords+` WHERE m.id = ?`+t.lock(), c.ID))
	switch {
	case err != nil:
		return 0, fmt.Errorf("change record %s: %w", ports.MemoryName(c.ID), notFound(err))
	case c.From != "" && r.State != c.From:
		return 0, fmt.Errorf("record %s is %s: %w", r.Name(), r.State, ports.ErrMemoryChanged)
	}
	if err := s.changeVotes(ctx, t, &r, c); err != nil || c.To == "" {
		return r.ID, err
	}
	if c.To.Live() && !r.State.Live() {
		if err := roomForRecord(ctx, t, &r); err != nil {
			return 0, err
		}
	}
	used, lines := r.Used, strings.Join(r.Cited.Lines, " ")
	if c.To == ports.MemoryActive {
		used = s.Now()
	}
	if c.Uncited {
		lines = ""
	}
	if c.Approver != (ports.Person{}) {
		r.Approver = c.Approver
	}
	_, err = t.exec(ctx, `UPDATE memory_records SET state = ?, organisation = ?, approver = ?, approver_id = ?, used_at = ?, lines = ? WHERE id = ?`,
		string(c.To), number(r.Organisation || c.Organisation), r.Approver.Login, r.Approver.ID, micros(used), lines, r.ID)
	if err == nil && !c.To.Live() {
		err = dropEnded(ctx, t, r.Repository.RepoID)
	}
	if err == nil && c.Organisation && !r.Organisation {
		err = s.auditRecord(ctx, t, &r, c, "organisation")
	}
	if err == nil {
		err = s.auditRecord(ctx, t, &r, c, string(c.To))
	}
	return r.ID, err
}

// changeVotes removes and adds the votes of a change, with entries in the audit log.
func (s *core) changeVotes(ctx context.Context, t tx, r *ports.MemoryRecord, c *ports.MemoryChange) error {
	if c.Unvote != nil {
		n, err := t.exec(ctx, `DELETE FROM memory_votes WHERE record_id = ? AND taught_on = ? AND finding = ?`, r.ID, c.Unvote.Key, c.Unvote.Finding)
		if err == nil && n > 0 {
			err = s.auditRecord(ctx, t, r, c, "unvote")
		}
		if err != nil {
			return err
		}
	}
	if c.Vote == nil {
		return nil
	}
	if c.From != "" {
		var n int
		if err := t.row(ctx, `SELECT count(*) FROM memory_votes WHERE record_id = ?`, r.ID).Scan(&n); err != nil {
			return err
		}
		if n != c.Votes {
			return fmt.Errorf("record %s has %d votes: %w", r.Name(), n, ports.ErrMemoryChanged)
		}
	}
	if err := saveVote(ctx, t, r, c.Vote); err != nil {
		return err
	}
	return s.auditRecord(ctx, t, r, c, "vote")
}

func (s *core) newRecord(ctx context.Context, t tx, c *ports.MemoryChange) (int64, error) {
	r := *c.New
	if err := roomForRecord(ctx, t, &r); err != nil {
		return 0, err
	}
	if err := nothingLike(ctx, t, &r, c.Newest); err != nil {
		return 0, err
	}
	values, err := recordValues(&r)
	if err != nil {
		return 0, err
	}
	err = t.row(ctx, `INSERT INTO memory_records (`+recordColumns+`, merged, closed) VALUES (?`+strings.Repeat(`, ?`, len(values)-1)+`, -1, 0) RETURNING id`, values...).Scan(&r.ID)
	if err != nil {
		return 0, fmt.Errorf("store a record of memory: %w", err)
	}
	for i := range r.Votes {
		if err := saveVote(ctx, t, &r, &r.Votes[i]); err != nil {
			return 0, err
		}
	}
	return r.ID, s.auditRecord(ctx, t, &r, c, string(r.State))
}

// nothingLike returns ErrMemoryChanged if a live record like a new one was stored after another one.
func nothingLike(ctx context.Context, t tx, r *ports.MemoryRecord, after *int64) error {
	if after == nil {
		return nil
	}
	later, err := list(ctx, t, scanRecord, selectRecords+` WHERE m.repo_id = ? AND m.id > ? ORDER BY m.id`, r.Repository.RepoID, *after)
	if err != nil {
		return err
	}
	for i := range later {
		if o := &later[i]; o.State.Live() && o.Models == r.Models && policy.Like(&o.About, &r.About) {
			return fmt.Errorf("%s is like a new record: %w", o.Name(), ports.ErrMemoryChanged)
		}
	}
	return nil
}

// saveVote stores a vote in the place of those that it replaces; see ports.MemoryVote.Replaces.
func saveVote(ctx context.Context, t tx, r *ports.MemoryRecord, v *ports.MemoryVote) error {
	_, err := t.exec(ctx, `DELETE FROM memory_votes WHERE record_id = ? AND (lower(person) = ? AND person <> '' OR person_id = ? AND person_id <> 0) AND (own = 1 OR ? = 0)`,
		r.ID, strings.ToLower(v.Person.Login), v.Person.ID, number(v.Own))
	if err != nil {
		return fmt.Errorf("replace a vote for %s: %w", r.Name(), err)
	}
	_, err = t.exec(ctx, `
		INSERT INTO memory_votes (record_id, repo_id, taught_on, finding, person, person_id, own, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (record_id, taught_on, finding, person) DO UPDATE SET person_id = excluded.person_id, own = excluded.own, at = excluded.at`,
		r.ID, r.Repository.RepoID, v.Key, v.Finding, v.Person.Login, v.Person.ID, number(v.Own), micros(v.At))
	return wrap(err, "store a vote for %s", r.Name())
}

// roomForRecord returns ErrMemoryFull if the repository has as many live records as it may have; those
// about models' findings and those about rules are counted apart. No other transaction adds one before
// this one ends.
func roomForRecord(ctx context.Context, t tx, r *ports.MemoryRecord) error {
	repoID := r.Repository.RepoID
	if err := t.alone(ctx, memoryKeys(repoID)); err != nil {
		return err
	}
	var n int
	err := t.row(ctx, `SELECT count(*) FROM memory_records WHERE repo_id = ? AND models = ? AND state IN (?, ?, ?)`, repoID, number(r.Models),
		string(ports.MemoryProposed), string(ports.MemoryActive), string(ports.MemoryQuarantined)).Scan(&n)
	if err == nil && n >= ports.MaxMemoryRecords {
		err = ports.ErrMemoryFull
	}
	return err
}

// expiredAtOnce is how many records expire in one transaction.
const expiredAtOnce = 50

// expireMemory ends records that are proposed or in quarantine and that nobody used since a time. It
// returns how many it ended, some of all.
func (s *core) expireMemory(ctx context.Context, before time.Time) (int, error) {
	ids, err := listNow(ctx, s.db, "look for old records of memory", only[int64],
		`SELECT id FROM memory_records WHERE state IN (?, ?) AND used_at < ? ORDER BY repo_id, id LIMIT ?`,
		string(ports.MemoryProposed), string(ports.MemoryQuarantined), micros(before), expiredAtOnce)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	for _, id := range ids { // each alone, since records of several repositories must not be locked at once
		err := s.db.write(ctx, func(t tx) error {
			_, err := s.changeRecord(ctx, t, &ports.MemoryChange{ID: id, To: ports.MemoryExpired, By: "reviewgate", Why: "nobody used it for too long"})
			return err
		})
		if err != nil && !errors.Is(err, ports.ErrNotFound) {
			return 0, fmt.Errorf("let a record of memory expire: %w", err)
		}
	}
	return len(ids), nil
}

// dropEnded deletes the oldest of a repository's records that have ended, but keeps as many as may be
// live.
func dropEnded(ctx context.Context, t tx, repoID int64) error {
	const ended = `SELECT id FROM memory_records WHERE repo_id = ? AND state IN (?, ?) ORDER BY used_at DESC, id DESC`
	of := []any{repoID, string(ports.MemoryExpired), string(ports.MemoryRevoked)}
	var n int
	if err := t.row(ctx, `SELECT count(*) FROM (`+ended+`) e`, of...).Scan(&n); err != nil || n <= ports.MaxMemoryRecords {
		return err
	}
	all, err := list(ctx, t, only[int64], ended, of...)
	if err != nil {
		return err
	}
	for _, id := range all[ports.MaxMemoryRecords:] {
		err = execAll(ctx, t, []statementArgs{
			{`DELETE FROM memory_votes WHERE record_id = ?`, []any{id}},
			{`DELETE FROM memory_records WHERE id = ?`, []any{id}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *core) auditRecord(ctx context.Context, t tx, r *ports.MemoryRecord, c *ports.MemoryChange, what string) error {
	return s.saveAudit(ctx, t, r.Repository.RepoID, memoryKey(r.Repository.RepoID, r.ID), ports.AuditEntry{
		Actor: c.By, Action: "memory " + what, Subject: r.Name(), Reason: c.Why,
	})
}

// CheckedMemory implements ports.Memory.
func (s memory) CheckedMemory(ctx context.Context, id int64, commit string) error {
	return s.change(ctx, "record that the lines of "+ports.MemoryName(id)+" were found", `UPDATE memory_records SET checked_at = ? WHERE id = ?`, commit, id)
}

// AddMemoryPatterns implements ports.Memory.
func (s memory) AddMemoryPatterns(ctx context.Context, repoID int64, patterns []ports.MemoryPattern) error {
	err := s.db.write(ctx, func(t tx) error {
		return savePatterns(ctx, t, repoID, patterns, `CASE WHEN memory_patterns.frequency > excluded.frequency THEN memory_patterns.frequency ELSE excluded.frequency END`)
	})
	return wrap(err, "store the patterns of repository %d", repoID)
}

// savePatterns stores patterns. frequency is an expression for the new frequency of a known pattern.
// The title, severity and example of the later one count.
func savePatterns(ctx context.Context, t tx, repoID int64, patterns []ports.MemoryPattern, frequency string) error {
	if len(patterns) == 0 {
		return nil
	}
	later := func(column string) string {
		return column + ` = CASE WHEN memory_patterns.last_seen > excluded.last_seen THEN memory_patterns.` + column + ` ELSE excluded.` + column + ` END`
	}
	query := `INSERT INTO memory_patterns (repo_id, ` + patternColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (repo_id, service, key) DO UPDATE SET frequency = ` + frequency + `, ` +
		strings.Join([]string{later("title"), later("category"), later("severity"), later("example"), later("last_seen")}, `, `)
	if err := t.alone(ctx, memoryKeys(repoID)); err != nil {
		return err
	}
	for _, p := range patterns {
		if _, err := t.exec(ctx, query, repoID, p.Service, p.Key, p.Rule, p.Category, p.Title, string(p.Severity), p.Frequency, micros(p.LastSeen), p.Example); err != nil {
			return err
		}
	}
	var n int
	if err := t.row(ctx, `SELECT count(*) FROM memory_patterns WHERE repo_id = ?`, repoID).Scan(&n); err != nil || n <= ports.MaxMemoryPatterns {
		return err
	}
	_, err := t.exec(ctx, `DELETE FROM memory_patterns WHERE repo_id = ? AND (service, key) IN (
			SELECT service, key FROM memory_patterns WHERE repo_id = ? ORDER BY last_seen, frequency, service, key LIMIT ?)`,
		repoID, repoID, n-ports.MaxMemoryPatterns)
	if err == nil {
		_, err = t.exec(ctx, `DELETE FROM memory_sightings WHERE repo_id = ? AND NOT EXISTS (SELECT 1 FROM memory_patterns p
			WHERE p.repo_id = memory_sightings.repo_id AND p.service = memory_sightings.service AND p.key = memory_sightings.key)`, repoID)
	}
	return err
}

// countMemory adds what a review that is about to be published counts, and clears it. So it counts
// once, however often the review is marked as published. What somebody without write permission had
// reviewed waits until it is merged.
func (s *core) countMemory(ctx context.Context, t tx, runID string) error {
	var repoID int64
	var key, text string
	var merged bool
	err := t.row(ctx, `SELECT r.repo_id, r.target_key, r.memory_counts, coalesce((SELECT g.merged FROM targets g WHERE g.key = r.target_key), -1) = 1
		FROM reviews r WHERE r.run_id = ? AND r.memory_counts <> ''`, runID).Scan(&repoID, &key, &text, &merged)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	var counts ports.MemoryCounts
	if err == nil {
		err = json.Unmarshal([]byte(text), &counts)
	}
	if err != nil {
		return fmt.Errorf("read what the review counts: %w", err)
	}
	now := s.Now()
	left := ports.MemoryCounts{}
	if counts.Outside && !merged {
		left.Outside, left.Seen, counts.Seen = true, counts.Seen, nil
	}
	if err := countSeen(ctx, t, repoID, key, counts.Seen, now); err != nil {
		return fmt.Errorf("count patterns: %w", err)
	}
	// The order is the same in all transactions, so that they don't deadlock.
	for _, id := range slices.Sorted(maps.Keys(counts.Hits)) {
		_, err := t.exec(ctx, `UPDATE memory_records SET hits = hits + ?, used_at = CASE WHEN used_at > ? THEN used_at ELSE ? END WHERE id = ?`, counts.Hits[id], micros(now), micros(now), id)
		if err != nil {
			return fmt.Errorf("count the use of %s: %w", ports.MemoryName(id), err)
		}
	}
	if text, err = encodeCounts(left); err == nil {
		_, err = t.exec(ctx, `UPDATE reviews SET memory_counts = ? WHERE run_id = ?`, text, runID)
	}
	return wrap(err, "count a review once")
}

// countSeen counts patterns that were found in a target, unless it has counted them before.
func countSeen(ctx context.Context, t tx, repoID int64, key string, seen []ports.MemoryPattern, now time.Time) error {
	if len(seen) == 0 {
		return nil
	}
	if err := t.alone(ctx, memoryKeys(repoID)); err != nil { // before rows are locked, as everywhere
		return err
	}
	for i := range seen {
		p := &seen[i]
		added, err := t.exec(ctx, `INSERT INTO memory_sightings (repo_id, service, key, target_key, seen_before)
			VALUES (?, ?, ?, ?, coalesce((SELECT p.last_seen FROM memory_patterns p WHERE p.repo_id = ? AND p.service = ? AND p.key = ?), 0))
			ON CONFLICT (repo_id, service, key, target_key) DO NOTHING`, repoID, p.Service, p.Key, key, repoID, p.Service, p.Key)
		if err != nil {
			return err
		}
		p.LastSeen, p.Frequency = now, int(added)
	}
	return savePatterns(ctx, t, repoID, seen, `memory_patterns.frequency + excluded.frequency`)
}

// countMerged counts what had to wait for the merge of a target.
func (s *core) countMerged(ctx context.Context, t tx, key string) error {
	runs, err := list(ctx, t, only[string], `SELECT run_id FROM reviews WHERE target_key = ? AND published_at > 0 AND memory_counts <> '' ORDER BY run_id`, key)
	for i := 0; err == nil && i < len(runs); i++ {
		err = s.countMemory(ctx, t, runs[i])
	}
	return wrap(err, "count what was found in a merged pull request")
}

// encodeCounts returns the stored form of what a review counts, or "" if it counts nothing.
func encodeCounts(c ports.MemoryCounts) (string, error) {
	if len(c.Hits) == 0 && len(c.Seen) == 0 {
		return "", nil
	}
	text, err := json.Marshal(c)
	return string(withoutNUL(text)), wrap(err, "encode what a review counts")
}

// endOfTaught keeps how a target ended for the records that were taught on it, since the target is
// about to be deleted.
func endOfTaught(ctx context.Context, t tx, key string) error {
	_, err := t.exec(ctx, `UPDATE memory_records SET
			closed = coalesce((SELECT t.closed FROM targets t WHERE t.key = ?), closed), merged = coalesce((SELECT t.merged FROM targets t WHERE t.key = ?), merged)
		WHERE taught_on = ?`, key, key, key)
	return wrap(err, "record how the pull request ended")
}

// applyMemory makes a command's changes of memory, and stores the notices about them. A dismissal
// counts even if there is no room for its record, or for its notice.
func (s commands) applyMemory(ctx context.Context, t tx, key string, changes []ports.MemoryChange) error {
	for i := range changes {
		c := &changes[i]
		id, err := s.changeRecord(ctx, t, c)
		switch {
		case errors.Is(err, ports.ErrMemoryFull) && c.New != nil:
			id = 0
		case err != nil:
			return err
		}
		if c.Say == nil {
			continue
		}
		if err := s.addNotice(ctx, t, key, c.Say(id)); err != nil && !errors.Is(err, ports.ErrManyNotices) {
			return err
		}
	}
	return nil
}
