package harness

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// TestIdle measures the memory of an idle server: after its start on an empty database, and
// again after some reviews. The figures are printed and not judged.
func TestIdle(t *testing.T) {
	large(t)
	seed := begin(t)
	onDatabases(t, []string{sqlite}, func(t *testing.T, s setup) {
		s.seed, s.limits, s.logInterval, s.weighed = seed, unlimited(), 24*time.Hour, true
		w := newWorld(t, s)
		server := w.servers[0]
		if measured() { // start again on an empty database, because the binary is in memory now
			server.kill()
			if w.database == sqlite {
				removeDatabase(t, w.dir)
			}
			if err := server.start(); err != nil {
				t.Fatal(err)
			}
		}
		var f figures
		f.add("ready", "%s", short(server.took))
		time.Sleep(*flagRest)
		f.add("idle after the start", "%s", server.resident())

		n := or(*flagPulls, 5)
		repos := w.repos(min(n, 20))
		w.gh.On("*", ghtest.Delay(callLatency))
		for i := range n {
			p := &pull{repo: repos[i%len(repos)], name: fmt.Sprintf("change-%d", i), author: "alice"}
			p.begin(i%2 == 0)
		}
		reviewed := func() bool { return w.metric("reviewgate_reviews_total") >= float64(n) && w.quiet() }
		if !until(*flagPatience, reviewed) {
			t.Errorf("%.0f of %d reviews after %s", w.metric("reviewgate_reviews_total"), n, *flagPatience)
		}
		f.add("after reviews", "%d: %s", n, server.resident())
		time.Sleep(*flagRest)
		f.add("idle again", "%s", server.resident())
		f.print(t)
	})
}

func removeDatabase(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "reviewgate.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the database can't be removed: %v", err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}

// resident returns the memory that the system counts for the process, the part of it that is
// not pages of the program, and the live part of Go's heap.
func (s *server) resident() string {
	heap := int64(s.metrics()["go_memstats_heap_alloc_bytes"])
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return "only Linux tells"
	}
	defer f.Close()
	found := map[string]int64{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		if kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, " kB")), 10, 64); err == nil {
			found[name] = kb << 10
		}
	}
	return fmt.Sprintf("%s, its own %s, heap %s", mb(found["VmRSS"]), mb(found["RssAnon"]), mb(heap))
}
