package harness

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// A flag of 0 means the trial's own number, which is small.
var (
	flagSeed     = flag.Uint64("seed", 1, "what all that is random is drawn from; 0 for a new one")
	flagDatabase = flag.String("database", "", "sqlite or postgres; the trial's own if empty")
	flagReplicas = flag.Int("replicas", 0, "servers on one PostgreSQL")
	flagPulls    = flag.Int("pulls", 0, "pull requests")
	flagKills    = flag.Int("kills", 0, "how often a server is killed")
	flagFiles    = flag.Int("files", 0, "files of TestLarge's middle change")
	flagRate     = flag.Float64("rate", 8, "events a second")
	flagTrouble  = flag.Duration("trouble", 0, "how long GitHub is in trouble; in TestChaos for as long as servers are killed if not 0")
	flagHooks    = flag.Int("hooks", 0, "webhooks of TestLoad's burst")
	flagReplay   = flag.Bool("replay", false, "whether all reviews are computed again during TestLoad's burst, over and over")
	flagRest     = flag.Duration("rest", time.Second, "how long TestIdle leaves a server alone")
	flagPatience = flag.Duration("patience", 2*time.Minute, "how long to wait for everything to be answered")
	flagBinary   = flag.String("binary", "", "reviewgate to try; built from the tree if empty")
	flagKeep     = flag.String("keep", "", "directory to keep databases and logs in")
	flagLog      = flag.String("log", "info", "the servers' log level")
)

// build builds the binary, once for all trials. Go's cache keeps what "go run" builds, so
// that the binary is linked again only after a change. "go run" is made to run cp instead of
// the binary.
var build = sync.OnceValues(func() (path string, err error) {
	if *flagBinary != "" {
		return *flagBinary, nil
	}
	path = filepath.Join(buildDir, "reviewgate")
	args := []string{"run", "-exec", "cp", "-ldflags", strings.Join(shortened(), " ")}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", append(args, "github.com/reviewgate/reviewgate/cmd/reviewgate", path)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the binary: %w\n%s", err, out)
	}
	return path, nil
})

// shortened returns the linker flags that make the program's times shorter, unless it is tested as it
// is delivered.
func shortened() (flags []string) {
	const of = "-X github.com/reviewgate/reviewgate/app/"
	if !whole() {
		flags = append(flags, of+"internal/store.deadAfter=4s")
	}
	if !measured() {
		flags = append(flags, of+"sessions.defaultJoin=1s", of+"sessions.defaultMinute="+shortMinute.String())
	}
	return flags
}

// shortMinute is how long a minute in the settings of sessions lasts, unless a trial is measured.
const shortMinute = 5 * time.Second

var buildDir string

// sized are the flags that make a trial large.
var sized = []string{"database", "replicas", "pulls", "kills", "files", "trouble", "hooks", "replay", "rest", "binary"}

// measured reports whether the figures of a trial are wanted, because flags set its size.
func measured() (yes bool) {
	flag.Visit(func(f *flag.Flag) { yes = yes || slices.Contains(sized, f.Name) })
	return yes
}

// whole reports whether the program is tested as it is delivered, except for the times of sessions, which
// are shorter unless the trial is measured. By default a dead server is noticed sooner, and the servers
// collect garbage less often.
func whole() bool { return measured() || sample.Full() }

// large skips a trial by default, unless its figures are wanted. TestChaos always runs. Only
// TestLarge judges the memory of "reviewgate review".
func large(t *testing.T) {
	if !measured() {
		sample.Variant(t)
	}
}

func TestMain(m *testing.M) {
	sample.Parallel(8)
	if measured() {
		pgtest.Sync()
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if buildDir, err = os.MkdirTemp("", "reviewgate-harness-"); err == nil {
		defer os.RemoveAll(buildDir)
		err = startGuard(buildDir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// or is a flag's value, or the trial's own number if the flag is not set.
func or(value, own int) int {
	if value > 0 {
		return value
	}
	return own
}

// begin prints the seed and returns it. Trials mostly wait, so they run in parallel.
func begin(t *testing.T) uint64 {
	t.Helper()
	t.Parallel()
	seed := *flagSeed
	if seed == 0 {
		seed = rand.Uint64N(1 << 32)
	}
	t.Logf("seed %d; to play this again add: -args -seed %d", seed, seed)
	return seed
}

// random returns a separate source for each purpose, so that none uses up the numbers of
// another.
func random(seed uint64, purpose string, n int) *rand.Rand {
	for _, c := range purpose {
		seed = seed*31 + uint64(c)
	}
	return rand.New(rand.NewPCG(seed, uint64(n)))
}

// onDatabases runs a trial on the requested database, or on the trial's own.
func onDatabases(t *testing.T, own []string, trial func(t *testing.T, s setup)) {
	if *flagDatabase != "" {
		own = []string{*flagDatabase}
	} else if !whole() {
		own = sample.Of(t, 1, own)
	}
	for _, name := range own {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup{database: name, replicas: 1}
			switch name {
			case sqlite:
			case postgres:
				s.replicas, s.url = or(*flagReplicas, 2), pgtest.URL(t)
			default:
				t.Fatalf("-database %s: use sqlite or postgres", name)
			}
			trial(t, s)
		})
	}
}

const (
	sqlite   = "sqlite"
	postgres = "postgres"
)

// keepDir is where a trial's files stay for a later analysis.
func keepDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(*flagKeep, strings.ReplaceAll(t.Name(), "/", "-")+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("files are kept in %s", dir)
	return dir
}
