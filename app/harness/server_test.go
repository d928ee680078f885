package harness

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/pipeline/needs"
)

// startLimit limits the time until a server is ready.
const startLimit = 30 * time.Second

// server is one process of the real binary. It can be killed and started again on the same
// port.
type server struct {
	t    *testing.T
	n    int
	addr string
	env  []string
	log  string // file

	mu   sync.Mutex
	cmd  *exec.Cmd
	took time.Duration // time of the last start until the server was ready
	peak int64         // largest resident size so far, in bytes
}

func (w *world) newServer(n int, v3URL string) *server {
	w.t.Helper()
	s := &server{t: w.t, n: n, addr: needs.FreeAddr(w.t), log: filepath.Join(w.dir, fmt.Sprintf("server-%d.log", n))}
	key := filepath.Join(w.dir, "app.pem")
	if err := os.WriteFile(key, w.gh.AppPrivateKeyPEM(), 0o600); err != nil {
		w.t.Fatal(err)
	}
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "TMPDIR=" + w.dir,
		"GITHUB_APP_INTEGRATION_ID=" + strconv.FormatInt(w.gh.AppID(), 10),
		"GITHUB_APP_PRIVATE_KEY_FILE=" + key,
		"GITHUB_APP_WEBHOOK_SECRET=" + secret,
		"GITHUB_V3_API_URL=" + v3URL + "/api/v3/",
		"GITHUB_V4_API_URL=" + v3URL + "/api/graphql",
		"GITHUB_WEB_URL=https://github.test",
		"REVIEWGATE_ADDR=" + s.addr,
		"REVIEWGATE_DATABASE_URL=" + w.url,
		"REVIEWGATE_LOG_LEVEL=" + *flagLog,
		"REVIEWGATE_DELIVERY_LOG_INTERVAL=" + w.logInterval.String(),
		"REVIEWGATE_SWEEP_INTERVAL=24h",
	}
	if len(w.reviewers) > 0 {
		s.env = append(s.env, "REVIEWGATE_CONFIG_DIR="+w.configDir(), reviewerSecretKey+"="+reviewerSecret)
	}
	if !whole() && !w.weighed {
		s.env = append(s.env, "GOGC=400")
	}
	w.t.Cleanup(s.kill)
	return s
}

// start starts the process and returns once it is ready.
func (s *server) start() error {
	binary, err := build()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(s.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own
	cmd := exec.Command(binary, "serve")
	cmd.Env, cmd.Stderr, cmd.Stdout = s.env, log, log
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	tellGuard("started", cmd.Process.Pid)
	s.mu.Lock()
	s.cmd = cmd
	s.mu.Unlock()
	if !s.ready() {
		return fmt.Errorf("server %d is not ready after %s:\n%s", s.n, startLimit, tail(s.log, 4000))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = time.Since(began)
	return nil
}

func (s *server) ready() bool {
	client := &http.Client{Timeout: 2 * time.Second}
	for end := time.Now().Add(startLimit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if resp, err := client.Get("http://" + s.addr + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return true
			}
		}
	}
	return false
}

// kill ends the process like kill -9: it can't react.
func (s *server) kill() {
	s.note()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		tellGuard("ended", s.cmd.Process.Pid)
		s.cmd = nil
	}
}

// note records the process's largest use of memory.
func (s *server) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return // only Linux has it
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			if kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64); err == nil {
				s.peak = max(s.peak, kb<<10)
			}
		}
	}
}

// metrics reads the server's metrics and adds up each name's values. The result is nil if the
// server does not answer.
func (s *server) metrics() map[string]float64 {
	client := &http.Client{Timeout: 5 * time.Second}
	resp, err := client.Get("http://" + s.addr + "/metrics")
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	sums := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		end := strings.LastIndexByte(line, ' ')
		if end < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		name, _, _ := strings.Cut(line[:end], "{")
		if v, err := strconv.ParseFloat(line[end+1:], 64); err == nil {
			sums[name] += v
		}
	}
	return sums
}

// quiet reports whether every ask is answered and no job waits or runs.
func (s *server) quiet() bool {
	m := s.metrics()
	if m == nil || m["reviewgate_database_up"] != 1 {
		return false
	}
	return m["reviewgate_queue_waiting"]+m["reviewgate_queue_running"]+m["reviewgate_queue_later"]+m["reviewgate_oldest_unanswered_seconds"] == 0
}

// logLines counts the log lines that contain all the texts.
func (s *server) logLines(texts ...string) int {
	n := 0
	s.eachLogLine(func(line string) {
		for _, text := range texts {
			if !strings.Contains(line, text) {
				return
			}
		}
		n++
	})
	return n
}

func (s *server) eachLogLine(f func(line string)) {
	text, err := os.ReadFile(s.log)
	if err != nil {
		s.t.Errorf("read the server's log: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		f(strings.TrimSpace(line))
	}
}

func tail(file string, n int) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-n):])
}
