package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// encoded is the stored form of a review. The report has a column of its own, apart from
// its inputs, which can be large and are seldom read. The changed files are the largest
// part, and most reviews of one head have the same: those reviews share a row, which
// is found by its hash.
type encoded struct {
	report, inputs, record []byte
	files                  []byte // nil if the change has no files
	loop                   string
	entry                  string // what the review adds to the log of its target; empty if nothing
	session                string // what the review changes in the session of its target; empty if nothing
}

// digest is a hash of everything that is stored of a review that was saved at a time.
func (e encoded) digest(r *ports.StoredReview, savedAt int64) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%d %q %q %d %d %q %q %q %q %q\n", savedAt, r.RunID, r.Key, r.Generation, r.RepoID, r.HeadSHA, r.BaseSHA,
		r.Review.Facts.Base.Ref, string(r.Review.Report.Decision), e.loop)
	for _, part := range [][]byte{e.report, e.inputs, e.record, e.files} {
		fmt.Fprintf(h, "%d %x\n", len(part), sha256.Sum256(part))
	}
	if e.session != "" {
		fmt.Fprintf(h, "session %q\n", e.session)
	}
	for _, c := range r.Config {
		fmt.Fprintf(h, "%q %q %q %x\n", c.Layer, c.Path, c.BlobSHA, sha256.Sum256(c.Text))
	}
	return h.Sum(nil)
}

func encode(r ports.StoredReview) (e encoded, err error) {
	coding <- struct{}{}
	defer func() { <-coding }()
	if e.report, err = pack(r.Review.Report); err != nil {
		return e, err
	}
	if e.inputs, err = packInputs(r.Review); err != nil {
		return e, err
	}
	if e.files, err = packFiles(r.Review.Facts.Files); err != nil {
		return e, err
	}
	if e.record, err = pack(r.Record); err != nil {
		return e, err
	}
	if len(r.Session.Requests) == 0 {
		r.Session.Requests = nil // so that what changes nothing is the zero value
	}
	if e.session, err = encodeText(r.Session); err != nil {
		return e, err
	}
	e.loop, err = encodeText(r.FixLoop)
	return e, err
}

func (e encoded) decode(r *ports.StoredReview) error {
	coding <- struct{}{}
	defer func() { <-coding }()
	if err := unpackInputs(e.inputs, &r.Review); err != nil {
		return err
	}
	if e.files != nil {
		if err := unpackAll(e.files, func(dec *json.Decoder) error { return decodeFiles(dec, &r.Review) }); err != nil {
			return err
		}
	}
	r.Review.Report = pipeline.Report{}
	if err := unpack(e.report, &r.Review.Report); err != nil {
		return err
	}
	if err := unpack(e.record, &r.Record); err != nil {
		return err
	}
	if r.Lacks != "" {
		supply(&r.Review, &r.Record)
	}
	return decodeText(e.loop, &r.FixLoop)
}

// supply takes what a review of an older version lacks from where that version had it.
func supply(v *pipeline.Review, record *pipeline.RunRecord) {
	v.Gaps = v.Report.GapLog
	if len(v.Report.ProposedConfig.Files) > 0 {
		v.Proposed = &v.Report.ProposedConfig
	}
	for _, stage := range record.Stages {
		if stage.Error != "" {
			v.Failed = stage.Stage
		}
	}
}

// coding bounds how many reviews are encoded or decoded at the same time. Each takes
// some milliseconds, and half of the processors stay free for deliveries.
var coding = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))

// writers are reused, since a new one takes a megabyte.
var writers = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // there is no such level
	}
	return z
}}

func pack(v any) ([]byte, error) {
	return packAll(func(enc *json.Encoder) error { return enc.Encode(v) })
}

// packAll compresses the JSON values that are written to it.
func packAll(write func(*json.Encoder) error) ([]byte, error) {
	var b bytes.Buffer
	z := writers.Get().(*gzip.Writer)
	defer writers.Put(z)
	z.Reset(&b)
	if err := write(json.NewEncoder(z)); err != nil {
		return nil, fmt.Errorf("encode a review: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compress a review: %w", err)
	}
	return b.Bytes(), nil
}

func unpack(data []byte, v any) error {
	return unpackAll(data, func(dec *json.Decoder) error { return dec.Decode(v) })
}

func unpackAll(data []byte, read func(*json.Decoder) error) error {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("decompress a review: %w", err)
	}
	return wrap(read(json.NewDecoder(z)), "decode a review")
}

// packInputs encodes the inputs of a report, without the changed files.
func packInputs(r pipeline.Review) ([]byte, error) {
	r.Report, r.Facts.Files = pipeline.Report{}, nil
	return pack(r)
}

// packFiles encodes changed files, each as a JSON value of its own: one value for all of
// them could take more memory than the rest of the review. It returns nil if there are
// no files.
func packFiles(files pipeline.List[pipeline.File]) ([]byte, error) {
	if len(files) == 0 {
		return nil, nil
	}
	return packAll(func(enc *json.Encoder) error {
		for i := range files {
			if err := enc.Encode(&files[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// unpackInputs reads what packInputs wrote. It also reads the earlier formats, which
// held the files among the inputs or after them.
func unpackInputs(data []byte, r *pipeline.Review) error {
	return unpackAll(data, func(dec *json.Decoder) error {
		if err := dec.Decode(r); err != nil {
			return err
		}
		return decodeFiles(dec, r)
	})
}

// decodeFiles reads files up to the end of the text.
func decodeFiles(dec *json.Decoder, r *pipeline.Review) error {
	for {
		var f pipeline.File
		switch err := dec.Decode(&f); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		r.Facts.Files = append(r.Facts.Files, f)
	}
}

// SaveReview implements ports.Store. The review is encoded before the
// transaction begins, so that a large one keeps nobody waiting.
func (s reviews) SaveReview(ctx context.Context, l ports.Lease, r ports.StoredReview) error {
	e, err := encode(r)
	if err != nil {
		return fmt.Errorf("save review %s: %w", r.RunID, err)
	}
	counts, err := encodeCounts(r.Memory)
	if err != nil {
		return fmt.Errorf("save review %s: %w", r.RunID, err)
	}
	at := s.now()
	if e.entry, err = encodeEntry(r.Entry, at); err != nil {
		return fmt.Errorf("save review %s: %w", r.RunID, err)
	}
	digest := e.digest(&r, at)
	return s.db.write(ctx, func(t tx) error {
		if err := fence(ctx, t, l); err != nil {
			return err
		}
		if l.Key != r.Key {
			return fmt.Errorf("save review %s: it belongs to %s, but the lease to %s", r.RunID, r.Key, l.Key)
		}
		_, err := t.exec(ctx, `
			INSERT INTO reviews (run_id, target_key, generation, repo_id, head_sha, base_sha, base_ref, decision, saved_at, report, inputs, record, fix_loop, digest, lacks, entry, memory_counts, session)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?)`,
			r.RunID, r.Key, r.Generation, r.RepoID, r.HeadSHA, r.BaseSHA, r.Review.Facts.Base.Ref, string(r.Review.Report.Decision), at, e.report, e.inputs, e.record, e.loop, digest, e.entry, counts, e.session)
		if err != nil {
			return fmt.Errorf("save review %s: %w", r.RunID, err)
		}
		if err := storeFiles(ctx, t, r.RunID, r.Key, e.files); err != nil {
			return fmt.Errorf("save the changed files of review %s: %w", r.RunID, err)
		}
		for i, c := range r.Config {
			sum, err := storeText(ctx, t, c.Text)
			if err != nil {
				return fmt.Errorf("save the config of review %s: %w", r.RunID, err)
			}
			_, err = t.exec(ctx, `INSERT INTO review_configs (run_id, position, layer, path, blob_sha, sha256) VALUES (?, ?, ?, ?, ?, ?)`,
				r.RunID, i, c.Layer, c.Path, c.BlobSHA, sum)
			if err != nil {
				return fmt.Errorf("save the config of review %s: %w", r.RunID, err)
			}
		}
		return s.handOver(ctx, t, l, ports.JobPublish)
	})
}

// storeFiles stores a review's changed files once for all reviews of its target.
func storeFiles(ctx context.Context, t tx, runID, key string, files []byte) error {
	if files == nil {
		return nil
	}
	sum := sha256.Sum256(files)
	_, err := t.exec(ctx, `INSERT INTO changed_files (target_key, sha256, body) VALUES (?, ?, ?) ON CONFLICT (target_key, sha256) DO NOTHING`, key, sum[:], files)
	if err == nil {
		err = must(t.exec(ctx, `INSERT INTO review_files (run_id, target_key, sha256) VALUES (?, ?, ?)`, runID, key, sum[:]))
	}
	return err
}

// readFiles returns a review's changed files in their stored form. It returns nil if
// the review has no files, or has them among its inputs.
func readFiles(ctx context.Context, t tx, runID string) (files []byte, err error) {
	err = t.row(ctx, `
		SELECT f.body FROM review_files r JOIN changed_files f ON f.target_key = r.target_key AND f.sha256 = r.sha256
		WHERE r.run_id = ?`, runID).Scan(&files)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return files, err
}

// UnpublishedReview implements ports.Store. It skips reviews that are older than a
// published one: they would replace a newer result.
func (s reviews) UnpublishedReview(ctx context.Context, key string) (*ports.StoredReview, error) {
	return s.findReview(ctx, `target_key = ? AND published_at = 0
		AND generation > coalesce((SELECT done FROM targets WHERE key = target_key), 0)
		AND NOT EXISTS (SELECT 1 FROM reviews newer WHERE newer.target_key = reviews.target_key AND newer.id > reviews.id AND newer.published_at > 0)`, key)
}

// LatestReview implements ports.Store.
func (s history) LatestReview(ctx context.Context, key string) (*ports.StoredReview, error) {
	return s.findReview(ctx, `target_key = ? AND published_at > 0`, key)
}

// ReviewAsOf implements ports.Store.
func (s history) ReviewAsOf(ctx context.Context, key string, at time.Time) (*ports.StoredReview, error) {
	return s.findReview(ctx, `target_key = ? AND published_at > 0 AND published_at <= ?`, key, micros(at))
}

// LastPublished implements ports.Store.
func (s history) LastPublished(ctx context.Context, key string) (*ports.PublishedHead, error) {
	var a ports.PublishedHead
	err := s.db.read(ctx, func(t tx) error {
		return t.row(ctx, `SELECT head_sha, base_ref FROM reviews WHERE target_key = ? AND published_at > 0 ORDER BY id DESC LIMIT 1`, key).Scan(&a.HeadSHA, &a.BaseRef)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the newest answer to %s: %w", key, err)
	}
	return &a, nil
}

// ReviewOfHead implements ports.Store.
func (s history) ReviewOfHead(ctx context.Context, key, headSHA, baseRef string) (*ports.StoredReview, error) {
	return s.findReview(ctx, `target_key = ? AND head_sha = ? AND (? = '' OR base_ref = ?)`, key, headSHA, baseRef, baseRef)
}

// findReview returns the newest review that meets a condition, or nil.
func (s *core) findReview(ctx context.Context, where string, args ...any) (*ports.StoredReview, error) {
	r, _, err := s.readReview(ctx, where, args...)
	return r, err
}

// stored is what the row of a review says about it.
type stored struct {
	encoded
	decision, baseRef string
	savedAt           int64
	digest            []byte
}

// readReview is findReview with the row as it is stored.
func (s *core) readReview(ctx context.Context, where string, args ...any) (*ports.StoredReview, *stored, error) {
	var r ports.StoredReview
	var e stored
	err := s.db.read(ctx, func(t tx) error {
		err := t.row(ctx, `
			SELECT run_id, target_key, generation, repo_id, head_sha, base_sha, base_ref, decision, report, inputs, record, fix_loop, session, saved_at, digest, lacks
			FROM reviews WHERE `+where+` ORDER BY id DESC LIMIT 1`, args...).
			Scan(&r.RunID, &r.Key, &r.Generation, &r.RepoID, &r.HeadSHA, &r.BaseSHA, &e.baseRef, &e.decision, &e.report, &e.inputs, &e.record, &e.loop, &e.session, &e.savedAt, &e.digest, &r.Lacks)
		if err != nil {
			return err
		}
		if e.files, err = readFiles(ctx, t, r.RunID); err != nil {
			return err
		}
		r.Config, err = readTexts(ctx, t, `
			SELECT c.layer, c.path, c.blob_sha, t.body FROM review_configs c JOIN texts t ON t.sha256 = c.sha256
			WHERE c.run_id = ? ORDER BY c.position`, r.RunID)
		return err
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("read a stored review: %w", err)
	}
	if err := e.decode(&r); err != nil {
		return &r, &e, fmt.Errorf("read stored review %s: %w", r.RunID, err)
	}
	return &r, &e, nil
}

// MarkPublished implements ports.Store. What was not published before it leaves
// no trace in the fix loop.
func (s reviews) MarkPublished(ctx context.Context, runID string, next ...ports.Job) error {
	return s.db.write(ctx, func(t tx) error {
		_, err := t.exec(ctx, `
			UPDATE targets SET fix_loop = (SELECT fix_loop FROM reviews WHERE run_id = ?)
			WHERE key = (SELECT target_key FROM reviews WHERE run_id = ? AND published_at = 0)`, runID, runID)
		if err == nil {
			err = s.publishSession(ctx, t, runID)
		}
		if err == nil {
			err = learnReview(ctx, t, runID)
		}
		if err == nil {
			err = s.countMemory(ctx, t, runID)
		}
		if err == nil {
			err = must(t.exec(ctx, `UPDATE reviews SET published_at = CASE WHEN published_at = 0 THEN ? ELSE published_at END WHERE run_id = ?`, s.now(), runID))
		}
		if err != nil {
			return fmt.Errorf("mark review %s as published: %w", runID, err)
		}
		for _, j := range next {
			if _, err := t.insertJob(ctx, j); err != nil {
				return err
			}
		}
		return nil
	})
}

// Published implements ports.Store.
func (s reviews) Published(ctx context.Context, key string, generation int64) (published bool, err error) {
	err = s.db.read(ctx, func(t tx) error {
		return t.row(ctx, `SELECT EXISTS (SELECT 1 FROM reviews WHERE target_key = ? AND generation = ? AND published_at <> 0)`, key, generation).Scan(&published)
	})
	return published, wrap(err, "look for a published review of %s", key)
}

// DropReview implements ports.Store.
func (s reviews) DropReview(ctx context.Context, runID string) error {
	return s.db.write(ctx, func(t tx) error {
		_, err := t.exec(ctx, `DELETE FROM reviews WHERE run_id = ? AND published_at = 0`, runID)
		return wrap(err, "drop review %s", runID)
	})
}

// PreviousReport implements ports.Store.
func (s history) PreviousReport(ctx context.Context, key, headSHA string) (*pipeline.PreviousReport, error) {
	var packed []byte
	err := s.db.read(ctx, func(t tx) error {
		return t.row(ctx, `
			SELECT report FROM reviews WHERE target_key = ? AND published_at > 0 AND head_sha <> ?
			ORDER BY id DESC LIMIT 1`, key, headSHA).Scan(&packed)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the previous report of %s: %w", key, err)
	}
	var report pipeline.Report
	if err := unpack(packed, &report); err != nil {
		return nil, fmt.Errorf("read the previous report of %s: %w", key, err)
	}
	return report.AsPrevious(), nil
}

// HeadDecisions implements ports.Store.
func (s history) HeadDecisions(ctx context.Context, repoID int64, headSHA string) ([]ports.HeadDecision, error) {
	return listNow(ctx, s.db, "list the decisions on head "+headSHA, func(row scanner) (d ports.HeadDecision, err error) {
		err = row.Scan(append(targetDest(&d.Target), &d.Decision, &d.Pending)...)
		return d, err
	}, `SELECT t.kind, t.installation, t.repo_id, t.owner, t.name, t.number, t.head_sha, t.base_sha, t.head_ref,
			coalesce(r.decision, ''), t.wanted > t.done AND r.id IS NULL
		FROM targets t LEFT JOIN reviews r ON NOT (t.gave_up = 1 AND t.done = t.wanted)
			AND r.id = (SELECT max(n.id) FROM reviews n WHERE n.target_key = t.key AND n.head_sha = t.head_sha AND n.generation = t.wanted)
		WHERE t.repo_id = ? AND t.head_sha = ? AND t.kind = ? AND t.closed = 0
		ORDER BY t.number`, repoID, headSHA, string(ports.TargetPull))
}
