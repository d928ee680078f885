package ghtest

import "time"

// StartOtherCheck starts a check run of another App, by its slug, on a commit, and sends
// check_run created.
func (cs *Checks) StartOtherCheck(app, name, headSHA string) (view CheckRun) {
	cs.repo.s.happens(func() []event {
		c := cs.add(CheckRun{Name: name, HeadSHA: headSHA, Status: "in_progress", StartedAt: cs.repo.s.now()}, app)
		view = c.view()
		return []event{c.event("created", cs.repo.s.state.account(app+"[bot]", "Bot"), nil)}
	})
	return view
}

// EndOtherCheck completes a check run of another App with its annotations, and sends
// check_run completed. It may rewrite a completed run, like a client that corrects itself.
func (cs *Checks) EndOtherCheck(id int64, conclusion string, annotations ...Annotation) {
	cs.repo.s.happens(func() []event {
		c := cs.run(id)
		if c == nil || !c.others() {
			return impossible("end check run %d: it does not exist or is the App's own", id)
		}
		c.Status, c.Conclusion, c.CompletedAt, c.Annotations = "completed", conclusion, cs.repo.s.now(), annotations
		return []event{c.event("completed", cs.repo.s.state.account(c.by+"[bot]", "Bot"), nil)}
	})
}

// OtherCheck starts and completes a check run of another App. If the App already has a run of
// this name on the commit, only the newest is listed as the latest.
func (cs *Checks) OtherCheck(app, name, headSHA, conclusion string, annotations ...Annotation) CheckRun {
	c := cs.StartOtherCheck(app, name, headSHA)
	cs.EndOtherCheck(c.ID, conclusion, annotations...)
	return c
}

// SubmitAsApp submits a review of the head as another App, by its slug, and sends
// pull_request_review submitted.
func (rv *Reviews) SubmitAsApp(app, state, body string) Review {
	return rv.submit(app+"[bot]", "Bot", state, body)
}

// EndOtherSuite sends check_suite completed for the check runs of another App on
// a commit.
func (cs *Checks) EndOtherSuite(app, headSHA string) {
	head, err := cs.repo.git.objects.commit(headSHA)
	if err != nil {
		cs.repo.s.opts.Fail("end the check suite of %s: %v", app, err)
	}
	cs.repo.s.happens(func() []event {
		e := cs.suiteEvent("completed", app, cs.repo.branchAt(headSHA), "", head, cs.repo.s.state.account(app+"[bot]", "Bot"))
		suite := e.payload["check_suite"].(object)
		suite["status"], suite["conclusion"] = "completed", "success"
		return []event{e}
	})
}

// Alert is a code scanning alert of a pull request.
type Alert struct {
	Number             int // set when the alert is recorded
	Ref                string
	Tool, Rule         string
	Description        string
	Severity           string // none, note, warning or error
	SecuritySeverity   string // low, medium, high, critical, or empty
	Path               string
	StartLine, EndLine int
	Message            string
	HelpURI            string
	State              string // open, dismissed or fixed; a new alert is open

	createdAt time.Time
}

// Alerts are the code scanning alerts of a pull request.
type Alerts struct{ pull *PullRequest }

// codeScanning is a repository's code scanning data.
type codeScanning struct {
	on       bool
	analysed map[string]bool // refs
	alerts   []*Alert
}

// EnableCodeScanning switches code scanning on. Without it alerts are refused. A ref has no
// alerts before it was analysed.
func (r *Repo) EnableCodeScanning() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.scanning.on = true
}

// Analysed records an analysis of the pull request's merge result, which found the alerts. It
// sends code_scanning_alert appeared_in_branch for each, and returns them with their numbers.
func (al *Alerts) Analysed(alerts ...Alert) []Alert {
	r, ref := al.pull.repo, al.ref()
	r.s.happens(func() (events []event) {
		r.scanning.on = true
		if r.scanning.analysed == nil {
			r.scanning.analysed = map[string]bool{}
		}
		r.scanning.analysed[ref] = true
		for i := range alerts {
			a := alerts[i]
			a.Number, a.Ref, a.State, a.createdAt = len(r.scanning.alerts)+1, ref, "open", r.s.now()
			r.scanning.alerts = append(r.scanning.alerts, &a)
			alerts[i] = a
			events = append(events, r.alertEvent("appeared_in_branch", &a, r.s.state.account("github", "Organization"), ref))
		}
		return events
	})
	return alerts
}

// Fix makes an alert fixed by a later analysis, and sends
// code_scanning_alert fixed.
func (al *Alerts) Fix(number int) {
	al.end(number, "fixed", "fixed", "github", "Organization")
}

// Dismiss lets a user dismiss an alert, and sends code_scanning_alert closed_by_user.
func (al *Alerts) Dismiss(login string, number int) {
	al.end(number, "dismissed", "closed_by_user", login, "User")
}

// end gives an alert its last state and sends the event of the action, from the account.
func (al *Alerts) end(number int, state, action, login, kind string) {
	r := al.pull.repo
	r.s.happens(func() []event {
		if number < 1 || number > len(r.scanning.alerts) {
			return impossible("make alert %d %s: it does not exist", number, state)
		}
		a := r.scanning.alerts[number-1]
		a.State = state
		ref := al.ref()
		if action == "closed_by_user" {
			ref = "" // as without an analysis
		}
		sender := r.s.state.account(login, kind)
		return []event{r.alertEvent(action, a, sender, ref)}
	})
}

// alertEvent creates a code_scanning_alert event. The lock must be held.
func (r *Repo) alertEvent(action string, a *Alert, sender *account, ref string) event {
	alert := r.s.render.alert(r, a)
	for _, listed := range []string{"updated_at", "instances_url"} {
		delete(alert, listed)
	}
	rule := alert["rule"].(object)
	for _, listed := range []string{"security_severity_level", "help_uri"} {
		delete(rule, listed)
	}
	return r.event("code_scanning_alert", action, sender, object{"alert": alert, "ref": ref, "commit_oid": zeroSHA})
}
