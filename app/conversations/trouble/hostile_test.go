package trouble

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// hostile is a change with few bytes that needs much memory. base is the text that it
// removes.
type hostile struct {
	base, files ghtest.Files
	title       string
}

// memoryChanges are such changes, each of about this many bytes.
func memoryChanges(size int) map[string]hostile {
	const files = 10
	same := func(ext, line string) ghtest.Files {
		all := ghtest.Files{}
		for i := range files {
			all[fmt.Sprintf("f%d.%s", i, ext)] = strings.Repeat(line, max(1, size/files/len(line)))
		}
		return all
	}
	many := ghtest.Files{}
	for i := range min(2900, size/700) {
		many[fmt.Sprintf("d%d/f%d.go", i%50, i)] = "package a\n"
	}
	var before, after, tokens strings.Builder
	for i := range size / 40 {
		fmt.Fprintf(&before, "a := %d\n1\n2\n3\n4\n5\n6\n7\n", i)
		fmt.Fprintf(&after, "b := %d\n1\n2\n3\n4\n5\n6\n7\n", i)
		fmt.Fprintf(&tokens, "K=ghp_%036d\n", i*7919)
	}
	return map[string]hostile{
		"short lines":   {files: same("go", "x\n")},
		"long lines":    {files: same("js", strings.Repeat("a=b;", size/files/4))},
		"many files":    {files: many},
		"many hunks":    {base: ghtest.Files{"h.go": before.String()}, files: ghtest.Files{"h.go": after.String()}},
		"tokens":        {files: ghtest.Files{".env": tokens.String()}},
		"findings":      {files: same("ts", "debugger;\n")},
		"removed lines": {base: same("go", "if x {\n"), files: removed(same("go", "if x {\n"))},
		"bytes":         {files: same("txt", "\x00\xff\n")},
		"UTF-16":        {files: same("ini", "p\x00=\x00x\x00\n\x00")},
		"a long title":  {files: ghtest.Files{"a.go": apptest.Secure}, title: strings.Repeat("feat: ", size/6)},
	}
}

func removed(files ghtest.Files) ghtest.Files {
	for name := range files {
		files[name] = ghtest.Gone
	}
	return files
}

// serverMemory is the memory that a server must not exceed, in bytes.
const serverMemory = 1 << 30

// Eight hostile changes at once do not end the server. Other reviews wait no longer than the
// slowest of the eight takes. All are answered.
func TestEightHostileChangesAtOnce(t *testing.T) {
	t.Parallel()
	kinds := sample.Map(t, 3, memoryChanges(sample.Size(200<<10, 2<<20)))
	limits := ghtest.GitHubLimits()
	limits.RequestsPerHour, limits.PointsPerMinute, limits.CreationsPerMinute = 0, 0, 0 // a refused call would keep memory free
	gh := ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret, Limits: &limits, WebhookTimeout: apptest.Patience})
	repo := gh.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
	server := apptest.NewChild(t, gh)
	server.Memory = serverMemory
	server.Start()
	for _, h := range kinds {
		if len(h.base) > 0 {
			repo.Commit("main", h.base, "before")
		}
	}
	names := slices.Sorted(maps.Keys(kinds))
	opened := map[string]*ghtest.PullRequest{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 8 {
		kind := names[i%len(names)]
		h, name := kinds[kind], fmt.Sprintf("%s %d", kind, i)
		all.Go(func() {
			pr := repo.OpenPR(ghtest.PR{
				Title: cmp.Or(h.title, "feat: "+name), Body: apptest.GoodBody, Head: strings.ReplaceAll(name, " ", "-"), Author: "mallory", Files: h.files,
			})
			mu.Lock()
			defer mu.Unlock()
			opened[name] = pr
		})
	}
	all.Wait()
	began := time.Now()
	small := repo.OpenPR(ghtest.PR{Title: "feat: small", Body: apptest.GoodBody, Head: "small", Author: "bob", Files: ghtest.Files{"s.go": apptest.Secure}})
	took := map[string]time.Duration{}
	var others time.Duration
	var most int64
	for until := time.Now().Add(apptest.Patience); len(took) < len(opened) || others == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) || server.Ended(0) {
			for name, pr := range opened {
				if took[name] == 0 {
					t.Errorf("%s has no answer: %+v", name, pr.CheckRuns())
				}
			}
			t.Fatalf("no answer after %s; the server has ended: %v", time.Since(began), server.Ended(0))
		}
		for name, pr := range opened {
			if took[name] == 0 && answered(pr) {
				took[name] = time.Since(began)
			}
		}
		if others == 0 && answered(small) {
			others = time.Since(began)
		}
		_, now := server.Takes()
		most = max(most, now)
	}
	resident, _ := server.Takes()
	t.Logf("at most %d MB resident, %d MB of data of %d MB; the small change was answered after %s, the others after %v",
		resident>>20, most>>20, int64(serverMemory)>>20, others, took)
	if resident > serverMemory {
		t.Errorf("the server uses %d MB", resident>>20)
	}
}

// answered reports whether the head has a completed check.
func answered(pr *ghtest.PullRequest) bool {
	runs := pr.CheckRuns()
	return len(runs) > 0 && runs[len(runs)-1].Completed()
}
