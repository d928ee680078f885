package fixloop

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// maxSeen is the number of commits that a state remembers. If there are more, it remembers only
// those of the newest head, so an older commit could count again.
const maxSeen = 1000

// turns counts the new commits as turns of the open attempt.
func (s *State) turns(commits []pipeline.Commit) {
	have := map[string]int{}
	for _, c := range commits {
		if !merges(c.Message) {
			have[commitKey(c)]++
		}
	}
	seen := s.Seen
	if seen == nil {
		seen = map[string]int{}
	}
	for key, n := range have {
		if more := n - seen[key]; more > 0 {
			if s.Status == Fixing {
				s.Turns += more
			}
			seen[key] = n
		}
	}
	if len(seen) > maxSeen {
		seen = have
	}
	s.Seen = seen
}

// commitKey identifies a commit, also after a rebase.
func commitKey(c pipeline.Commit) string {
	sum := sha256.Sum256([]byte(c.Author + "\x00" + strings.TrimSpace(c.Message)))
	return hex.EncodeToString(sum[:8])
}

// merges reports whether a commit message is the one that git or GitHub writes for a merge of
// another branch.
func merges(message string) bool {
	return slices.ContainsFunc([]string{"Merge branch '", "Merge remote-tracking branch '", "Merge pull request #"}, func(prefix string) bool {
		return strings.HasPrefix(message, prefix)
	})
}
