package sessions_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fourrules"
	"github.com/reviewgate/reviewgate/policies/sessions"
)

// cycle makes a cycle of answers such as "codex:concerns gemini:missing".
func cycle(number int, head, answers string, waiting bool) sessions.Cycle {
	c := sessions.Cycle{Number: number, HeadSHA: head, Reviewers: []string{"codex", "gemini", "qwen", "a", "b", "c", "z"}}
	for _, a := range strings.Fields(answers) {
		name, verdict, _ := strings.Cut(a, ":")
		r := sessions.Reviewer{Name: name, Waiting: waiting && verdict == "missing"}
		if verdict != "missing" {
			r.Result = &fourrules.Result{
				Type: fourrules.TypeResult, Reviewer: name, Timestamp: time.Unix(1, 0),
				Payload: fourrules.Payload{Verdict: fourrules.Verdict(verdict), Summary: name + " says " + verdict},
			}
		}
		c.Asked = append(c.Asked, r)
	}
	return c
}

// seen returns a resume by somebody who saw the state.
func seen(s pipeline.SessionState) *pipeline.SessionResume {
	return &pipeline.SessionResume{By: "ann", Escalation: s.Escalation, Pause: s.Pause, Answers: s.Answers}
}

// stand describes a state in a few words, such as "PAUSED rule 1: escalated by codex; concerns of gemini".
func stand(s pipeline.SessionState) string {
	text := fmt.Sprintf("%s rule %d", s.Status(), s.Rule)
	if s.Escalation != nil {
		text += "; escalated by " + strings.Join(s.Escalation.Reviewers, ", ")
	}
	if s.Pause != nil {
		text += fmt.Sprintf("; paused by rule %d: %s", s.Pause.Rule, strings.Join(s.Pause.Reviewers, ", "))
	}
	for _, c := range s.Concerns {
		text += "; concern of " + c.Reviewer
	}
	return text
}

func TestSessions(t *testing.T) {
	type step struct {
		// "1 a ANSWERS" for cycle 1 and head a, with "waiting" in front if answers may still come; "look"
		// by somebody who resumes later; or "resume" by that person, or else by one who looks now.
		do   string
		want string // "undecided" if nothing is decided
	}
	for name, steps := range map[string][]step{
		"the rules": {
			{"1 a codex:approved gemini:approved", "RUNNING rule 4"},
			{"2 a codex:concerns gemini:approved", "RUNNING rule 3; concern of codex"},
			{"3 b codex:approved gemini:concerns", "RUNNING rule 3; concern of gemini"},
			{"4 b codex:approved gemini:missing", "PAUSED rule 0; paused by rule 0: gemini; concern of gemini"},
			{"5 b codex:concerns gemini:concerns", "PAUSED rule 2; paused by rule 2: codex, gemini; concern of codex; concern of gemini"},
			{"6 c codex:approved gemini:approved", "RUNNING rule 4"},
			{"7 c codex:concerns gemini:missing", "PAUSED rule 0; paused by rule 0: gemini; concern of codex"},
		},
		"only a person ends an escalation": {
			{"1 a codex:blocker gemini:approved", "PAUSED rule 1; escalated by codex"},
			{"2 b codex:approved gemini:approved", "PAUSED rule 4; escalated by codex"},
			{"resume", "RUNNING rule 4"},
			{"3 b codex:approved gemini:approved", "RUNNING rule 4"},
		},
		"a resume ends both pauses": {
			{"1 a codex:blocker gemini:approved", "PAUSED rule 1; escalated by codex"},
			{"2 b codex:approved gemini:missing", "PAUSED rule 0; escalated by codex; paused by rule 0: gemini"},
			{"resume", "RUNNING rule 0"},
		},
		"a resume settles the answers that the person saw": {
			{"1 a codex:blocker gemini:missing", "PAUSED rule 1; escalated by codex"},
			{"resume", "RUNNING rule 1"},
			{"1 a codex:blocker gemini:missing", "RUNNING rule 1"},
			{"1 a codex:blocker gemini:concerns", "RUNNING rule 1; concern of gemini"},
			{"2 a codex:blocker gemini:approved", "PAUSED rule 1; escalated by codex"},
		},
		"a resume ends only what the person saw": {
			{"1 a codex:concerns gemini:concerns qwen:missing", "PAUSED rule 2; paused by rule 2: codex, gemini; concern of codex; concern of gemini"},
			{"look", "PAUSED rule 2; paused by rule 2: codex, gemini; concern of codex; concern of gemini"},
			{"1 a codex:concerns gemini:concerns qwen:blocker", "PAUSED rule 1; escalated by qwen; concern of codex; concern of gemini"},
			{"resume", "PAUSED rule 1; escalated by qwen; concern of codex; concern of gemini"},
		},
		"an answer that may still come is not settled": {
			{"waiting 1 a codex:blocker gemini:missing", "PAUSED rule 1; escalated by codex"},
			{"resume", "RUNNING rule 1"},
			{"waiting 1 a codex:blocker gemini:missing", "undecided"},
			{"1 a codex:blocker gemini:missing", "PAUSED rule 0; paused by rule 0: gemini"},
		},
		"a reviewer that was not asked keeps its pause": {
			{"1 a codex:concerns gemini:concerns", "PAUSED rule 2; paused by rule 2: codex, gemini; concern of codex; concern of gemini"},
			{"2 a codex:approved", "PAUSED rule 4; paused by rule 2: codex, gemini; concern of gemini"},
			{"3 a codex:approved gemini:approved", "RUNNING rule 4"},
		},
		"a late concern pauses again together with a settled one": {
			{"1 a codex:concerns gemini:missing", "PAUSED rule 0; paused by rule 0: gemini; concern of codex"},
			{"resume", "RUNNING rule 0; concern of codex"},
			{"1 a codex:concerns gemini:concerns", "PAUSED rule 2; paused by rule 2: codex, gemini; concern of codex; concern of gemini"},
			{"resume", "RUNNING rule 2; concern of codex; concern of gemini"},
			{"1 a codex:concerns gemini:concerns", "RUNNING rule 2; concern of codex; concern of gemini"},
		},
		"a late blocker after a resume escalates": {
			{"1 a codex:missing gemini:approved", "PAUSED rule 0; paused by rule 0: codex"},
			{"resume", "RUNNING rule 0"},
			{"1 a codex:blocker gemini:approved", "PAUSED rule 1; escalated by codex"},
		},
		"a late answer decides again": {
			{"1 a codex:approved gemini:missing", "PAUSED rule 0; paused by rule 0: gemini"},
			{"1 a codex:approved gemini:approved", "RUNNING rule 4"},
		},
		"a late blocker replaces the pause of its cycle": {
			{"1 a codex:concerns gemini:concerns qwen:missing", "PAUSED rule 2; paused by rule 2: codex, gemini; concern of codex; concern of gemini"},
			{"1 a codex:concerns gemini:concerns qwen:blocker", "PAUSED rule 1; escalated by qwen; concern of codex; concern of gemini"},
		},
		"a blocker doesn't wait for the others": {
			{"waiting 1 a codex:approved gemini:missing", "undecided"},
			{"waiting 1 a codex:concerns gemini:concerns qwen:missing", "undecided"},
			{"waiting 1 a codex:blocker gemini:missing", "PAUSED rule 1; escalated by codex"},
		},
		"nobody was asked": {
			{"1 a codex:concerns gemini:concerns", "PAUSED rule 2; paused by rule 2: codex, gemini; concern of codex; concern of gemini"},
			{"2 b ", "undecided"},
		},
		"a resume of a running session settles nothing": {
			{"1 a codex:concerns gemini:approved", "RUNNING rule 3; concern of codex"},
			{"resume", "RUNNING rule 3; concern of codex"},
			{"1 a codex:concerns gemini:concerns", "PAUSED rule 2; paused by rule 2: codex, gemini; concern of codex; concern of gemini"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s pipeline.SessionState
			resumes := 0
			var looked *pipeline.SessionResume
			for _, step := range steps {
				before := encode(t, s)
				was := s
				switch step.do {
				case "look":
					looked = seen(s)
				case "resume":
					resumes++
					s, _ = sessions.Resume(s, resumes, cmp.Or(looked, seen(s)))
				default:
					words, waiting := strings.CutPrefix(step.do, "waiting ")
					number := 0
					parts := strings.SplitN(words, " ", 3)
					fmt.Sscan(parts[0], &number)
					next, _, decided := sessions.Next(s, cycle(number, parts[1], parts[2], waiting))
					if decided != (step.want != "undecided") {
						t.Fatalf("%s: decided %v", step.do, decided)
					}
					if !decided {
						if diff := gocmp.Diff(s, next); diff != "" {
							t.Errorf("%s changed the state:\n%s", step.do, diff)
						}
						continue
					}
					s = next
				}
				if got := stand(s); got != step.want {
					t.Errorf("after %q: %s, want %s", step.do, got, step.want)
				}
				if after := encode(t, was); after != before {
					t.Errorf("%s changed the state that was given", step.do)
				}
			}
		})
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Whatever reviewers answer, an escalation ends only by a resume, a session runs only if nothing
// pauses it, a repeated cycle changes nothing, and one more bad answer resumes nothing.
func TestSessionsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s pipeline.SessionState
		resumes := 0
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			if rapid.IntRange(0, 5).Draw(t, "resume") == 0 {
				resumes++
				next, resumed := sessions.Resume(s, resumes, seen(s))
				if resumed != s.Paused() || next.Paused() {
					t.Fatalf("resumed %v from %s to %s", resumed, stand(s), stand(next))
				}
				s = next
				continue
			}
			var answers []string
			for _, name := range []string{"a", "b", "c"} {
				if v := rapid.SampledFrom([]string{"", "approved", "concerns", "blocker", "missing"}).Draw(t, name); v != "" {
					answers = append(answers, name+":"+v)
				}
			}
			c := cycle(max(1, s.Cycle+rapid.IntRange(0, 1).Draw(t, "newer")), rapid.SampledFrom([]string{"x", "y"}).Draw(t, "head"), strings.Join(answers, " "), rapid.Bool().Draw(t, "waiting"))
			next, d, decided := sessions.Next(s, c)
			switch {
			case s.Escalation != nil && next.Escalation == nil:
				t.Fatalf("%v ended the escalation of %s", answers, stand(s))
			case !decided && !gocmp.Equal(s, next):
				t.Fatalf("undecided, and yet %s became %s", stand(s), stand(next))
			case decided && d.Status == fourrules.Paused && !next.Paused():
				t.Fatalf("rule %d paused, and yet %s", d.Rule, stand(next))
			case decided && d.Status == fourrules.Running && next.Pause != nil && !slices.ContainsFunc(next.Pause.Reviewers, func(name string) bool {
				return !slices.ContainsFunc(c.Asked, func(r sessions.Reviewer) bool { return r.Name == name })
			}):
				t.Fatalf("rule %d does not pause, everybody was asked, and yet %s", d.Rule, stand(next))
			}
			if decided {
				again, _, _ := sessions.Next(next, c)
				if diff := gocmp.Diff(next, again); diff != "" {
					t.Fatalf("the same cycle again:\n%s", diff)
				}
				for _, worse := range []string{"concerns", "blocker", "missing"} {
					more := c
					more.Asked = append(slices.Clone(c.Asked), cycle(1, "x", "z:"+worse, false).Asked...)
					if after, _, ok := sessions.Next(s, more); ok && next.Paused() && !after.Paused() {
						t.Fatalf("with one more %s, %s became %s", worse, stand(next), stand(after))
					}
				}
			}
			s = next
		}
	})
}
