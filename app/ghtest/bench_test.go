package ghtest_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// BenchmarkCalls measures the cost of the stand-in itself. It should be small beside the cost
// of the code that is measured with it.
func BenchmarkCalls(b *testing.B) {
	gh := ghtest.Start(b, ghtest.Options{Limits: &ghtest.Limits{}})
	repo := gh.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
	files := ghtest.Files{}
	for i := range 100 {
		files[fmt.Sprintf("pkg/file%03d.go", i)] = "package pkg\n\nvar X = 1\n"
	}
	repo.OpenPR(ghtest.PR{Files: files})
	token := gh.Token("acme")
	for _, path := range []string{"/repos/acme/shop", "/repos/acme/shop/pulls/1", "/repos/acme/shop/pulls/1/files?per_page=100", "/repos/acme/shop/contents/README.md"} {
		b.Run(path[1:], func(b *testing.B) {
			for b.Loop() {
				req, err := http.NewRequest(http.MethodGet, gh.URL+path, nil)
				if err != nil {
					b.Fatal(err)
				}
				req.Header.Set("Authorization", "Bearer "+token)
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				n, err := io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK {
					b.Fatalf("status %d: %v", resp.StatusCode, err)
				}
				b.SetBytes(n)
			}
		})
	}
	http.DefaultClient.CloseIdleConnections()
}

// BenchmarkPush measures a push with its webhooks. Most of its time is git's.
func BenchmarkPush(b *testing.B) {
	gh := ghtest.Start(b, ghtest.Options{})
	repo := gh.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "0"}})
	for i := 0; b.Loop(); i++ {
		pr.Push(ghtest.Files{"a": fmt.Sprint(i)}, "more")
	}
}
