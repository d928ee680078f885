package apptest

import (
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// Client is the change of the nth pull request.
func Client(n int, text string) ghtest.Files {
	return ghtest.Files{fmt.Sprintf("store/client%d.go", n): text, fmt.Sprintf("store/client%d_test.go", n): "package store\n"}
}

// Failing is a change that has the finding, told from others by its number.
func Failing(n int) ghtest.Files {
	return Tested(ghtest.Files{"store/client.go": strings.Replace(Insecure, "// Client talks", fmt.Sprintf("// Client %d talks", n), 1)})
}

// Many adds a hundred files, so that the list has two pages.
func Many(files ghtest.Files) ghtest.Files {
	for i := range 100 {
		files[fmt.Sprintf("assets/%03d.txt", i)] = "text\n"
	}
	return files
}

// LongFile is a Go file that stays more than half the same with a line more.
func LongFile(more string) string {
	return "package store\n\n" + strings.Repeat("// A line that stays the same.\n", 40) + more
}

// Numbered are n files of one content.
func Numbered(n int, content string) ghtest.Files {
	files := ghtest.Files{}
	for i := range n {
		files[fmt.Sprintf("store/n%04d.go", i)] = content
	}
	return files
}

// Clean is a change without findings.
func Clean() ghtest.Files {
	return ghtest.Files{"store/client.go": Secure, "store/client_test.go": "package store\n"}
}

// Tested is what a change brings besides the client, so that nothing else is
// found in it.
func Tested(files ghtest.Files) ghtest.Files {
	files["store/client_test.go"] = "package store\n"
	return files
}

// Moved is the insecure client, further down in its file.
var Moved = strings.Replace(Insecure, "// Client talks", "// Timeout is in seconds.\nconst Timeout = 5\n\n// Client talks", 1)
