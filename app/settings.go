package app

import (
	"cmp"
	"crypto/rsa"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v4"
	"github.com/rs/zerolog"
	"go.yaml.in/yaml/v3"
	"golang.org/x/net/http/httpguts"

	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/internal/telemetry"
	"github.com/reviewgate/reviewgate/config"
)

// Settings are what a server is started with. LoadSettings fills them from
// the environment and, below it, from a file.
type Settings struct {
	AppID          int64
	PrivateKey     []byte   // PEM
	WebhookSecrets [][]byte // several while a secret is being rotated; none is empty
	V3URL          string   // with a trailing slash
	V4URL          string
	WebURL         string // without a trailing slash

	Addr        string // host:port to listen on
	DatabaseURL string // sqlite://FILE or postgres://...
	LogLevel    zerolog.Level
	LogFormat   LogFormat
	// Config is the server's layer of config, read at the start. It is valid. It
	// has no files if the server has no config.
	Config config.Layer
	// Shadow is another layer in its place, under which each review is computed too, without
	// any effect. It is valid. It has no files if the server has no shadow config.
	Shadow config.Layer
	// ModelKeys are the API keys of the language models in Config, by the names
	// of their variables.
	ModelKeys map[string]string
	// ReviewerSecrets are the secrets, by agent id, that sign the requests to remote reviewers and their
	// answers. The secret of the escalation webhook has the empty id.
	ReviewerSecrets map[string]string
	// PublicURL is the server's address as seen from outside: a scheme, a host and maybe a port,
	// without a trailing slash. Remote reviewers send answers there, and it is the audience of OIDC
	// tokens. It is empty if it was not set; Config then has no remote reviewers.
	PublicURL string
	// OIDCIssuer issues the tokens of GitHub Actions. It is empty if they are not accepted.
	OIDCIssuer string
	// Dial connects to the language models. It is needed only if Config names any.
	Dial model.Dial `json:"-"`

	// DeliveryLogInterval is how often the server searches the App's delivery log
	// for lost webhooks. SweepInterval is how often it searches for open pull
	// requests without an answer. 0 means never; LoadSettings never returns 0.
	DeliveryLogInterval time.Duration
	SweepInterval       time.Duration
	// Retention is how long reviews and closed pull requests are kept; 0 means for ever.
	Retention time.Duration
	// AnalyticsRetention is how long the logs for analytics are kept; 0 means for ever.
	AnalyticsRetention time.Duration

	// Traces say where spans go; the zero value means nowhere.
	Traces telemetry.Tracing
}

// The keys of the settings, in the environment and in the file. Those of
// GitHub are go-githubapp's own names.
const (
	keyAppID          = "GITHUB_APP_INTEGRATION_ID"
	keyPrivateKey     = "GITHUB_APP_PRIVATE_KEY"
	keyPrivateKeyFile = "GITHUB_APP_PRIVATE_KEY_FILE"
	keyWebhookSecret  = "GITHUB_APP_WEBHOOK_SECRET"
	keyV3URL          = "GITHUB_V3_API_URL"
	keyV4URL          = "GITHUB_V4_API_URL"
	keyWebURL         = "GITHUB_WEB_URL"
	keyAddr           = "REVIEWGATE_ADDR"
	keyDatabaseURL    = "REVIEWGATE_DATABASE_URL"
	keyConfigDir      = "REVIEWGATE_CONFIG_DIR"
	keyShadowConfig   = "REVIEWGATE_SHADOW_CONFIG_DIR"
	keyLogLevel       = "REVIEWGATE_LOG_LEVEL"
	keyLogFormat      = "REVIEWGATE_LOG_FORMAT"
	keyDeliveryLog    = "REVIEWGATE_DELIVERY_LOG_INTERVAL"
	keySweep          = "REVIEWGATE_SWEEP_INTERVAL"
	keyRetention      = "REVIEWGATE_RETENTION"
	keyLogs           = "REVIEWGATE_ANALYTICS_RETENTION"
	keyPublicURL      = "REVIEWGATE_PUBLIC_URL"
	keyOIDCIssuer     = "REVIEWGATE_OIDC_ISSUER"
	keyAnthropic      = "ANTHROPIC_API_KEY"
	keyOpenAI         = "OPENAI_API_KEY"

	// OpenTelemetry's own names.
	keyOTLP         = "OTEL_EXPORTER_OTLP_ENDPOINT"
	keyOTLPTraces   = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	keyOTLPHeaders  = "OTEL_EXPORTER_OTLP_HEADERS"
	keyOTLPProtocol = "OTEL_EXPORTER_OTLP_PROTOCOL"
	keyOTELService  = "OTEL_SERVICE_NAME"
)

var keys = []string{
	keyAppID, keyPrivateKey, keyPrivateKeyFile, keyWebhookSecret, keyV3URL, keyV4URL, keyWebURL,
	keyAddr, keyDatabaseURL, keyConfigDir, keyShadowConfig, keyLogLevel, keyLogFormat, keyDeliveryLog, keySweep, keyRetention, keyLogs,
	keyPublicURL, keyOIDCIssuer, keyAnthropic, keyOpenAI,
	keyOTLP, keyOTLPTraces, keyOTLPHeaders, keyOTLPProtocol, keyOTELService,
}

// SettingsError lists everything that is wrong with the settings.
type SettingsError struct{ Problems []string }

func (e *SettingsError) Error() string {
	return "the settings are not usable:\n  - " + strings.Join(e.Problems, "\n  - ")
}

// LoadSettings reads the settings from getenv (os.Getenv) and, for keys that
// are not set there, from a YAML or JSON file with the same keys. An empty
// file name means no file. dial connects to language models (sdk.New). A
// *SettingsError lists all problems at once.
func LoadSettings(getenv func(string) string, file string, dial model.Dial) (Settings, error) {
	r := settingsReader{getenv: getenv}
	if file != "" {
		r.readFile(file)
	}
	s := Settings{
		AppID:          r.appID(),
		PrivateKey:     r.privateKey(),
		WebhookSecrets: r.secrets(),
		Addr:           r.addr(),
		DatabaseURL:    r.databaseURL(),
		LogLevel:       r.logLevel(),
		LogFormat:      r.logFormat(),
		Config:         r.config(keyConfigDir),
		Shadow:         r.config(keyShadowConfig),

		DeliveryLogInterval: r.duration(keyDeliveryLog, 5*time.Minute),
		SweepInterval:       r.duration(keySweep, time.Hour),
		Retention:           r.retention(keyRetention, defaultRetention),
		AnalyticsRetention:  r.retention(keyLogs, defaultLogs),

		Traces: r.traces(),
	}
	s.V3URL, s.V4URL, s.WebURL = r.github()
	s.PublicURL, s.OIDCIssuer = r.publicURL(), r.oidcIssuer(s.WebURL)
	s.ModelKeys, s.Dial = r.modelKeys(s.Config, dial), dial
	s.ReviewerSecrets = r.reviewerSecrets(s.Config, s.PublicURL)
	if len(r.problems) > 0 {
		return Settings{}, &SettingsError{Problems: r.problems}
	}
	return s, nil
}

// LoadDatabaseURL reads only the setting of the database, in the same way as
// LoadSettings.
func LoadDatabaseURL(getenv func(string) string, file string) (string, error) {
	r := settingsReader{getenv: getenv}
	if file != "" {
		r.readFile(file)
	}
	url := r.databaseURL()
	if len(r.problems) > 0 {
		return "", &SettingsError{Problems: r.problems}
	}
	return url, nil
}

type settingsReader struct {
	getenv   func(string) string
	file     map[string]string
	problems []string
}

func (r *settingsReader) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// maxSettingsFile is far more than a private key and a few URLs need.
const maxSettingsFile = 1 << 20

// readSmall reads a file that the settings name.
func readSmall(name string) ([]byte, error) {
	text, err := config.ReadRegular(name, maxSettingsFile+1)
	if err == nil && len(text) > maxSettingsFile {
		err = fmt.Errorf("%s has more than the %d bytes allowed", name, maxSettingsFile)
	}
	return text, err
}

func (r *settingsReader) readFile(name string) {
	text, err := readSmall(name)
	if err != nil {
		r.problem("settings file %s can't be read: %v", name, err)
		return
	}
	if err := yaml.Unmarshal(text, &r.file); err != nil {
		place := ""
		if line := yamlLine.FindString(err.Error()); line != "" {
			place = " at " + line
		}
		key := yamlTwice.FindStringSubmatch(err.Error())
		switch {
		case key != nil && slices.Contains(keys, key[1]):
			r.problem("settings file %s has %s twice%s; keep one", name, key[1], place)
			return
		case strings.HasSuffix(err.Error(), "into map[string]string"):
			r.problem("settings file %s must be KEY: value lines", name)
			return
		}
		r.problem("settings file %s is not valid YAML%s; write one \"KEY: value\" a line", name, place)
		return
	}
	for k := range r.file {
		switch {
		case slices.Contains(keys, k):
		case keyPattern.MatchString(k):
			r.problem("settings file %s: %s is not a setting; the settings are %s", name, k, strings.Join(keys, ", "))
		default: // it may be a secret value in a key's place: don't repeat it
			r.problem("settings file %s: one of its keys is not written like a setting's name; the settings are %s", name, strings.Join(keys, ", "))
		}
	}
	slices.Sort(r.problems)
}

var (
	keyPattern = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`)
	yamlTwice  = regexp.MustCompile(`mapping key "([A-Z0-9_]+)" already defined`)
	// yamlLine finds the line number in a YAML error. The rest of the error may repeat
	// secrets of the file.
	yamlLine = regexp.MustCompile(`line [0-9]+`)
)

func (r *settingsReader) get(key string) string {
	if v := strings.TrimSpace(r.getenv(key)); v != "" {
		return v
	}
	return strings.TrimSpace(r.file[key])
}

func (r *settingsReader) appID() int64 {
	v := r.get(keyAppID)
	if v == "" {
		r.problem("%s is missing: set it to the App ID shown on the App's settings page", keyAppID)
		return 0
	}
	id, err := strconv.ParseInt(v, 10, 64)
	if err != nil || id <= 0 {
		// The value is not repeated: it may be a secret from the line below.
		r.problem("%s is not a whole number: set it to the App ID shown on the App's settings page", keyAppID)
	}
	return id
}

func (r *settingsReader) privateKey() []byte {
	key, file := r.get(keyPrivateKey), r.get(keyPrivateKeyFile)
	switch {
	case key == "" && file == "":
		r.problem("%s is missing: set it to the PEM text of a private key made on the App's settings page, or %s to its file", keyPrivateKey, keyPrivateKeyFile)
		return nil
	case key != "" && file != "":
		r.problem("%s and %s are both set: keep one", keyPrivateKey, keyPrivateKeyFile)
		return nil
	}
	pem := []byte(strings.ReplaceAll(key, `\n`, "\n")) // as .env files write it
	where := keyPrivateKey
	if file != "" {
		var err error
		if pem, err = readSmall(file); err != nil {
			r.problem("%s can't be read: %v", keyPrivateKeyFile, err)
			return nil
		}
		where = keyPrivateKeyFile
	}
	if _, err := parseKey(pem); err != nil {
		r.problem("%s is not an RSA private key in PEM form: download a new one from the App's settings page", where)
		return nil
	}
	return pem
}

func parseKey(pem []byte) (*rsa.PrivateKey, error) { return jwt.ParseRSAPrivateKeyFromPEM(pem) }

// secrets reads the webhook secrets. An empty one would accept any sender.
func (r *settingsReader) secrets() [][]byte {
	v := r.get(keyWebhookSecret)
	if v == "" {
		r.problem("%s is missing: set it to the App's webhook secret; without one anybody could send webhooks", keyWebhookSecret)
		return nil
	}
	var secrets [][]byte
	for i, s := range strings.Split(v, ",") {
		if s = strings.TrimSpace(s); s == "" {
			r.problem("%s: entry %d of the comma-separated list is empty; an empty secret would accept any sender", keyWebhookSecret, i+1)
			continue
		}
		secrets = append(secrets, []byte(s))
	}
	return secrets
}

func (r *settingsReader) url(key, fallback, example string) string {
	v := r.get(key)
	if v == "" {
		return fallback
	}
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		r.problem("%s is %s: write a whole URL such as %s", key, shown(v), example)
		return fallback
	}
	return v
}

// Example URLs of a GitHub Enterprise Server.
const (
	exampleV3  = "https://github.example.com/api/v3/"
	exampleV4  = "https://github.example.com/api/graphql"
	exampleWeb = "https://github.example.com"
)

// github reads GitHub's three URLs. The URL of the REST API usually implies the other two:
// github.com and ghe.com have them on sibling hosts, GitHub Enterprise Server on the same
// host. A URL that does not follow must be set. Otherwise the server would ask one GitHub
// about pull requests of another.
func (r *settingsReader) github() (v3, v4, web string) {
	before := len(r.problems)
	v3 = withSlash(r.url(keyV3URL, "https://api.github.com/", exampleV3))
	if api, err := url.Parse(v3); err == nil {
		if api.User != nil || api.RawQuery != "" || api.Fragment != "" {
			r.problem("%s holds more than an address and a path: write one such as %s", keyV3URL, exampleV3)
		}
		root := &url.URL{Scheme: api.Scheme, Host: strings.ToLower(api.Host)}
		host, beside := strings.CutPrefix(root.Host, "api.")
		switch {
		case api.Path == "/api/v3/":
			v4, web = root.JoinPath("api/graphql").String(), root.String()
		case beside && api.Path == "/":
			v4, root.Host = root.JoinPath("graphql").String(), host
			web = root.String()
		}
	}
	if len(r.problems) > before {
		return v3, v4, web // the others can't be compared with it
	}
	if v4 == "" && r.get(keyV4URL) == "" && r.get(keyWebURL) == "" {
		r.problem("%s is %s: write %s, or, if a proxy gives the API another path, also set %s and %s", keyV3URL, v3, likelyAPI(v3), keyV4URL, keyWebURL)
		return v3, v4, web
	}
	for _, one := range []struct {
		key, example string
		url          *string
	}{{keyV4URL, exampleV4, &v4}, {keyWebURL, exampleWeb, &web}} {
		known := *one.url
		*one.url = strings.TrimRight(r.url(one.key, known, one.example), "/")
		switch {
		case *one.url == "" && r.get(one.key) == "":
			r.problem("%s is missing: it doesn't follow from %s, so set it to a URL such as %s", one.key, keyV3URL, one.example)
		case *one.url != known && r.get(keyV3URL) == "":
			r.problem("%s is set and %s is not: set that too, to a URL such as %s", one.key, keyV3URL, exampleV3)
		}
	}
	return v3, v4, web
}

// likelyAPI guesses the REST API's URL from another URL of the same GitHub.
func likelyAPI(v3 string) string {
	u, err := url.Parse(v3)
	if err != nil {
		return exampleV3
	}
	host := strings.TrimPrefix(strings.ToLower(u.Host), "api.")
	if host == "github.com" || strings.HasSuffix(host, ".ghe.com") {
		return u.Scheme + "://api." + host + "/"
	}
	return u.Scheme + "://" + u.Host + "/api/v3/"
}

func (r *settingsReader) addr() string {
	v := r.get(keyAddr)
	if v == "" {
		return "127.0.0.1:8080"
	}
	_, port, err := net.SplitHostPort(v)
	n, perr := strconv.ParseUint(port, 10, 16)
	if err != nil || perr != nil || n > 65535 {
		r.problem("%s is %q: write host:port, such as 0.0.0.0:8080", keyAddr, v)
	}
	return v
}

func (r *settingsReader) databaseURL() string {
	v := r.get(keyDatabaseURL)
	switch {
	case v == "":
		return "sqlite://reviewgate.db"
	case strings.HasPrefix(v, "sqlite://") && len(v) > len("sqlite://"):
		return v
	case strings.HasPrefix(v, "postgres://"), strings.HasPrefix(v, "postgresql://"):
		if err := store.CheckURL(v); err != nil {
			r.problem("%s: %v", keyDatabaseURL, err)
		}
		return v
	}
	r.problem("%s is %s: write sqlite://FILE or postgres://USER:PASSWORD@HOST/DATABASE", keyDatabaseURL, shown(v))
	return v
}

// config reads a layer of the server's config from the directory of a key, and lists all its problems.
func (r *settingsReader) config(key string) config.Layer {
	dir := r.get(key)
	if dir == "" {
		return config.Layer{}
	}
	layer, err := config.ReadDir(config.LayerServer, dir)
	if err != nil {
		r.problem("%s can't be read: %v", key, err)
		return config.Layer{}
	}
	if len(layer.Files) == 0 {
		if key == keyShadowConfig {
			r.problem("%s: %s has no config files, so there is nothing to try: name another directory, or leave it out", key, dir)
		}
		return layer
	}
	_, problems := config.Load(layer)
	for _, p := range problems {
		if p.File != "" {
			p.File = filepath.Join(dir, p.File)
		}
		r.problem("%s: %s", key, config.FormatProblem(p))
	}
	return layer
}

// modelKeys reads the API keys of the models that the server's config names. All of
// them must be usable. Keys of other models are not read.
func (r *settingsReader) modelKeys(layer config.Layer, dial model.Dial) map[string]string {
	cfg, problems := config.Load(layer)
	if len(problems) > 0 || len(cfg.Settings.ModelEndpoints) == 0 {
		return nil // config has reported the problems, or there are no models
	}
	keys := map[string]string{}
	for _, e := range cfg.Settings.ModelEndpoints {
		name := model.KeyVariable(e)
		keys[name] = r.get(name)
	}
	if _, err := model.Open(cfg.Settings.ModelEndpoints, dial, func(name string) string { return keys[name] }); err != nil {
		for line := range strings.Lines(err.Error()) {
			r.problem("%s: %s", keyConfigDir, strings.TrimSpace(line))
		}
	}
	return keys
}

// minReviewerSecret is the minimum length of a remote reviewer's secret, in characters.
const minReviewerSecret = 16

// reviewerSecrets reads the secrets of all remote reviewers that the server's config names, and of its
// escalation webhook. It also reads those of agents that are off, because a repository may switch
// them on.
func (r *settingsReader) reviewerSecrets(layer config.Layer, publicURL string) map[string]string {
	cfg, problems := config.Load(layer)
	if len(problems) > 0 {
		return nil // config has reported them
	}
	secrets := map[string]string{}
	read := func(id, of string, to *config.Receiver) {
		switch v := r.get(to.SecretEnv); {
		case slices.Contains(keys, to.SecretEnv):
			r.problem("%s: secret_env of %s is %s, which is a setting of the server: use a separate variable for this secret", keyConfigDir, of, to.SecretEnv)
		case v == "":
			r.problem("%s is missing: set it to the secret of %s", to.SecretEnv, of)
		case utf8.RuneCountInString(v) < minReviewerSecret:
			r.problem("%s is too short: the secret of %s needs at least %d characters, such as the output of openssl rand -hex 32", to.SecretEnv, of, minReviewerSecret)
		default:
			secrets[id] = v
		}
	}
	remote := ""
	for i := range cfg.Agents {
		if a := &cfg.Agents[i]; a.Kind == config.KindWebhook {
			remote = cmp.Or(remote, a.ID)
			read(a.ID, fmt.Sprintf("the agent %q", a.ID), &a.Webhook.Receiver)
		}
	}
	if to := cfg.Settings.EscalationWebhook; to != nil {
		read("", "the escalation_webhook", to)
	}
	if remote != "" && publicURL == "" && r.get(keyPublicURL) == "" {
		r.problem("%s is missing: the agent %q sends its answers there, so set it to a URL such as %s", keyPublicURL, remote, examplePublic)
	}
	if len(secrets) == 0 {
		return nil
	}
	return secrets
}

const examplePublic = "https://reviewgate.example.com"

// publicURL reads the server's address as seen from outside.
func (r *settingsReader) publicURL() string {
	v := strings.TrimSuffix(r.get(keyPublicURL), "/")
	if v == "" {
		return ""
	}
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Hostname() == "" || !isSafe(u):
		r.problem("%s is %s: write an https URL such as %s; http is allowed only for this machine", keyPublicURL, shown(v), examplePublic)
	case u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || strings.Contains(v, "#"):
		r.problem("%s has more than a host and a port: write a URL such as %s", keyPublicURL, examplePublic)
	default:
		return v
	}
	return ""
}

// isSafe reports whether a URL uses https or points to this machine.
func isSafe(u *url.URL) bool {
	host := u.Hostname()
	addr, err := netip.ParseAddr(host)
	return u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || err == nil && addr.IsLoopback())
}

// githubIssuer issues the tokens of GitHub Actions at github.com.
const githubIssuer = "https://token.actions.githubusercontent.com"

// oidcIssuer reads the issuer of the tokens of GitHub Actions. By default it is derived from GitHub's web
// address.
func (r *settingsReader) oidcIssuer(web string) string {
	switch v := strings.TrimSuffix(r.get(keyOIDCIssuer), "/"); v {
	case "":
		return issuerOf(web)
	case "off":
		return ""
	default:
		u, err := url.Parse(v)
		if err != nil || u.Hostname() == "" || !isSafe(u) || u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(v, "#") {
			r.problem("%s is %s: write an https URL such as %s, or off", keyOIDCIssuer, shown(v), "https://github.example.com/_services/token")
			return ""
		}
		return v
	}
}

// issuerOf returns the issuer of the tokens of GitHub Actions for the GitHub at a web address.
func issuerOf(web string) string {
	u, err := url.Parse(web)
	if err != nil {
		return "" // r.github has reported it
	}
	switch host := strings.ToLower(u.Host); {
	case host == "github.com":
		return githubIssuer
	case strings.HasSuffix(host, ".ghe.com"):
		return "https://token.actions." + host
	case isSafe(u):
		return u.Scheme + "://" + host + "/_services/token"
	default:
		return "https://" + host + "/_services/token"
	}
}

// duration reads an interval. With an interval of less than a second, the server would
// do nothing else.
func (r *settingsReader) duration(key string, fallback time.Duration) time.Duration {
	v := r.get(key)
	if v == "" {
		return fallback
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Second || d > 24*time.Hour {
		r.problem("%s is %q: write a time from 1s to 24h, such as %s", key, v, short(fallback))
		return fallback
	}
	return d
}

// day is the unit of retention.
const day = 24 * time.Hour

// defaultRetention is the default period of a backtest. defaultLogs is two years.
const (
	defaultRetention = 90 * day
	defaultLogs      = 730 * day
)

// retention reads how long to keep something, in days; 0 means for ever.
func (r *settingsReader) retention(key string, standard time.Duration) time.Duration {
	v := r.get(key)
	switch v {
	case "":
		return standard
	case "0":
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSuffix(v, "d"))
	if err != nil || !strings.HasSuffix(v, "d") || n < 1 || n > 3650 {
		r.problem("%s is %q: write a number of days from 1d to 3650d, such as 90d, or 0 to keep everything", key, v)
		return standard
	}
	return time.Duration(n) * day
}

// traces reads where to send spans. The endpoint for all signals is a base URL; the
// endpoint for traces is used unchanged.
func (r *settingsReader) traces() telemetry.Tracing {
	endpoint := r.url(keyOTLPTraces, "", "http://127.0.0.1:4318/v1/traces")
	if base := r.url(keyOTLP, "", "http://127.0.0.1:4318"); endpoint == "" && base != "" {
		endpoint = base
		if u, err := url.Parse(base); err == nil { // otherwise r.url has reported it
			endpoint = u.JoinPath("v1/traces").String() // keeps the query
		}
	}
	if endpoint == "" {
		return telemetry.Tracing{}
	}
	if p := r.get(keyOTLPProtocol); p == "grpc" {
		r.problem("%s is %q: spans are sent as http/json; name the collector's HTTP port, usually 4318, and leave this out", keyOTLPProtocol, p)
	}
	t := telemetry.Tracing{Endpoint: endpoint, Service: r.get(keyOTELService)}
	if t.Service == "" {
		t.Service = "reviewgate"
	}
	for i, pair := range strings.Split(r.get(keyOTLPHeaders), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !found || err != nil || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			r.problem("%s: entry %d is not a header: write NAME=VALUE, the value as in a URL, and commas between", keyOTLPHeaders, i+1)
			continue
		}
		if t.Headers == nil {
			t.Headers = map[string]string{}
		}
		t.Headers[name] = value
	}
	return t
}

// short writes 5m where Duration.String writes 5m0s.
func short(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

// shown quotes a mistyped URL for a message. If the text may contain a password or a
// token, shown leaves all of it out, since nothing tells where in the text they are.
func shown(v string) string {
	if strings.ContainsAny(v, "@=?#% \t\r\n") {
		return "not a URL of that kind"
	}
	return strconv.Quote(v)
}

func (r *settingsReader) logLevel() zerolog.Level {
	v := r.get(keyLogLevel)
	if v == "" {
		return zerolog.InfoLevel
	}
	l, err := zerolog.ParseLevel(strings.ToLower(v))
	if err != nil || l < zerolog.DebugLevel || l > zerolog.ErrorLevel {
		r.problem("%s is %q: use debug, info, warn or error", keyLogLevel, v)
	}
	return l
}

func (r *settingsReader) logFormat() LogFormat {
	switch v := LogFormat(strings.ToLower(r.get(keyLogFormat))); v {
	case LogByTerminal, LogText, LogJSON:
		return v
	default:
		r.problem("%s is %q: use text or json", keyLogFormat, v)
		return LogByTerminal
	}
}

func withSlash(u string) string { return strings.TrimRight(u, "/") + "/" }

// IsSettingsError reports whether err says that the settings are wrong. The operator
// has to correct them.
func IsSettingsError(err error) bool {
	var se *SettingsError
	return errors.As(err, &se)
}
