package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/sessions"
)

// The bounds of a wait, and the time between two looks at the state.
const (
	minWait, maxWait = time.Second, time.Minute
	pollEvery        = time.Second
)

var (
	ownerForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)
	nameForm  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
)

// isRepository reports whether GitHub allows an owner and a repository with these names.
func isRepository(owner, name string) bool {
	return ownerForm.MatchString(owner) && nameForm.MatchString(name) && name != "." && name != ".."
}

// numberOf reads the number of a pull request. It returns 0 if the text is not such a number.
func numberOf(s string) int {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n <= 0 || s != strconv.FormatInt(n, 10) {
		return 0
	}
	return int(n)
}

// waitOf reads the parameter wait. It returns 0 if the parameter is missing.
func waitOf(q string) (time.Duration, *Problem) {
	values, err := url.ParseQuery(q)
	wait, given := values["wait"]
	if err != nil || len(values) > 1 || len(values) == 1 && !given || len(wait) > 1 {
		return 0, plain(http.StatusBadRequest, "The query is not valid. Its only parameter is wait, such as wait=60s.")
	}
	if !given {
		return 0, nil
	}
	digits, ok := strings.CutSuffix(wait[0], "s")
	n := numberOf(digits)
	d := time.Duration(n) * time.Second
	if !ok || n > int(maxWait/time.Second) || d < minWait {
		return 0, plain(http.StatusBadRequest, "wait is not valid. Write 1s to %ds, such as wait=30s.", int(maxWait.Seconds()))
	}
	return d, nil
}

// state answers with the state of a pull request, once it is settled or the wait is over.
func (a *API) state(x *exchange) reply {
	if p := a.authenticate(x); p != nil {
		return reply{problem: p}
	}
	wait, p := waitOf(x.r.URL.RawQuery)
	if p != nil {
		return reply{problem: p}
	}
	t, p := a.pullOf(x)
	if p != nil {
		return reply{problem: p}
	}
	s, p := a.settled(x, t, wait)
	if p != nil {
		if p.Status == http.StatusNotFound {
			p = noPull()
		}
		return reply{problem: p}
	}
	answer := ok(http.StatusOK, s)
	answer.etag = etagOf(answer.body)
	return answer
}

// pullOf returns the pull request in the path. If the token is not for it, the problem is the same as
// for a pull request that does not exist.
func (a *API) pullOf(x *exchange) (ports.Target, *Problem) {
	owner, name, number := x.r.PathValue("owner"), x.r.PathValue("repo"), numberOf(x.r.PathValue("number"))
	t := x.who.repo
	if number == 0 || !isRepository(owner, name) || x.who.pull != 0 && x.who.pull != number {
		return t, noPull()
	}
	if !strings.EqualFold(owner+"/"+name, t.Owner+"/"+t.Name) {
		// The repository may have been renamed since the token was made.
		var now ports.Target
		p := a.work(x, func(ctx context.Context) (err error) {
			now, err = a.Sessions.Repository(ctx, owner, name)
			return err
		})
		if p == nil && now.RepoID != t.RepoID || p != nil && p.Status == http.StatusNotFound {
			return t, noPull()
		}
		if p != nil {
			return t, p
		}
		t.Owner, t.Name, t.Installation = now.Owner, now.Name, now.Installation
	}
	t.Number, x.pull = number, number
	return t, nil
}

// settled reads the state until it is settled, but not longer than wait.
func (a *API) settled(x *exchange, t ports.Target, wait time.Duration) (s sessions.State, p *Problem) {
	read := func() *Problem {
		return a.work(x, func(ctx context.Context) (err error) {
			s, err = a.Sessions.State(ctx, t)
			return err
		})
	}
	if p := read(); p != nil || s.Settled || wait == 0 {
		return s, p
	}
	own := slots(x.quota.waits)
	if !own.take() {
		return s, manyWaits("of this token", ownWaits)
	}
	defer own.give()
	if !a.waits.take() {
		return s, manyWaits("of all tokens", maxWaits)
	}
	defer a.waits.give()
	// The server's own deadlines are shorter than a wait.
	x.deadline((*http.ResponseController).SetReadDeadline, wait+maxAnswering)
	x.deadline((*http.ResponseController).SetWriteDeadline, wait+maxAnswering)
	over := time.NewTimer(wait)
	defer over.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-over.C:
			before := s
			if p := read(); p != nil {
				s = before
			}
			return s, nil
		case <-a.drained:
			return s, nil
		case <-x.r.Context().Done():
			return s, nil // nobody reads the answer
		}
		underWay := true
		p := a.work(x, func(ctx context.Context) (err error) {
			underWay, err = a.Sessions.UnderWay(ctx, t)
			return err
		})
		before := s
		if p == nil && !underWay {
			p = read()
		}
		switch {
		case p != nil && p.Status == http.StatusServiceUnavailable:
			s = before // the next look may succeed
		case p != nil || s.Settled:
			return s, p
		}
	}
}

func manyWaits(whose string, most int) *Problem {
	return kindMany.problem(http.StatusTooManyRequests, "%d requests %s already wait for a state. Send this one later, or without wait.", most, whose).after(5 * time.Second)
}

// etagOf returns the entity tag of a body.
func etagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf("%q", hex.EncodeToString(sum[:16]))
}
