package localgit

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// bounds are the limits of a fetch.
type bounds struct {
	bytes int64 // on disk
	files int
	// patches bounds the bytes of diffs that are kept: a server may read several
	// such changes at a time.
	patches int
	// text is the largest text whose lines git compares, in bytes.
	text int64
	// similar is the size of all contents, in bytes, up to which git looks for files that
	// moved and changed. The search takes twice that size in memory, and minutes.
	similar int64
	memory  int64 // of each process, in bytes: some 300 MB for texts of nothing but line ends
	time    time.Duration
}

// fetchBounds allow a change of 100,000 files, which takes some 100 MB.
var fetchBounds = bounds{
	bytes: 500 << 20, files: 100_000, patches: 32 << 20, text: 4 << 20, similar: 32 << 20,
	memory: 512 << 20, time: 3 * time.Minute,
}

// fetchWatch is how often watchSize counts the bytes on disk.
const fetchWatch = 100 * time.Millisecond

// Remote is a repository that git reaches over https. Plain http is for
// loopback addresses only.
type Remote struct {
	URL   string // without credentials
	Token string // password of the user x-access-token
}

var (
	// ErrNoGit means that there is no git program on this machine.
	ErrNoGit = errors.New("there is no git program on this machine")
	fullSHA  = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// Available returns ErrNoGit if this machine has no git program.
func Available() error {
	if _, err := exec.LookPath("git"); err != nil {
		return ErrNoGit
	}
	return nil
}

var versionNumber = regexp.MustCompile(`^git version (\d+)\.(\d+)`)

// Version returns git's version as git prints it. It returns an error if there is no git,
// or if it is too old to fetch.
func Version(ctx context.Context) (string, error) {
	if err := Available(); err != nil {
		return "", err
	}
	text, err := (&git{env: isolated(os.TempDir())}).line(ctx, "version")
	if err != nil {
		return "", err
	}
	m := versionNumber.FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("git says of its version %.100q", text)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < 2 || major == 2 && minor < 31 { // it learned then to take settings from its environment
		return "", fmt.Errorf("%.100s is too old", text)
	}
	return text, nil
}

// serverTrouble matches git's messages about temporary failures of a server or a lost
// connection.
var serverTrouble = regexp.MustCompile(`(returned error:|HTTP) (408|429|5\d\d)\b|RPC failed; curl|early EOF|hung up|unexpected disconnect|Empty reply`)

// MayPass reports whether a fetch failed because of a temporary failure of the server.
func MayPass(err error) bool { return err != nil && serverTrouble.MatchString(err.Error()) }

// Fetch reads the change between two commits of a remote repository. It fetches
// only their trees and the contents that differ, into a directory that it deletes
// again. It ignores the git config of this machine, and attributes of the repository
// that hide diffs.
//
// Git gets the token in its environment: others could read command lines and files.
func Fetch(ctx context.Context, remote Remote, base, head string) (raw.Files, error) {
	return fetchWithin(ctx, fetchBounds, remote, base, head)
}

func fetchWithin(ctx context.Context, most bounds, remote Remote, base, head string) (files raw.Files, err error) {
	if !fullSHA.MatchString(base) || !fullSHA.MatchString(head) {
		return files, errors.New("fetch by git: the commits are not named in full")
	}
	if err := Available(); err != nil {
		return files, err
	}
	dir, drop, err := scratch()
	if err != nil {
		return files, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	ctx, cancel := context.WithTimeoutCause(ctx, most.time, fmt.Errorf("fetching took longer than %s", most.time))
	defer cancel()
	f := &fetcher{most: most, remote: remote, local: &git{dir: dir, env: isolated(dir), memory: most.memory}}
	if files, err = f.fetch(ctx, base, head); err != nil {
		return raw.Files{}, fmt.Errorf("fetch by git: %w", f.clean(causeOf(ctx, err)))
	}
	files.HeadSHA = head
	return files, nil
}

// causeOf returns the cause of a context's end. It returns err if the context has not
// ended.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// fetcher fetches a part of a remote repository into one on this machine.
type fetcher struct {
	most   bounds
	remote Remote
	local  *git // has no access to the remote
	wide   *git // has access to the remote
	// shas are the SHAs of the contents that differ, by path, before and after.
	shas [2]map[string]string
}

// passedOn are the environment variables that git gets: with them it finds its programs,
// and uses the same proxy and certificates as the server. It gets no others, since the
// server's variables hold secrets.
var passedOn = []string{
	"PATH", "TMPDIR", "SYSTEMROOT", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// isolated returns an environment in which git reads only the repository's config.
func isolated(dir string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(passedOn, strings.ToUpper(name))
	})
	return append(environment(env), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
}

func (f *fetcher) fetch(ctx context.Context, base, head string) (raw.Files, error) {
	var none raw.Files
	if err := f.prepare(ctx); err != nil {
		return none, err
	}
	if err := f.get(ctx, []string{base, head}, "--depth=1"); err != nil {
		return none, err
	}
	for _, sha := range []string{base, head} {
		if got, err := f.local.line(ctx, "rev-parse", "--verify", sha+"^{commit}"); err != nil || got != sha {
			return none, fmt.Errorf("the commit %s is not what was fetched: %w", sha, err)
		}
	}
	blobs, err := f.differing(ctx, base, head)
	if err != nil {
		return none, err
	}
	var texts map[string]bool
	var size int64
	if len(blobs) > 0 {
		if err := f.get(ctx, blobs); err != nil {
			return none, err
		}
		if texts, size, err = f.largeTexts(ctx, blobs); err != nil {
			return none, err
		}
	}
	args := []string{base, head}
	if len(texts) > 0 || size > f.most.similar {
		// To find files that moved and changed, git reads their contents. Then it
		// compares the lines of these contents whatever their size.
		args = slices.Insert(args, 0, "--find-renames=100%")
	}
	diff, err := f.local.diff(ctx, f.most.patches, args...)
	if err != nil {
		return none, err
	}
	files := diff.files()
	f.reportLarge(&files, texts)
	if err := reveal(ctx, f.local, nil, diff.entries, &files); err != nil {
		return none, err
	}
	return files, nil
}

// prepare makes the repository. Its config must say that the remote holds the objects
// that are missing here.
func (f *fetcher) prepare(ctx context.Context) error {
	u, err := url.Parse(f.remote.URL)
	if err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(f.remote.URL, "\"\\\n") {
		return errors.New("the repository's URL can't be used")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return fmt.Errorf("git may use only https here, not %s", u.Scheme)
	}
	dir := f.local.dir
	if _, err := f.local.output(ctx, "init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--object-format=sha1", dir); err != nil {
		return err
	}
	config := fmt.Sprintf("[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tbigFileThreshold = %d\n[extensions]\n\tpartialClone = origin\n"+
		"[remote \"origin\"]\n\turl = \"%s\"\n\tpromisor = true\n\tpartialclonefilter = blob:none\n", f.most.text, f.remote.URL)
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		return err
	}
	f.wide = &git{dir: dir, memory: f.most.memory, env: append(slices.Clone(f.local.env), wideEnv(u.Scheme, f.remote)...)}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// wideEnv returns the variables that give git access to the remote, with the token. Git
// follows no redirects, since they could send the token to another host. It uses the same
// certificates of a private authority as the server does for GitHub's API.
func wideEnv(protocol string, r Remote) []string {
	settings := [][2]string{
		{"http." + r.URL + ".extraHeader", "Authorization: Basic " + basic(r.Token)},
		{"http.followRedirects", "false"}, {"http.lowSpeedLimit", "1000"}, {"http.lowSpeedTime", "30"},
		{"credential.helper", ""}, {"core.askPass", ""}, {"protocol.version", "2"},
		{"transfer.fsckObjects", "true"}, {"transfer.bundleURI", "false"}, {"fetch.unpackLimit", "1"}, {"fetch.negotiationAlgorithm", "noop"},
		{"fetch.recurseSubmodules", "false"}, {"fetch.writeCommitGraph", "false"}, {"pack.threads", "1"},
	}
	if file := os.Getenv("SSL_CERT_FILE"); file != "" { // Go reads this variable by itself
		settings = append(settings, [2]string{"http.sslCAInfo", file})
	}
	env := []string{"GIT_ALLOW_PROTOCOL=" + protocol, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings))}
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	return env
}

// get fetches objects by name. It fetches contents of files only if they are named.
func (f *fetcher) get(ctx context.Context, objects []string, args ...string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		f.watchSize(ctx, cancel)
	}()
	args = append([]string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--filter=blob:none", "--stdin"}, args...)
	err := f.wide.feed(ctx, objectLines(objects), append(args, "origin")...)
	err = causeOf(ctx, err)
	cancel(nil)
	<-watched
	return cmp.Or(err, f.tooMuch()) // it may have come between two looks
}

// objectLines returns the names of objects, one per line, as an input for git.
func objectLines(shas []string) io.Reader { return strings.NewReader(strings.Join(shas, "\n") + "\n") }

// watchSize ends the fetch if it grows too large. It watches until the context ends.
func (f *fetcher) watchSize(ctx context.Context, end context.CancelCauseFunc) {
	tick := time.NewTicker(fetchWatch)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := f.tooMuch(); err != nil {
				end(err)
				return
			}
		}
	}
}

// tooMuch returns an error if the fetched bytes exceed the limit.
func (f *fetcher) tooMuch() error {
	if size(f.local.dir) <= f.most.bytes {
		return nil
	}
	return fmt.Errorf("what differs comes to more than %d MB", f.most.bytes>>20)
}

// size counts the bytes in a directory. It skips files that disappear meanwhile.
func size(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}

const submodule = "160000"

// differing lists the contents of the files that differ, on both sides.
func (f *fetcher) differing(ctx context.Context, base, head string) ([]string, error) {
	var blobs []string
	f.shas = [2]map[string]string{{}, {}}
	err := f.local.stream(ctx, func(r io.Reader) error {
		seen := map[string]bool{strings.Repeat("0", 40): true}
		lines := nulReader(r)
		for n := 0; lines.Scan(); n++ {
			fields := strings.Fields(lines.Text()) // modes, SHAs, status
			if !lines.Scan() || len(fields) != 5 {
				return errors.New("git's list of files is not understood")
			}
			if n == f.most.files {
				return fmt.Errorf("more than %d files differ", n)
			}
			path := lines.Text()
			for side := range 2 {
				mode, sha := strings.TrimPrefix(fields[side], ":"), fields[2+side]
				f.shas[side][path] = sha
				if mode != submodule && !seen[sha] {
					seen[sha] = true
					blobs = append(blobs, sha)
				}
			}
		}
		return lines.Err()
	}, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", base, head, "--")
	return blobs, err
}

// nulReader reads the entries that git prints with -z.
func nulReader(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, 0); i >= 0 {
			return i + 1, data[:i], nil
		}
		if atEOF && len(data) > 0 {
			return 0, nil, io.ErrUnexpectedEOF
		}
		return 0, nil, nil
	})
	return s
}

// clean removes the token and the directory's path from an error's text.
func (f *fetcher) clean(err error) error {
	text := err.Error()
	hidden := strings.NewReplacer(basic(f.remote.Token), "***", cmp.Or(f.remote.Token, "***"), "***", f.local.dir, "the directory").Replace(text)
	if hidden == text {
		return err
	}
	return errors.New(hidden)
}

// basic returns the token in the form of HTTP's basic authentication.
func basic(token string) string {
	return base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
}
