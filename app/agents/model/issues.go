package model

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// maxLinked is how many linked issues are read: a change does what a few ask for.
const maxLinked = 5

// closing is how GitHub has a description close an issue, of this repository or of
// one that is named, by its number or by its address. Whose server the address
// names doesn't matter: nothing but the number is asked for.
var closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?[ \t]+` +
	`(?:([a-z0-9-]{1,39}/[a-z0-9._-]{1,100})?#|https?://[a-z0-9.:-]+/([a-z0-9-]{1,39}/[a-z0-9._-]{1,100})/issues/)([1-9][0-9]{0,8})\b`)

// linkedNumbers are the issues of the change's own repository that its description says
// it closes, in the order in which they are named. Issues of other repositories do not
// count. Neither does an HTML comment, which comes with templates.
func linkedNumbers(f *pipeline.PRFacts) (numbers []int) {
	for _, m := range closing.FindAllStringSubmatch(withoutComments(f.Body, ""), -1) {
		n, err := strconv.Atoi(m[3])
		of := m[1] + m[2]
		ours := of == "" || strings.EqualFold(of, f.Repository.FullName())
		if err != nil || !ours || n == f.Number || slices.Contains(numbers, n) {
			continue
		}
		if numbers = append(numbers, n); len(numbers) == maxLinked {
			break
		}
	}
	return numbers
}

// IssueReader reads an issue of the change's repository. It is a part of
// [ports.Discussion].
type IssueReader interface {
	LinkedIssue(ctx context.Context, number int) (ports.LinkedIssue, error)
}

// LinkedIssues reads what a change is to do. An issue that does not exist, or that may not
// be read, is left out: a number that somebody typed must not hold up the review.
func LinkedIssues(ctx context.Context, src IssueReader, f *pipeline.PRFacts) (issues []ports.LinkedIssue, err error) {
	for _, n := range linkedNumbers(f) {
		i, err := src.LinkedIssue(ctx, n)
		var host *ports.HostError
		switch {
		case errors.As(err, &host) && (host.Kind == ports.HostNotFound || host.Kind == ports.HostForbidden):
		case err != nil:
			return nil, fmt.Errorf("read issue %d, which the change is to close: %w", n, err)
		default:
			issues = append(issues, i)
		}
	}
	return issues, nil
}
