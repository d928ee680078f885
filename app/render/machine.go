package render

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/policies/fixloop"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// machineReadable returns the section for other tools. It leaves out recommendations that do
// not fit, starting with the least important.
func (r *report) machineReadable() safe {
	if slices.Contains(r.moved, config.SectionReport) {
		return ""
	}
	room := r.roomBelow(roomMachine)
	record := reviewreport.FromReview(&r.view.Review.Report, plainTitle(r.view), "")
	if l := &r.view.FixLoop; l.Begun() || l.Status != fixloop.Pending {
		record.FixLoop = &reviewreport.FixLoop{State: l.Name(), Attempt: l.Attempt, MaxAttempts: l.Max}
	}
	if s := r.view.Review.Report.Session; s != nil {
		record.Session = &reviewreport.Session{Status: s.State.Status(), Rule: s.Rule, Cycle: s.Cycle, Waiting: len(s.Waiting) > 0}
	}
	advice := &record.SuccessEvidence.ReviewFindings.Recommendations
	text := machineText(&record)
	for len(text) > room && len(*advice) > 0 {
		*advice = (*advice)[:len(*advice)-1]
		text = machineText(&record)
	}
	return say("md details", details{
		Name: say("heading machine-readable", nil), Summary: say("machine-readable summary", nil), Body: safe(text),
	})
}

// wholeReport returns the review's report as JSON, collapsed, or "" if it takes more than room
// bytes.
func (r *report) wholeReport(room int) safe {
	if left := room; longer(reflect.ValueOf(&r.r.Report), &left) {
		return ""
	}
	text, err := json.MarshalIndent(&r.r.Report, "", " ")
	if err != nil || len(text) > room {
		return ""
	}
	body := say("md details", details{
		Name: say("heading report", nil), Summary: say("report summary", nil),
		Body: r.p.block("json", strings.Split(string(escaped(text)), "\n")),
	})
	if len(body) > room {
		return ""
	}
	return body
}

// longer reports whether the strings, structs and lists in v need more than room bytes as JSON.
// It saves encoding a report of many megabytes only to leave it out. It takes what it finds from
// room, and stops once nothing is left.
func longer(v reflect.Value, room *int) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && longer(v.Elem(), room)
	case reflect.String:
		*room -= v.Len()
	case reflect.Struct:
		*room -= len("{}")
		for i := range v.NumField() {
			if longer(v.Field(i), room) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if longer(v.Index(i), room) {
				return true
			}
		}
	}
	return *room < 0
}

// machineText returns a record without a time, with the mark in the time's place. No text
// in the record can look like the field, because quotes in texts are escaped.
func machineText(record *reviewreport.Record) string {
	const field = `"execution_timestamp": "`
	text := string(escaped([]byte(reviewreport.Write(record))))
	return strings.Replace(text, field+`"`, field+markTime+`"`, 1)
}

// timestamp returns when a run ended, in ISO 8601 and UTC, or "" if that is not known.
func timestamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
