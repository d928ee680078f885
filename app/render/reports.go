package render

import "github.com/reviewgate/reviewgate/pipeline"

// outcome holds the values for the phrases about the review reports of one document.
type outcome struct {
	Proceed, Plan             bool
	Cautious                  bool // not every reviewer says that the document is ready
	Place                     safe
	Rationale, Readiness      safe
	Score, Grade, NoScore     safe
	Spec, Business, Technical safe // empty without a score
	Agents                    []safe
	Errors                    []safe
	Advice                    []safe // the first recommendations
	All                       int    // number of all recommendations
	Check                     bool   // nothing is collapsed
}

// outcomes says for each document what its review reports decide. The short form has no
// recommendations, because they are also among the findings.
func (s sections) outcomes(layout string, check, short bool) items {
	return each(s.r.Report.ReviewReports, func(o *pipeline.ReviewReportOutcome) safe {
		out := s.outcome(o)
		if out.Check = check; short {
			out.Advice = nil
		}
		return say(layout, out)
	})
}

func (s sections) outcome(o *pipeline.ReviewReportOutcome) outcome {
	const maxAgents, maxAdvice, maxErrors = 8, 5, 10
	out := outcome{
		Proceed: o.Proceed, Plan: o.Phase == pipeline.PhasePlan, Cautious: o.Readiness != pipeline.Ready,
		Place:     s.reportsAt(o.Place),
		Rationale: sentence(s.p.text(o.Rationale, maxReason)),
		Readiness: s.p.text(string(o.Readiness), maxName),
		Agents:    first(o.ReviewPaths, maxAgents, func(name string) safe { return s.p.text(name, maxName) }),
		All:       len(o.Recommendations),
	}
	if q := &o.QualityScores; q.Error != "" {
		out.NoScore = s.p.text(q.Error, maxReason)
	} else {
		out.Score, out.Grade = decimal(&q.OverallScore), s.p.text(q.Grade, maxName)
		out.Spec, out.Business, out.Technical = decimal(q.Components.SpecQuality), decimal(q.Components.BusinessAlignment), decimal(q.Components.TechnicalFeasibility)
	}
	out.Errors = first(o.Errors, maxErrors, func(e pipeline.ReviewReportError) safe {
		return say("outcome problem", struct{ Source, Error, Recovery safe }{
			s.p.code(clipPath(e.Source, maxPath), maxPath), sentence(s.p.text(e.Error, maxReason)), sentence(s.p.text(e.Recovery, maxReason)),
		})
	})
	for _, r := range o.Recommendations[:min(len(o.Recommendations), maxAdvice)] {
		out.Advice = append(out.Advice, s.advice(&r))
	}
	return out
}

// reportsAt names the place of reports: a directory at the head, or comments.
func (s sections) reportsAt(place string) safe {
	if place == pipeline.ReviewReportsInComments || place == "" {
		return say("in comments", nil)
	}
	return s.p.link(s.p.code(clipPath(place, maxPath), maxPath), s.k.directory(place))
}

// advice puts a recommendation into words. It leaves out the severity, which is that of the whole
// report.
func (s sections) advice(r *pipeline.Recommendation) safe {
	a := struct{ Priority, Category, Finding, Recommendation, Location, Reviewer safe }{
		Priority: s.p.text(r.Priority, maxName), Category: s.p.text(r.Category, maxName),
		Finding: sentence(s.p.text(r.Finding, maxReason)), Location: s.p.text(r.Location, maxPath),
		Reviewer: s.p.text(r.Reviewer, maxName),
	}
	if r.Recommendation != r.Finding {
		a.Recommendation = sentence(s.p.text(r.Recommendation, maxReason))
	}
	return say("advice", a)
}
