package apptest

import (
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// Client is the change of the n-th pull request.
func Client(n int, text string) ghtest.Files {
	return ghtest.Files{fmt.Sprintf("store/client%d.go", n): text, fmt.Sprintf("store/client%d_test.go", n): "package store\n"}
}

// Failing is a change with the finding. Its number makes it different from others.
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

// LongFile is a Go file that stays more than half the same after another line is added.
func LongFile(more string) string {
	return "package store\n\n" + strings.Repeat("// A line that stays the same.\n", 40) + more
}

// Numbered are n files with the same content.
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

// Tested adds the files that keep the change free of other findings.
func Tested(files ghtest.Files) ghtest.Files {
	files["store/client_test.go"] = "package store\n"
	return files
}

// Moved is the insecure client at a later place in its file.
var Moved = strings.Replace(Insecure, "// Client talks", "// Timeout is in seconds.\nconst Timeout = 5\n\n// Client talks", 1)
