package app

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/config"
)

func privateKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// load loads the settings of an environment and a file without models.
func load(env map[string]string, file string) (Settings, error) {
	return LoadSettings(func(k string) string { return env[k] }, file, nil)
}

func TestSettingsFromTheEnvironment(t *testing.T) {
	t.Parallel()
	key := privateKey(t)
	s, err := load(map[string]string{
		keyAppID: "42", keyPrivateKey: strings.ReplaceAll(key, "\n", `\n`), keyWebhookSecret: "new, old",
		keyV3URL: "https://ghe.test/api/v3", keyAddr: "0.0.0.0:9000", keyLogLevel: "debug", keyLogFormat: "Text",
		keyDatabaseURL: "postgres://rg:pw@db/reviewgate", keySweep: "90m", keyRetention: "30d", keyLogs: "365d",
		keyPublicURL: "https://reviewgate.ghe.test:8443/",
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		AppID: 42, PrivateKey: []byte(strings.TrimSpace(key)), WebhookSecrets: [][]byte{[]byte("new"), []byte("old")},
		V3URL: "https://ghe.test/api/v3/", V4URL: "https://ghe.test/api/graphql", WebURL: "https://ghe.test",
		Addr: "0.0.0.0:9000", DatabaseURL: "postgres://rg:pw@db/reviewgate", LogLevel: zerolog.DebugLevel, LogFormat: LogText,
		DeliveryLogInterval: 5 * time.Minute, SweepInterval: 90 * time.Minute, Retention: 30 * day, AnalyticsRetention: 365 * day,
		PublicURL: "https://reviewgate.ghe.test:8443", OIDCIssuer: "https://ghe.test/_services/token",
	}
	s.PrivateKey = bytes.TrimSpace(s.PrivateKey)
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

// One URL of a GitHub determines the others. Where it does not, all are required.
func TestWhereGitHubIs(t *testing.T) {
	t.Parallel()
	key := privateKey(t)
	for _, tt := range []struct {
		name        string
		v3, v4, web string
		want        [3]string
		wrong       []string // the settings that the problems name, in order
	}{
		{name: "github.com", want: [3]string{"https://api.github.com/", "https://api.github.com/graphql", "https://github.com"}},
		{name: "Enterprise Server", v3: "https://ghe.test/api/v3", want: [3]string{"https://ghe.test/api/v3/", "https://ghe.test/api/graphql", "https://ghe.test"}},
		{name: "Enterprise Server at a port", v3: "http://ghe.test:8080/api/v3/", want: [3]string{"http://ghe.test:8080/api/v3/", "http://ghe.test:8080/api/graphql", "http://ghe.test:8080"}},
		{name: "ghe.com", v3: "https://api.octo.ghe.com", want: [3]string{"https://api.octo.ghe.com/", "https://api.octo.ghe.com/graphql", "https://octo.ghe.com"}},
		{name: "a page of its own", v3: "https://ghe.test/api/v3/", web: "https://code.test/", want: [3]string{"https://ghe.test/api/v3/", "https://ghe.test/api/graphql", "https://code.test"}},
		{name: "a proxy", v3: "https://proxy.test/github/", v4: "https://proxy.test/graphql", web: "https://ghe.test", want: [3]string{"https://proxy.test/github/", "https://proxy.test/graphql", "https://ghe.test"}},
		{name: "capitals", v3: "https://API.GitHub.com/", want: [3]string{"https://API.GitHub.com/", "https://api.github.com/graphql", "https://github.com"}},
		{name: "a query", v3: "https://ghe.test/api/v3/?x=1", wrong: []string{keyV3URL + " holds more than an address and a path"}},
		{name: "no URL of GraphQL", v3: "https://proxy.test/github/", v4: "proxy.test/graphql", web: "https://ghe.test", wrong: []string{keyV4URL + ` is "proxy.test/graphql": write a whole URL such as https://github.example.com/api/graphql`}},
		{name: "a proxy alone", v3: "https://proxy.test/github/", wrong: []string{keyV3URL + " is https://proxy.test/github/: write https://proxy.test/api/v3/, or, if a proxy gives the API another path, also set " + keyV4URL + " and " + keyWebURL}},
		{name: "a proxy without the page", v3: "https://proxy.test/github/", v4: "https://proxy.test/graphql", wrong: []string{keyWebURL + " is missing"}},
		{name: "Enterprise Server's page", v3: "https://ghe.test:8443", wrong: []string{keyV3URL + " is https://ghe.test:8443/: write https://ghe.test:8443/api/v3/, or, if a proxy"}},
		{name: "ghe.com's page", v3: "https://octo.ghe.com/", wrong: []string{keyV3URL + " is https://octo.ghe.com/: write https://api.octo.ghe.com/, or, if a proxy"}},
		{name: "github.com's page", v3: "https://github.com", wrong: []string{keyV3URL + " is https://github.com/: write https://api.github.com/, or, if a proxy"}},
		{name: "without the API", web: "https://ghe.test", wrong: []string{keyWebURL + " is set and " + keyV3URL + " is not"}},
		{name: "GraphQL without REST", v4: "https://ghe.test/api/graphql", wrong: []string{keyV4URL + " is set and " + keyV3URL + " is not"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := load(map[string]string{keyAppID: "42", keyPrivateKey: key, keyWebhookSecret: "s", keyV3URL: tt.v3, keyV4URL: tt.v4, keyWebURL: tt.web}, "")
			var problems *SettingsError
			errors.As(err, &problems)
			if len(tt.wrong) == 0 {
				if got := [3]string{s.V3URL, s.V4URL, s.WebURL}; err != nil || got != tt.want {
					t.Errorf("%v, %v; want %v", got, err, tt.want)
				}
				return
			}
			if problems == nil || len(problems.Problems) != len(tt.wrong) {
				t.Fatalf("%v; want %q", err, tt.wrong)
			}
			for i, want := range tt.wrong {
				if !strings.HasPrefix(problems.Problems[i], want) {
					t.Errorf("problem %q, want %q", problems.Problems[i], want)
				}
			}
		})
	}
}

func TestSettingsFromAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pemFile, file := filepath.Join(dir, "app.pem"), filepath.Join(dir, "settings.yml")
	if err := os.WriteFile(pemFile, []byte(privateKey(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	text := "GITHUB_APP_INTEGRATION_ID: 42\nGITHUB_APP_PRIVATE_KEY_FILE: " + pemFile + "\nGITHUB_APP_WEBHOOK_SECRET: from-file\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := load(map[string]string{keyWebhookSecret: "from-env"}, file)
	if err != nil {
		t.Fatal(err)
	}
	if s.AppID != 42 || string(s.WebhookSecrets[0]) != "from-env" {
		t.Errorf("id %d, secret %q: the environment must override the file", s.AppID, s.WebhookSecrets)
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := load(map[string]string{
		keyAppID: "forty-two", keyPrivateKey: "not a key", keyWebhookSecret: "a,,b", keyV3URL: "api.github.com",
		keyAddr: "8080", keyDatabaseURL: "mysql://root:hunter2@db/x", keyLogLevel: "loud", keyLogFormat: "xml",
		keyDeliveryLog: "5", keySweep: "10ms", keyRetention: "90", keyLogs: "two years",
	}, "")
	var se *SettingsError
	if !errors.As(err, &se) {
		t.Fatalf("error %v", err)
	}
	for _, key := range []string{keyAppID, keyPrivateKey, keyWebhookSecret, keyV3URL, keyAddr, keyDatabaseURL, keyLogLevel, keyLogFormat, keyDeliveryLog, keySweep, keyRetention, keyLogs} {
		if !strings.Contains(err.Error(), key+" ") && !strings.Contains(err.Error(), key+":") {
			t.Errorf("%s is not named in:\n%v", key, err)
		}
	}
	if len(se.Problems) != 12 {
		t.Errorf("%d problems, want 12:\n%v", len(se.Problems), err)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Error("the message shows a password")
	}
}

// Whatever setting is mistyped or in the wrong place, no secret is shown.
func TestProblemsShowNoSecret(t *testing.T) {
	t.Parallel()
	good := map[string]string{keyAppID: "42", keyPrivateKey: privateKey(t), keyWebhookSecret: "s"}
	refused := func(name string, set map[string]string, file string) {
		t.Helper()
		all := maps.Clone(good)
		maps.Copy(all, set)
		path := ""
		if file != "" {
			path = filepath.Join(t.TempDir(), "settings.yml")
			if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := load(all, path)
		if !IsSettingsError(err) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "hunt") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, url := range []string{
		"host=db user=rg password=hunter2", "postgresql//rg:hunter2@db/x", "postgres:rg:hunter2@db/x", "mysql://root:hunter2@db/x",
		"mysql://db/x?password=hunter2", "postgres://rg:hun ter2@db/x", "postgres://rg:hunt%zzer2@db/x", "postgres://rg:hunter2@db:99999/x",
		"postgres://db/x?password=hunter2&sslmode=no",
	} {
		refused(url, map[string]string{keyDatabaseURL: url}, "")
	}
	for _, url := range []string{"ghe.test/api?token=hunter2", "me:hunter2@ghe.test", "https://me:hunter2@ghe test/"} {
		refused(url, map[string]string{keyV3URL: url}, "")
		refused(url, map[string]string{keyOTLP: url}, "")
	}
	refused("the secret in place of the id", map[string]string{keyAppID: "hunter2"}, "")
	refused("headers", map[string]string{keyOTLP: "http://127.0.0.1:1", keyOTLPHeaders: "hunter2"}, "")
	for _, text := range []string{
		"GITHUB_APP_WEBHOOK_SECRET=hunter2\n", "hunter2\n", "hunter2: x\n", "GITHUB_APP_WEBHOOK_SECRET=hunter2: x\n", "- hunter2\n",
		"GITHUB_APP_WEBHOOK_SECRET: *hunter2\n", "GITHUB_APP_WEBHOOK_SECRET: !!int hunter2\n", "GITHUB_APP_WEBHOOK_SECRET: [hunter2]\n",
		"GITHUB_APP_WEBHOOK_SECRET: {hunter2: 1}\n", "GITHUB_APP_WEBHOOK_SECRET: 'hunter2\n", "hunter2: 1\nhunter2: 2\n",
	} {
		refused("file "+text, nil, text)
	}
}

// The endpoint for all signals is a base. Its path is extended, and its query stays.
func TestTracesEndpoint(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"http://127.0.0.1:4318":           "http://127.0.0.1:4318/v1/traces",
		"http://127.0.0.1:4318/":          "http://127.0.0.1:4318/v1/traces",
		"https://otlp.test/in?key=abc":    "https://otlp.test/in/v1/traces?key=abc",
		"https://me:secret@otlp.test/in/": "https://me:secret@otlp.test/in/v1/traces",
	} {
		s, err := load(map[string]string{keyAppID: "42", keyPrivateKey: privateKey(t), keyWebhookSecret: "s", keyOTLP: base}, "")
		if err != nil || s.Traces.Endpoint != want {
			t.Errorf("%s: %s, %v, want %s", base, s.Traces.Endpoint, err, want)
		}
	}
}

func TestMissingSettings(t *testing.T) {
	t.Parallel()
	_, err := load(nil, "")
	for _, key := range []string{keyAppID, keyPrivateKey, keyWebhookSecret} {
		if err == nil || !strings.Contains(err.Error(), key+" is missing") {
			t.Errorf("the error does not say that %s is missing: %v", key, err)
		}
	}
}

func TestSettingsFileProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"GITHUB_APP_ID: 42\n": "GITHUB_APP_ID is not a setting",
		"- a\n- b\n":          "must be KEY: value lines",
		"[1]":                 "must be KEY: value lines",
		"a: [":                "is not valid YAML at line 1",
		"REVIEWGATE_ADDR: a\nREVIEWGATE_ADDR: b\n": "has REVIEWGATE_ADDR twice at line 2; keep one",
	} {
		file := filepath.Join(t.TempDir(), "settings.yml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := load(nil, file); err == nil || !strings.Contains(err.Error(), "settings file "+file+" "+want) && !strings.Contains(err.Error(), "settings file "+file+": "+want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := load(nil, "/does/not/exist"); err == nil || !strings.Contains(err.Error(), "can't be read") {
		t.Errorf("missing file: %v", err)
	}
}

// The server refuses anything but a regular file at once, and reads every file with a size
// limit.
func TestSettingsReadOnlySmallRegularFiles(t *testing.T) {
	t.Parallel()
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, bytes.Repeat([]byte("a"), maxSettingsFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	wanted := map[string]string{large: "more than the 1048576 bytes allowed"}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if mkfifo, err := exec.LookPath("mkfifo"); err == nil && exec.Command(mkfifo, fifo).Run() == nil {
		wanted[fifo] = "regular file"
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		wanted["/dev/zero"] = "regular file"
	}
	for name, want := range wanted {
		if _, err := load(nil, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("settings file %s: %v, want %q", name, err, want)
		}
		_, err := load(map[string]string{keyAppID: "42", keyPrivateKeyFile: name, keyWebhookSecret: "s"}, "")
		if err == nil || !strings.Contains(err.Error(), keyPrivateKeyFile+" can't be read: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("private key file %s: %v, want %q", name, err, want)
		}
	}
}

func TestDatabaseSettingAlone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "settings.yml")
	if err := os.WriteFile(file, []byte("REVIEWGATE_DATABASE_URL: sqlite:///var/lib/rg.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if url, err := LoadDatabaseURL(func(string) string { return "" }, file); err != nil || url != "sqlite:///var/lib/rg.db" {
		t.Errorf("%q, %v", url, err)
	}
	if _, err := LoadDatabaseURL(func(string) string { return "mysql://x" }, ""); err == nil || !strings.Contains(err.Error(), keyDatabaseURL) {
		t.Errorf("%v", err)
	}
}

// The start reports all faults of the server's config.
func TestBrokenConfigOfTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		config.FileSettings: "{\n  \"modus\": \"off\"\n}",
		config.FileRules:    "[\n  {\"id\": \"x\"},\n  {\"id\": 1}\n]",
		"review-rule.json":  "[]",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := map[string]string{keyAppID: "42", keyPrivateKey: privateKey(t), keyWebhookSecret: "s"}
	good[keyConfigDir] = dir
	_, err := load(good, "")
	if !IsSettingsError(err) {
		t.Fatalf("error %v", err)
	}
	for _, place := range []string{"review-settings.json:2:3: /modus: ", "review-rules.json:2:", "review-rules.json:3:", "review-rule.json"} {
		if !strings.Contains(err.Error(), keyConfigDir+": "+filepath.Join(dir, place)) {
			t.Errorf("%s is not named in:\n%v", place, err)
		}
	}
	good[keyConfigDir] = filepath.Join(dir, "missing")
	if _, err := load(good, ""); !IsSettingsError(err) || !strings.Contains(err.Error(), keyConfigDir) {
		t.Errorf("missing directory: %v", err)
	}
	good[keyConfigDir] = t.TempDir()
	if s, err := load(good, ""); err != nil || len(s.Config.Files) != 0 {
		t.Errorf("empty directory: %+v, %v", s.Config, err)
	}

	// A shadow config that is not there would never be missed.
	good[keyShadowConfig] = t.TempDir()
	if _, err := load(good, ""); !IsSettingsError(err) || !strings.Contains(err.Error(), "has no config files, so there is nothing to try") {
		t.Errorf("empty shadow directory: %v", err)
	}
	good[keyShadowConfig] = dir
	if _, err := load(good, ""); !IsSettingsError(err) || !strings.Contains(err.Error(), keyShadowConfig+": "+filepath.Join(dir, "review-settings.json:2:3: /modus: ")) {
		t.Errorf("broken shadow config: %v", err)
	}
}

// remoteConfig makes a directory with the server's config: a remote reviewer that is off and an
// escalation webhook, each with its variable.
func remoteConfig(t *testing.T, reviewer, escalation string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		config.FileAgents:   `[{"id": "remote", "enabled": false, "name": "R", "kind": "webhook", "description": "d", "webhook": {"url": "https://r.test/", "secret_env": "` + reviewer + `"}}]`,
		config.FileSettings: `{"escalation_webhook": {"url": "https://e.test/", "secret_env": "` + escalation + `"}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The secrets of remote reviewers come from the variables that the config names. The error at the start
// names those that can't be used, and never shows their values.
func TestSecretsOfRemoteReviewers(t *testing.T) {
	t.Parallel()
	const first, second = "0123456789abcdef", "éééééééééééééééé"
	key, dir := privateKey(t), remoteConfig(t, "REVIEWER_SECRET", "_ESCALATION")
	base := func(more map[string]string) map[string]string {
		env := map[string]string{keyAppID: "42", keyPrivateKey: key, keyWebhookSecret: "0123456789abcdefg", keyConfigDir: dir, keyPublicURL: "http://127.0.0.1:8080"}
		maps.Copy(env, more)
		return env
	}
	s, err := load(base(map[string]string{"REVIEWER_SECRET": first, "_ESCALATION": second}), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"remote": first, "": second}, s.ReviewerSecrets); diff != "" {
		t.Error(diff)
	}
	for name, tt := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"none": {nil, []string{
			`REVIEWER_SECRET is missing: set it to the secret of the agent "remote"`,
			`_ESCALATION is missing: set it to the secret of the escalation_webhook`,
		}},
		"short ones": {map[string]string{"REVIEWER_SECRET": "hunter2hunter2h", "_ESCALATION": " hunter2        "}, []string{
			`REVIEWER_SECRET is too short: the secret of the agent "remote" needs at least 16 characters, such as the output of openssl rand -hex 32`,
			`_ESCALATION is too short: the secret of the escalation_webhook needs at least 16 characters, such as the output of openssl rand -hex 32`,
		}},
		"the server's own": {map[string]string{keyConfigDir: remoteConfig(t, keyWebhookSecret, "_ESCALATION"), "_ESCALATION": second}, []string{
			`REVIEWGATE_CONFIG_DIR: secret_env of the agent "remote" is GITHUB_APP_WEBHOOK_SECRET, which is a setting of the server: use a separate variable for this secret`,
		}},
		"no address": {map[string]string{"REVIEWER_SECRET": first, "_ESCALATION": second, keyPublicURL: ""}, []string{
			`REVIEWGATE_PUBLIC_URL is missing: the agent "remote" sends its answers there, so set it to a URL such as https://reviewgate.example.com`,
		}},
	} {
		_, err := load(base(tt.env), "")
		var wrong *SettingsError
		if !errors.As(err, &wrong) {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, wrong.Problems); diff != "" {
			t.Errorf("%s: problems (-want +got):\n%s", name, diff)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows a secret: %v", name, err)
		}
	}
}

func TestPublicURLAndIssuer(t *testing.T) {
	t.Parallel()
	key := privateKey(t)
	try := func(env map[string]string) (Settings, error) {
		all := map[string]string{keyAppID: "42", keyPrivateKey: key, keyWebhookSecret: "s"}
		maps.Copy(all, env)
		return load(all, "")
	}
	for v, want := range map[string]string{
		"": "", "https://rg.test": "https://rg.test", "https://rg.test:8443/": "https://rg.test:8443",
		"http://localhost:8080": "http://localhost:8080", "http://127.0.0.1:8080": "http://127.0.0.1:8080", "http://[::1]:1": "http://[::1]:1",
	} {
		if s, err := try(map[string]string{keyPublicURL: v}); err != nil || s.PublicURL != want {
			t.Errorf("%q: %q, %v", v, s.PublicURL, err)
		}
	}
	const noURL, more = `write an https URL such as https://reviewgate.example.com; http is allowed only for this machine`, `has more than a host and a port: write a URL such as https://reviewgate.example.com`
	for v, want := range map[string]string{
		"rg.test": noURL, "http://rg.test": noURL, "http://10.0.0.1": noURL, "ftp://rg.test": noURL, "https://": noURL,
		"https://rg.test/path": more, "https://me:hunter2@rg.test": more, "https://rg.test?a=hunter2": more, "https://rg.test?": more, "https://rg.test#": more,
	} {
		_, err := try(map[string]string{keyPublicURL: v})
		if !IsSettingsError(err) || !strings.Contains(err.Error(), keyPublicURL) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", v, err)
		}
	}
	for _, tt := range []struct{ v3, v, want string }{
		{"", "", "https://token.actions.githubusercontent.com"},
		{"https://api.octo.ghe.com/", "", "https://token.actions.octo.ghe.com"},
		{"https://GHE.test:8443/api/v3/", "", "https://ghe.test:8443/_services/token"},
		{"http://ghe.test/api/v3/", "", "https://ghe.test/_services/token"},
		{"http://127.0.0.1:1/api/v3/", "", "http://127.0.0.1:1/_services/token"},
		{"", "off", ""},
		{"https://ghe.test/api/v3/", "https://token.actions.githubusercontent.com/acme/", "https://token.actions.githubusercontent.com/acme"},
		{"", "http://127.0.0.1:1/x", "http://127.0.0.1:1/x"},
	} {
		if s, err := try(map[string]string{keyV3URL: tt.v3, keyOIDCIssuer: tt.v}); err != nil || s.OIDCIssuer != tt.want {
			t.Errorf("%+v: %q, %v", tt, s.OIDCIssuer, err)
		}
	}
	for _, v := range []string{"on", "http://ghe.test/_services/token", "https://me:hunter2@ghe.test", "https://ghe.test/?a=hunter2", "https://ghe.test/?", "https://ghe.test/#a"} {
		_, err := try(map[string]string{keyOIDCIssuer: v})
		if !IsSettingsError(err) || !strings.Contains(err.Error(), keyOIDCIssuer) || !strings.Contains(err.Error(), "write an https URL such as https://github.example.com/_services/token, or off") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// The manifest asks for what the App uses, which is the same as the stand-in's default
// permissions.
func TestManifestAsksForWhatTheAppUses(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../deploy/app-manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Permissions map[string]string `json:"default_permissions"`
		Events      []string          `json:"default_events"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ghtest.DefaultPermissions(), manifest.Permissions); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(ghtest.DefaultEvents(), manifest.Events); diff != "" {
		t.Error(diff)
	}
}
