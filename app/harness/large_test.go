package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

const (
	// linesPerFile gives 3,000 files 100,000 lines in total.
	linesPerFile = 34
	// memoryBar limits a process's resident memory, in bytes. It does not depend on the speed
	// of the machine, so it is judged.
	memoryBar = 256 << 20
)

// A server of its own reviews each of three changes, and "reviewgate review" does so too. The
// second change is ten times as large as the first, and the third twice as large as the
// second. Each review must be complete and find what it should. Memory is judged, and time is
// printed. GitHub lists at most 3,000 files, so git fetches the others.
func TestLarge(t *testing.T) {
	large(t)
	seed := begin(t)
	n := or(*flagFiles, 300)
	var f figures
	for _, name := range []string{"server", "review"} {
		review := map[string]func(*testing.T, uint64, int) cost{"server": byServer, "review": byCommand}[name]
		var costs []cost
		sizes := []int{n / 10, n, 2 * n}
		for _, files := range sizes {
			c := review(t, seed, files)
			costs = append(costs, c)
			f.add(fmt.Sprintf("%s, %d files, %d lines", name, files, files*linesPerFile), "%s, %s of processor, peak %s, %d findings",
				short(c.took), short(c.cpu), mb(c.peak), c.findings)
			if c.peak > memoryBar {
				t.Errorf("%s: %d files take %s", name, files, mb(c.peak))
			}
		}
		f.add(fmt.Sprintf("%s, %d times the size", name, sizes[1]/sizes[0]), "%.1f times the time, %.1f times the processor's", costs[1].took.Seconds()/costs[0].took.Seconds(), costs[1].cpu.Seconds()/costs[0].cpu.Seconds())
	}
	f.print(t)
}

// cost is the time and memory of a review.
type cost struct {
	took, cpu time.Duration
	peak      int64 // resident bytes
	findings  int
}

// largeFiles are files of realistic code, in which one line in fifty breaks a rule.
func largeFiles(n int) ghtest.Files {
	lines := []string{
		"// Total returns what the customer pays.", "func Total(items []Item) (int64, error) {",
		"\tvar sum int64", "\tfor _, item := range items {", "\t\tif item.Quantity < 0 {",
		"\t\t\treturn 0, fmt.Errorf(\"item %s: negative quantity\", item.ID)", "\t\t}",
		"\t\tsum += item.Price * int64(item.Quantity)", "\t}", "\treturn sum, nil", "}", "",
		"export const label = (name: string) => name.trim().toLowerCase();",
		"    def handle(self, request, *args, **kwargs):", "        return self.service.call(request.user.id)",
		"const users = await repository.find({ where: { active: true }, take: 50 });",
	}
	ext := []string{"go", "ts", "py", "java", "rb"}
	files, next := ghtest.Files{}, 0
	for i := range n {
		var text strings.Builder
		fmt.Fprintf(&text, "// File %d.\n", i)
		for range linesPerFile - 1 {
			line := lines[next%len(lines)]
			if next++; next%50 == 0 {
				line = "\tdebugger;"
			}
			text.WriteString(line + "\n")
		}
		files[fmt.Sprintf("src/area%d/part%d/file%d.%s", i%40, i%30, i, ext[i%len(ext)])] = text.String()
	}
	return files
}

// byServer opens a pull request and waits for its check.
func byServer(t *testing.T, seed uint64, files int) (c cost) {
	w := newWorld(t, setup{database: sqlite, replicas: 1, seed: seed, limits: unlimited(), logInterval: 24 * time.Hour, weighed: true})
	w.gh.Webhook.Withhold()
	repo := w.repos(1)[0]
	pr := repo.OpenPR(ghtest.PR{Title: "feat: totals", Author: "alice", Files: largeFiles(files)})
	w.gh.Webhook.Resume()
	s := w.servers[0]
	before, began := s.processor(), time.Now()
	for _, d := range w.burst([]*pull{{repo: repo}}) {
		if err := w.poster([]ghtest.Delivery{d})(0); err != nil {
			t.Fatal(err)
		}
	}
	done := func() bool { runs := pr.CheckRuns(); return len(runs) > 0 && runs[0].Completed() && w.quiet() }
	if !until(*flagPatience, done) {
		t.Fatalf("%d files: no answer after %s", files, *flagPatience)
	}
	c.took, c.cpu = time.Since(began), s.processor()-before
	s.note()
	c.peak = s.peak
	check := pr.CheckRuns()[0]
	if strings.HasPrefix(check.Title, "Review incomplete") || strings.HasPrefix(check.Title, "Review could not") || check.Conclusion == "success" {
		t.Errorf("%d files: the check is %s (%s)", files, check.Conclusion, check.Title)
	}
	s.eachLogLine(func(line string) {
		if _, rest, ok := strings.Cut(line, `"findings":`); ok {
			c.findings, _ = strconv.Atoi(rest[:strings.IndexAny(rest, ",}")])
		}
	})
	s.kill()
	return c
}

// processor returns the process's processor time.
func (s *server) processor() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0 // only Linux has it
	}
	_, rest, _ := bytes.Cut(stat, []byte(") ")) // the name may hold blanks
	fields := strings.Fields(string(rest))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // Linux counts in hundredths
}

// byCommand runs "reviewgate review" on a repository on disk.
func byCommand(t *testing.T, _ uint64, files int) (c cost) {
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	git(t, dir, nil, "init", "--quiet", "--initial-branch=main")
	git(t, dir, importOf(largeFiles(files)), "fast-import", "--quiet")
	cmd := exec.Command(binary, "review", "--repo", dir, "--base", "main", "--head", "change", "--format", "json")
	out := filepath.Join(dir, "report.json")
	if cmd.Stdout, err = os.Create(out); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	err = cmd.Run()
	c.took = time.Since(began)
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 {
		t.Fatalf("%d files: exit code %d, %v", files, code, err)
	}
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.peak = usage.Maxrss << 10 // kilobytes on Linux
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Findings, Incomplete []json.RawMessage
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	if c.findings = len(report.Findings); c.findings == 0 || len(report.Incomplete) > 0 {
		t.Errorf("%d files: %d findings, incomplete %s", files, c.findings, report.Incomplete)
	}
	return c
}

// importOf writes a base and a change for git fast-import.
func importOf(files ghtest.Files) []byte {
	var in bytes.Buffer
	commit := func(branch, from string) {
		fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter A <a@example.com> 1700000000 +0000\ndata 4\nstep\n%s", branch, from)
	}
	commit("main", "")
	in.WriteString("M 100644 inline README.md\ndata 7\n# shop\n\n")
	commit("change", "from refs/heads/main\n")
	for path, text := range files {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	return in.Bytes()
}

func git(t *testing.T, dir string, input []byte, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
}
