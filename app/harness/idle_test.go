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

// What an idle server may take of its own, in bytes, before and after its first reviews. How
// many pages of the program come on top is the kernel's choice: 16 to 28 MB were seen.
const (
	maxIdle   = 34 << 20
	maxRested = 46 << 20
)

// maxIdleCPU is the processor time that an idle server may take, in percent of a core. The server looks
// for work, for other processes and for sessions that are due, each about once a second.
const maxIdleCPU = 4.0

// TestIdle measures the memory of an idle server: after its start on an empty database, and
// again after some reviews. The figures are judged only for a binary that is given to the
// test: the test's own binary is larger.
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
		used := server.leaveAlone()
		started, quiet := server.memory()
		f.add("idle after the start", "%s", started)
		f.add("processor time meanwhile", "%.1f %% of a core", used)
		if *flagBinary != "" && used > maxIdleCPU {
			t.Errorf("it takes %.1f %% of a core while it is idle, want at most %.1f %%", used, maxIdleCPU)
		}
		if *flagBinary != "" && quiet.own > maxIdle {
			t.Errorf("its own %s after the start, want at most %s", mb(quiet.own), mb(maxIdle))
		}

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
		busy, _ := server.memory()
		f.add("after reviews", "%d: %s", n, busy)
		used = server.leaveAlone()
		rested, quiet := server.memory()
		f.add("idle again", "%s", rested)
		f.add("processor time meanwhile", "%.1f %% of a core", used)
		if *flagBinary != "" && n <= 20 && quiet.own > maxRested {
			t.Errorf("its own %s after %d reviews, want at most %s", mb(quiet.own), n, mb(maxRested))
		}
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

// residence is the memory that the system counts for a process, in bytes: all of it, and the
// part that is not pages of the program.
type residence struct{ all, own int64 }

// resident measures the process without asking it for anything, because an answer would bring
// pages of the program back that an idle server does not use. It is zero except on Linux.
func (s *server) resident() (r residence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return r
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, " kB")), 10, 64)
		switch {
		case err != nil:
		case name == "VmRSS":
			r.all = kb << 10
		case name == "RssAnon":
			r.own = kb << 10
		}
	}
	return r
}

// leaveAlone leaves the server alone for a while, and returns the processor time that it takes meanwhile,
// in percent of a core. It returns 0 except on Linux.
func (s *server) leaveAlone() float64 {
	before, begun := s.processorTime(), time.Now()
	time.Sleep(*flagRest)
	return 100 * (s.processorTime() - before).Seconds() / time.Since(begun).Seconds()
}

// processorTime returns the processor time that the process has taken so far.
func (s *server) processorTime() time.Duration {
	const tick = 10 * time.Millisecond // the unit of /proc
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the program's name is before it
	fields := strings.Fields(rest)
	var sum time.Duration
	for _, i := range []int{11, 12} { // in user and in kernel mode
		if len(fields) > i {
			n, _ := strconv.ParseInt(fields[i], 10, 64)
			sum += time.Duration(n) * tick
		}
	}
	return sum
}

// memory words what the process takes before and after its metrics are read, with the live
// part of Go's heap.
func (s *server) memory() (words string, quiet residence) {
	quiet = s.resident()
	heap := int64(s.metrics()["go_memstats_heap_alloc_bytes"])
	read := s.resident()
	return fmt.Sprintf("%s, its own %s; %s once metrics are read, heap %s", mb(quiet.all), mb(quiet.own), mb(read.all), mb(heap)), quiet
}
