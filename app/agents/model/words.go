package model

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/pipeline"
)

// maxWords is how many characters of each text that people wrote are shown.
const maxWords = 20_000

// words are a text that people wrote about the change.
type words struct {
	section string // as answers name it
	heading string
	text    string
}

// What answers call the places of words.
const (
	inTitle       = "title"
	inDescription = "description"
	inCommits     = "commits"
	inIssues      = "issues"
)

// words are what the spec stage reads besides the diff: what is asked for comes
// before what the author says. Other stages read none.
func (a *Agent) words(ctx context.Context, facts *pipeline.PRFacts, stage string) ([]words, error) {
	if stage != pipeline.ReviewStageSpec {
		return nil, nil
	}
	list := []words{{inTitle, "the title", facts.Title}}
	if a.Issues != nil {
		issues, err := a.Issues(ctx, facts)
		if err != nil {
			return nil, fmt.Errorf("read the linked issues: %w", err)
		}
		for _, i := range issues {
			list = append(list, words{inIssues, fmt.Sprintf("issue %d, which the change is linked to", i.Number), i.Title + "\n\n" + i.Body})
		}
	}
	list = append(list, words{inDescription, "the description", facts.Body})
	for _, c := range facts.Commits {
		list = append(list, words{inCommits, "the message of a commit", c.Message})
	}
	for i := range list {
		list[i].text = a.RedactBeside(prose(list[i].text))
	}
	return list, nil
}
