package normalize

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// Text that git re-encodes on checkout is not what the diff shows.
func TestReencodedTextGates(t *testing.T) {
	const ebcdic = "\u00c4\u00cd\u00ca%" // "curl" once it is written in IBM037
	ascii := strings.Repeat("\u6375\u726c", 2)
	for _, tt := range []struct {
		name, attributes, text string
		gates                  bool
	}{
		{"another encoding", "deploy.sh working-tree-encoding=IBM037", ebcdic, true},
		{"after a carriage return", "deploy.sh\rworking-tree-encoding=IBM037", ebcdic, true},
		{"of all files", "* text=auto working-tree-encoding=cp500\n", "a", true},
		{"of a binary file", "*.sh binary working-tree-encoding=IBM037", ebcdic, true},
		{"transliterated", "*.sh working-tree-encoding=ASCII//TRANSLIT", "a", true},
		{"by a macro", "[attr]old working-tree-encoding=IBM037\n*.sh old", ebcdic, true},
		{"by a macro of a macro", "[attr]older old\n[attr]old working-tree-encoding=IBM037\n*.sh older", ebcdic, true},
		{"by a class of letters", "[[:alpha:]]*.sh working-tree-encoding=IBM037", ebcdic, true},
		{"in octal", `"\144eploy.sh" working-tree-encoding=IBM037`, ebcdic, true},
		{"a class that is unset again", "*.sh working-tree-encoding=IBM037\n[[:digit:]].sh -working-tree-encoding", ebcdic, true},
		{"short words of ASCII in UTF-16", "*.sh working-tree-encoding=UTF-16LE", "\u7563rl -k x.y", true},
		{"other letters in UTF-16", "*.sh working-tree-encoding=UTF-16LE", "\u0438\u043c\u044f = \u043c\u0438\u0440 \u2019 \u00e4", false},
		{"ASCII in UTF-16", "*.sh working-tree-encoding=UTF-16BE", ascii, true},
		{"UTF-16", "*.sh working-tree-encoding=UTF-16LE-BOM", "curl \u00e4\u4f60\u597d", false},
		{"UTF-8", "*.sh working-tree-encoding=UTF-8", ebcdic, false},
		{"Latin-1", "*.sh working-tree-encoding=ISO-8859-1", "gr\u00f6\u00dfe", false},
		{"another file", "*.rc working-tree-encoding=IBM037", ebcdic, false},
		{"unset again", "*.sh working-tree-encoding=IBM037\ndeploy.sh -working-tree-encoding", ebcdic, false},
		{"a filter", "*.sh filter=lfs", ebcdic, false},
	} {
		facts := build(raw.PullRequest{}, raw.Files{Files: []raw.ChangedFile{
			{Path: "deploy.sh", Status: pipeline.FileModified, Additions: 1, Patch: "@@ -0,0 +1 @@\n+" + tt.text},
		}}, raw.Commits{}, []byte(tt.attributes))
		gates := len(facts.Incomplete) == 1 && facts.Incomplete[0].Gating && facts.Incomplete[0].Unread() && facts.Incomplete[0].Path == "deploy.sh"
		if gates != tt.gates || len(facts.Incomplete) > 1 {
			t.Errorf("%s: %+v", tt.name, facts.Incomplete)
		}
		Reattribute(&facts, []byte(tt.attributes))
		if again := len(facts.Incomplete) == 1; again != tt.gates {
			t.Errorf("%s, read again: %+v", tt.name, facts.Incomplete)
		}
		Reattribute(&facts, nil)
		if len(facts.Incomplete) > 0 {
			t.Errorf("%s, without attributes: %+v", tt.name, facts.Incomplete)
		}
	}
}

func TestRenamedReencodedText(t *testing.T) {
	for previous, gates := range map[string]bool{"a.rc": false, "a.txt": true} {
		facts := build(raw.PullRequest{}, raw.Files{Files: []raw.ChangedFile{
			{Path: "b.rc", PreviousPath: previous, Status: pipeline.FileRenamed},
		}}, raw.Commits{}, []byte("*.rc working-tree-encoding=UTF-16"))
		if (len(facts.Incomplete) > 0) != gates {
			t.Errorf("from %s: %+v", previous, facts.Incomplete)
		}
	}
}
