package app_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/reviewgate/reviewgate/app"
)

// deployed are the files of deploy/ that contain settings, by path.
func deployed(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir("../deploy", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "check" {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		texts[filepath.ToSlash(strings.TrimPrefix(path, "../deploy/"))] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 15 {
		t.Fatalf("%d files were read", len(texts))
	}
	return texts
}

var settingName = regexp.MustCompile(`\b(?:REVIEWGATE|GITHUB|OTEL)_[A-Z0-9_]+[A-Z0-9]\b`)

// The server reads every setting in the files of deploy/.
func TestDeployedSettingsExist(t *testing.T) {
	t.Parallel()
	var used []string
	for path, text := range deployed(t) {
		for _, name := range settingName.FindAllString(text, -1) {
			used = append(used, name)
			if !slices.Contains(app.Keys, name) && name != "REVIEWGATE_IMAGE" { // a variable of Compose
				t.Errorf("%s: %s is not a setting", path, name)
			}
		}
	}
	if len(used) < 20 {
		t.Errorf("only %d names were found", len(used))
	}
	var settings map[string]string
	if err := yaml.Unmarshal([]byte(deployed(t)["settings.example.yaml"]), &settings); err != nil {
		t.Errorf("settings.example.yaml: %v", err)
	}
	for name := range settings {
		if !slices.Contains(app.Keys, name) {
			t.Errorf("settings.example.yaml: %s is not a setting", name)
		}
	}
}

// The server answers the orchestrators' probes, on the port that all files name.
func TestDeployedProbesAreAnswered(t *testing.T) {
	t.Parallel()
	w := start(t)
	texts := deployed(t)
	paths := regexp.MustCompile(`path: (/[a-z]+)`).FindAllStringSubmatch(texts["kubernetes/base/deployment.yaml"], -1)
	if len(paths) != 4 { // three probes and the scrape
		t.Fatalf("paths %v", paths)
	}
	for _, p := range paths {
		resp, err := http.Get("http://" + w.App.Addr() + p[1])
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("the answer to %s is %s", p[1], resp.Status)
		}
	}
	for path, want := range map[string]string{
		"Dockerfile": "EXPOSE 8080\n", "kubernetes/base/deployment.yaml": "containerPort: 8080,",
		"kubernetes/base/configmap.yaml": "REVIEWGATE_ADDR: 0.0.0.0:8080\n", "compose.yaml": "REVIEWGATE_ADDR: 0.0.0.0:8080\n",
	} {
		if !strings.Contains(texts[path], want) {
			t.Errorf("%s does not contain %q", path, want)
		}
	}
	if !strings.Contains(texts["Dockerfile"], "REVIEWGATE_ADDR=0.0.0.0:8080") {
		t.Error("the image listens on an unreachable address")
	}
}

// Nothing kills a server before it has drained. That takes 15 s, and then up to 10 s until
// the queue has ended its running jobs.
func TestDeployedGracePeriodIsLongEnough(t *testing.T) {
	t.Parallel()
	const drain = 25 * time.Second
	texts := deployed(t)
	for path, pattern := range map[string]string{
		"reviewgate.service":              `TimeoutStopSec=(\d+)\n`,
		"compose.yaml":                    `stop_grace_period: (\d+)s\n`,
		"kubernetes/base/deployment.yaml": `terminationGracePeriodSeconds: (\d+)\n`,
	} {
		m := regexp.MustCompile(pattern).FindStringSubmatch(texts[path])
		if m == nil {
			t.Errorf("%s sets no grace period", path)
			continue
		}
		if d, _ := time.ParseDuration(m[1] + "s"); d <= drain {
			t.Errorf("%s kills the server after %s", path, d)
		}
	}
}

// The manifest asks for exactly the permissions and events that docs/install.md lists.
func TestManifestMatchesTheInstallPage(t *testing.T) {
	t.Parallel()
	var manifest struct {
		Permissions map[string]string    `json:"default_permissions"`
		Events      []string             `json:"default_events"`
		Hook        struct{ URL string } `json:"hook_attributes"`
	}
	text, err := os.ReadFile("../deploy/app-manifest.json")
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	cell := func(name string) string {
		t.Helper()
		m := regexp.MustCompile(`(?m)^ *\| ` + name + ` \| (.*) \|$`).FindSubmatch(page)
		if m == nil {
			t.Fatalf("the page has no row %q", name)
		}
		return string(m[1])
	}
	api := strings.NewReplacer("commit statuses", "statuses", " ", "_")
	permissions := map[string]string{}
	for one := range strings.SplitSeq(cell("Repository permissions"), " · ") {
		name, access, _ := strings.Cut(one, ": ")
		permissions[api.Replace(strings.ToLower(name))] = access
	}
	if !maps.Equal(permissions, manifest.Permissions) {
		t.Errorf("the page says %v, the manifest %v", permissions, manifest.Permissions)
	}
	var events []string
	for one := range strings.SplitSeq(cell("Events"), ", ") {
		events = append(events, strings.ReplaceAll(strings.ToLower(one), " ", "_"))
	}
	slices.Sort(events)
	if got := slices.Sorted(slices.Values(manifest.Events)); !slices.Equal(events, got) {
		t.Errorf("the page says %v, the manifest %v", events, got)
	}
	if !strings.HasSuffix(manifest.Hook.URL, app.HookPath) {
		t.Errorf("webhooks are sent to %s", manifest.Hook.URL)
	}
}
