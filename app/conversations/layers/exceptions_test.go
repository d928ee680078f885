package layers

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// A change that edits exceptions shows what they would hide of the change. They do not count
// before they are merged.
func TestProposedExceptionsArePreviewed(t *testing.T) {
	t.Parallel()
	key := "x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ"
	secret := ghtest.Files{"store/key.go": "package store\n\nconst token = \"ghp_" + key + "\"\n"}
	insecure := ghtest.Files{"store/client.go": apptest.Insecure}
	for name, tt := range sample.Map(t, 3, map[string]struct {
		base, files ghtest.Files
		conclusion  string
		says        []string
		saysNot     string
	}{
		"all vendored": {
			nil, ghtest.Files{".gitattributes": "* linguist-vendored\n", "store/client.go": apptest.Insecure},
			"action_required", []string{"`.gitattributes`", "2 files of this change would count as vendored: `.gitattributes`, `store/client.go`"}, "cover nothing",
		},
		"a directory generated": {
			nil, ghtest.Files{".gitattributes": "store/** linguist-generated\n", "store/client.go": apptest.Insecure},
			"action_required", []string{"1 file of this change would count as generated: `store/client.go`"}, "cover nothing",
		},
		"less vendored than before": {
			ghtest.Files{".gitattributes": "store/** linguist-vendored\n"}, ghtest.Files{".gitattributes": "store/** -linguist-vendored\n", "store/a_test.go": "package store\n"},
			"success", []string{"cover nothing of this change"}, "would count as vendored",
		},
		"a script binary": {
			nil, ghtest.Files{".gitattributes": "*.sh binary\n", "tool.sh": noise},
			"action_required", []string{"1 file of this change would count as binary, and need not be read: `tool.sh`"}, "cover nothing",
		},
		"a secret allowed by its path": {
			nil, join(secret, ghtest.Files{".gitleaks.toml": "[[allowlists]]\npaths = ['''store/key\\.go''']\n"}),
			"failure", []string{"`.gitleaks.toml`", "1 gone"}, "cover nothing",
		},
		"a secret allowed by an expression": {
			nil, join(secret, ghtest.Files{".gitleaks.toml": "[[allowlists]]\nregexes = ['''x7Kq2mVb9''']\n"}),
			"failure", []string{"1 gone"}, "cover nothing",
		},
		"an expression that matches everything": {
			nil, join(secret, ghtest.Files{".gitleaks.toml": "[[allowlists]]\nregexes = ['''.*''']\n"}),
			"failure", []string{"mistake", ".gitleaks.toml"}, "1 gone",
		},
		"no effect on this change": {
			nil, ghtest.Files{".gitattributes": "legacy/** linguist-vendored\n", "store/a_test.go": "package store\n"},
			"success", []string{"The exceptions that it changes cover nothing of this change"}, "would count as",
		},
		"paths ignored by the settings": {
			nil, join(insecure, ghtest.Files{config.RepositoryDir + "/" + config.FileSettings: `{"ignore": [{"paths": ["store/**"], "reason": "old"}]}`}),
			"action_required", []string{"1 gone"}, "",
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			if tt.base != nil {
				w.Repo.Commit("main", tt.base, "exceptions")
				w.Idle()
			}
			pr := w.Another("proposes", tt.files)
			w.Idle()
			c := w.Check(pr)
			text := c.Summary + c.Text
			if c.Conclusion != tt.conclusion {
				t.Errorf("the check is %s (%s)", c.Conclusion, c.Title)
			}
			comment := w.Comment(pr).Body
			for _, words := range tt.says {
				if !strings.Contains(text, words) || !strings.Contains(comment, words) {
					t.Errorf("neither check nor comment contains %q:\n%s", words, comment)
				}
			}
			if tt.saysNot != "" && strings.Contains(comment, tt.saysNot) {
				t.Errorf("the comment says %q:\n%s", tt.saysNot, comment)
			}
			if strings.Contains(text+comment, key) {
				t.Error("the secret is shown")
			}
		})
	}
}

// noise is data that is not text.
var noise = "\x01\x02\x03" + strings.Repeat("\xfe\x9c\x00\x81", 500)

func join(all ...ghtest.Files) ghtest.Files {
	files := ghtest.Files{}
	for _, f := range all {
		for path, text := range f {
			files[path] = text
		}
	}
	return files
}
