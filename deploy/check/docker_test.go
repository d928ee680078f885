package check

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

func TestDockerfile(t *testing.T) {
	f, err := os.Open("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tree, err := parser.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	stages, _, err := instructions.Parse(tree.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Warnings) > 0 {
		t.Errorf("warnings: %+v", tree.Warnings)
	}
	if len(stages) != 2 {
		t.Fatalf("%d stages, want one to build and one to run", len(stages))
	}
	gomod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(gomod)[1]
	if base := stages[0].BaseName; base != "golang:"+string(version)+"-bookworm" {
		t.Errorf("built by %s, but go.mod names %s", base, version)
	}
	if base := stages[1].BaseName; base != "debian:bookworm-slim" {
		t.Errorf("runs on %s", base)
	}
	var user, entry, installed string
	for _, c := range stages[1].Commands {
		switch c := c.(type) {
		case *instructions.UserCommand:
			user = c.User
		case *instructions.EntrypointCommand:
			entry = strings.Join(c.CmdLine, " ")
			if c.PrependShell {
				t.Error("a shell keeps signals from the server")
			}
		case *instructions.CopyCommand:
			if c.From != stages[0].Name {
				t.Errorf("%s copies a file that was not built", c)
			}
		case *instructions.EnvCommand:
			for _, kv := range c.Env {
				if strings.Contains(kv.Key, "SECRET") || strings.Contains(kv.Key, "KEY") {
					t.Errorf("a layer contains %s", kv.Key)
				}
			}
		case *instructions.RunCommand:
			if user != "" {
				t.Errorf("%s: %s may not run this", c, user)
			}
			installed += strings.Join(c.CmdLine, " ")
		case *instructions.HealthCheckCommand:
			t.Error("the image has no program for the health check")
		}
	}
	if !regexp.MustCompile(`install .*--no-install-recommends ca-certificates git\b`).MatchString(installed) {
		t.Errorf("the image has no git to fetch large changes with: %q", installed)
	}
	if user != "65532:65532" || entry != "/usr/local/bin/reviewgate" {
		t.Errorf("user %q, entry point %q", user, entry)
	}
}

// Only the named files are sent to the build.
func TestDockerignore(t *testing.T) {
	text, err := os.ReadFile("../../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			rules = append(rules, line)
		}
	}
	if rules[0] != "*" || slices.Contains(rules, "!.git") {
		t.Errorf("rules %v", rules)
	}
}

func TestCompose(t *testing.T) {
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: "..", ConfigFiles: []types.ConfigFile{{Filename: "../compose.yaml"}}, Environment: types.Mapping{},
	}, func(o *loader.Options) { o.SetProjectName("reviewgate", true) })
	if err != nil {
		t.Fatal(err) // the loader validates Compose's schema
	}
	for name, s := range project.Services {
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || s.Restart != "unless-stopped" {
			t.Errorf("%s is not restricted, or does not restart: %+v", name, s)
		}
		for key, value := range s.Environment {
			if value != nil && (strings.Contains(key, "SECRET") || strings.HasSuffix(key, "PASSWORD") || strings.Contains(*value, "://")) {
				t.Errorf("%s: the file contains %s", name, key)
			}
		}
		for _, p := range s.Ports {
			if p.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %s is open to all", name, p.Published)
			}
		}
	}
	server, database := project.Services["reviewgate"], project.Services["postgres"]
	if server.User != "65532:65532" || len(server.CapAdd) > 0 {
		t.Errorf("the server runs as %q with %v", server.User, server.CapAdd)
	}
	if dep := server.DependsOn["postgres"]; dep.Condition != types.ServiceConditionHealthy || database.HealthCheck == nil {
		t.Errorf("the server does not wait for the database: %+v", dep)
	}
	if len(database.Volumes) != 1 || database.Volumes[0].Type != types.VolumeTypeVolume {
		t.Errorf("the database's volumes are %+v", database.Volumes)
	}
	if len(project.Secrets) != 3 {
		t.Errorf("secrets %v", project.Secrets)
	}
	for name, s := range project.Secrets {
		if s.File == "" {
			t.Errorf("the secret %s is not a file", name)
		}
	}
}

// The release pins the Dockerfile's base images by digest and writes its own image's digest
// into the files of deploy/. Its edits match those files.
func TestReleaseMatchesTheFiles(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	workflow := read("../../.github/workflows/release.yml")
	if !strings.Contains(workflow, `sed -n 's/^FROM \([^ ]*\).*/\1/p' deploy/Dockerfile`) {
		t.Error("the release does not read the Dockerfile's base images")
	}
	if froms := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(read("../Dockerfile"), -1); len(froms) != 2 {
		t.Errorf("the Dockerfile has the base images %v", froms)
	}
	if line := "image: ${REVIEWGATE_IMAGE:-reviewgate:latest}"; !strings.Contains(read("../compose.yaml"), line) {
		t.Errorf("compose.yaml has no line %q", line)
	}
	if !regexp.MustCompile(`(?m)^ *newTag: latest$`).MatchString(read("../kubernetes/base/kustomization.yaml")) {
		t.Error("kustomization.yaml has no line for the release to replace with a digest")
	}
	for _, uses := range regexp.MustCompile(`uses: (\S+)`).FindAllStringSubmatch(workflow, -1) {
		if !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(uses[1]) {
			t.Errorf("%s is not pinned to a commit", uses[1])
		}
	}
}
