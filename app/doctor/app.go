package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/ports"
)

// maxSkew is how much the clocks may differ. The App dates its JWT 30 s back, and GitHub
// accepts no JWT from the future.
const maxSkew = 30 * time.Second

// settings checks the settings that can contradict each other, such as URLs of different
// hosts, and looks for URLs without encryption.
func (d *doctor) settings() {
	var wrong, remedies []string
	found := "complete and valid"
	api, err := url.Parse(d.API)
	web, werr := url.Parse(d.Web)
	if err == nil && werr == nil {
		page, hosted := strings.CutPrefix(strings.ToLower(api.Host), "api.")
		lead := fmt.Sprintf("the API is at %s, and links point to %s", api.Host, web.Host)
		switch name := strings.ToLower(web.Hostname()); {
		case strings.EqualFold(web.Host, page):
		case isHosted(name) || hosted && isHosted(page):
			wrong = append(wrong, lead)
			remedies = append(remedies, "set GITHUB_WEB_URL to the address of this GitHub in a browser, such as https://github.example.com")
		case !isLoopback(api.Hostname()):
			found += "; " + lead + ": both must belong to the same GitHub"
		}
	}
	for _, setting := range []struct{ key, url string }{{"GITHUB_V3_API_URL", d.API}, {"GITHUB_V4_API_URL", d.GraphQL}} {
		if u, err := url.Parse(setting.url); err == nil && u.Scheme == "http" && !isLoopback(u.Hostname()) {
			wrong = append(wrong, fmt.Sprintf("tokens go to http://%s unencrypted", u.Host))
			remedies = append(remedies, "make "+setting.key+" begin with https://")
		}
	}
	if len(wrong) > 0 {
		d.problem(Settings, strings.Join(slices.Compact(wrong), "; "), strings.Join(remedies, "; "))
		return
	}
	d.ok(Settings, found)
}

// git looks for the git program, which fetches the changes that GitHub's lists do not show.
func (d *doctor) git(ctx context.Context) {
	version, err := d.GitHub.GitVersion(ctx)
	if err == nil {
		d.ok(Git, version+" can fetch changes that GitHub does not list")
		return
	}
	d.problem(Git, err.Error()+". Reviews of a pull request with a picture, or with more files or longer diffs than GitHub lists, are incomplete and never pass",
		"install git 2.31 or newer in the PATH of the user that runs the server")
}

// isHosted reports whether GitHub itself runs the host. The API is then on a sibling host.
func isHosted(host string) bool { return host == "github.com" || strings.HasSuffix(host, ".ghe.com") }

// credentials tries the App's id and key, and compares the clocks by the date of the
// answer, which a refusal has too. It reports whether GitHub accepts the credentials.
func (d *doctor) credentials(ctx context.Context) bool {
	app, err := d.GitHub.App(ctx)
	skewed := d.clock()
	var host *ports.HostError
	switch {
	case err == nil && app.ID != d.AppID:
		d.problem(App, fmt.Sprintf("the private key belongs to App %d, not to App %d", app.ID, d.AppID), "set GITHUB_APP_INTEGRATION_ID to the App ID on the App's settings page")
		return false
	case err == nil:
		d.app = app
		d.ok(App, fmt.Sprintf("GitHub accepts the App ID and the private key of %s", app.Slug))
		return true
	case errors.As(err, &host) && host.Status == http.StatusUnauthorized && skewed:
		d.problem(App, err.Error(), "set the clock first: the App's tokens depend on it")
	case errors.As(err, &host) && (host.Status == http.StatusUnauthorized || host.Status == http.StatusNotFound):
		d.problem(App, err.Error(), "the App ID and the private key must belong to the same App: check both on its settings page, and generate a new key there if needed")
	case !errors.As(err, &host) || host.Status == 0:
		d.unknown(App, "can't reach GitHub: "+err.Error(), "check whether this machine can reach GitHub's API at GITHUB_V3_API_URL, then run doctor again")
	default:
		d.unknown(App, err.Error(), "check whether this machine can reach GitHub's API at GITHUB_V3_API_URL, then run doctor again")
	}
	return false
}

func (d *doctor) clock() (skewed bool) {
	skew, known := d.Skew()
	switch {
	case !known:
		d.unknown(Clock, "GitHub sent no date", "")
	case skew.Abs() > maxSkew:
		way := "behind"
		if skew < 0 {
			way = "ahead of"
		}
		d.problem(Clock, fmt.Sprintf("this machine's clock is %s %s GitHub's", skew.Abs().Round(time.Second), way),
			"set the clock by NTP: GitHub refuses tokens that are dated in the future or too far in the past")
		return true
	default:
		d.ok(Clock, fmt.Sprintf("within %s of GitHub's", maxSkew))
	}
	return false
}

// permissions compares the App's permissions with those that reviewgate uses.
func (d *doctor) permissions() {
	wanted := wantedPermissions(d.Manifest, d.Server)
	missing, more, useless := compare(wanted, d.app.Permissions)
	if len(missing) > 0 {
		d.problem(Permissions, "the App does not request "+strings.Join(missing, "; "), "add it on the App's settings page, under Permissions & events; GitHub then asks the owner of each installation to accept it")
		return
	}
	if len(useless) > 0 {
		d.problem(Permissions, "the App has permissions that reviewgate never uses: "+strings.Join(useless, ", "), "remove them on the App's settings page, under Permissions & events")
		return
	}
	found := "the App requests every permission that it needs"
	if len(more) > 0 {
		found += "; the server's config does not need these, so remove them unless a repository's config does: " + strings.Join(more, "; ")
	}
	d.ok(Permissions, found)
}

// events compares the App's events with those that reviewgate uses.
func (d *doctor) events() {
	var missing, more []string
	for _, name := range d.Manifest.Events {
		if !slices.Contains(d.app.Events, name) {
			missing = append(missing, withWhy(name, uses[name]))
		}
	}
	for _, name := range d.app.Events {
		if !slices.Contains(d.Manifest.Events, name) {
			more = append(more, name)
		}
	}
	if len(missing) > 0 {
		d.problem(Events, "the App does not subscribe to "+strings.Join(missing, ", "), "add this on the App's settings page, under Permissions & events")
		return
	}
	found := "the App subscribes to every event that it needs"
	if len(more) > 0 {
		slices.Sort(more)
		found += "; these others do no harm: " + strings.Join(more, ", ")
	}
	d.ok(Events, found)
}

// webhook checks where and how GitHub sends webhooks.
func (d *doctor) webhook(ctx context.Context) {
	h, err := d.GitHub.HookConfig(ctx)
	if err != nil {
		d.failed(Webhook, err)
		return
	}
	d.hook = h
	if h.URL == "" {
		d.problem(Webhook, "the App has no webhook", "on its settings page, activate the webhook, set its URL to https://your-host"+d.HookPath+", and set a secret")
		return
	}
	wrong, remedies := hookFaults(h, d.HookPath)
	if len(wrong) > 0 {
		d.problem(Webhook, strings.Join(wrong, "; "), strings.Join(remedies, "; "))
		return
	}
	d.ok(Webhook, fmt.Sprintf("GitHub sends signed JSON to %q", h.URL))
}

// hookFaults lists what is wrong with a webhook, and what to do about each.
func hookFaults(h gh.HookConfig, path string) (wrong, remedies []string) {
	fault := func(what, remedy string) { wrong, remedies = append(wrong, what), append(remedies, remedy) }
	u, err := url.Parse(h.URL)
	switch {
	case err != nil || u.Host == "":
		fault(fmt.Sprintf("the webhook's URL %q is not a URL", h.URL), "set it to https://your-host"+path)
		return wrong, remedies
	case u.Scheme != "https" && !isLoopback(u.Hostname()):
		fault(fmt.Sprintf("webhooks go to %q unencrypted", h.URL), "put a proxy with TLS in front of the server and make the URL begin with https://")
	}
	if !strings.HasSuffix(u.Path, path) {
		fault(fmt.Sprintf("webhooks go to %q, but the server accepts them at %s", h.URL, path), "make the webhook's URL end with "+path+", unless a proxy rewrites it")
	}
	if h.ContentType != "json" {
		fault(fmt.Sprintf("webhooks are sent as %q", h.ContentType), "set the webhook's content type to application/json")
	}
	if h.Insecure {
		fault("GitHub does not check certificates when it sends webhooks", "enable SSL verification of the webhook")
	}
	if !h.HasSecret {
		fault("webhooks are not signed, so the server refuses all of them", "set the webhook's secret to one of those in GITHUB_APP_WEBHOOK_SECRET")
	}
	return wrong, remedies
}

// isLoopback reports whether only this machine can reach the host, so that nobody can
// listen in.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// database checks the server's tables.
func (d *doctor) database(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	version, newest, err := d.Database(ctx)
	switch {
	case err != nil:
		d.problem(Database, err.Error(), "check REVIEWGATE_DATABASE_URL, and run doctor as the user that runs the server")
	case version == 0:
		d.ok(Database, "it has no tables yet: the server creates them when it starts")
	case version > newest:
		d.problem(Database, fmt.Sprintf("its tables have version %d, and this reviewgate supports versions up to %d", version, newest), "run the newer reviewgate that wrote them, or restore the backup from before that")
	case version < newest:
		d.ok(Database, fmt.Sprintf("its tables have version %d; the server upgrades them to %d when it starts", version, newest))
	default:
		d.ok(Database, fmt.Sprintf("reachable, with tables of version %d", version))
	}
}

// maxNamed is how many pull requests in quarantine the result names.
const maxNamed = 10

// quarantine names the reviews that crashed their process.
func (d *doctor) quarantine(ctx context.Context) {
	all, err := d.Quarantined(ctx)
	switch {
	case err != nil:
		d.unknown(Quarantine, err.Error(), "see the point database above")
		return
	case len(all) == 0:
		d.ok(Quarantine, "no quarantined reviews")
		return
	}
	var named []string
	for _, q := range all[:min(len(all), maxNamed)] {
		times := "once"
		if q.Deaths > 1 {
			times = fmt.Sprintf("%d times", q.Deaths)
		}
		named = append(named, fmt.Sprintf("%s/%s#%d (%s since %s, next try at %s)", q.Owner, q.Name, q.Number, times,
			q.Since.UTC().Format(time.DateTime), q.Next.UTC().Format(time.DateTime+" UTC")))
	}
	found := fmt.Sprintf("%d reviews in quarantine because they crashed their process: %s", len(all), strings.Join(named, ", "))
	if len(all) > maxNamed {
		found += ", ..."
	}
	d.problem(Quarantine, found, "the server's log shows how each process ended; /review by somebody with write permission tries a review again at once")
}

// installations checks the permissions that accounts have granted.
func (d *doctor) installations(ctx context.Context) {
	grants, err := d.GitHub.Grants(ctx)
	if err != nil {
		d.failed(Installations, err)
		return
	}
	if len(grants) == 0 {
		d.problem(Installations, "the App is not installed anywhere", "install it with Install App on the App's page")
		return
	}
	var wrong, remedies []string
	suspended := 0
	for _, g := range grants {
		if g.Suspended {
			suspended++
			wrong, remedies = append(wrong, g.Account+": suspended"), append(remedies, "unsuspend or remove it at "+g.Page)
			continue
		}
		if pending := pendingOf(d.app, g); len(pending) > 0 {
			wrong = append(wrong, g.Account+": not accepted yet: "+strings.Join(pending, ", "))
			remedies = append(remedies, "an owner of "+g.Account+" must accept it at "+g.Page)
		}
	}
	found := fmt.Sprintf("%d, %d of them suspended", len(grants), suspended)
	if len(wrong) == 0 {
		d.ok(Installations, found+"; all of them grant what the App requests")
		return
	}
	d.problem(Installations, found+": "+few(wrong), few(remedies))
}

// pendingOf lists what the App requests and an account has not accepted yet.
func pendingOf(app gh.App, g gh.Grant) []string {
	var pending []string
	for _, name := range slices.Sorted(maps.Keys(app.Permissions)) {
		if below(g.Permissions[name], app.Permissions[name]) {
			pending = append(pending, name+": "+app.Permissions[name])
		}
	}
	for _, e := range app.Events {
		if !slices.Contains(g.Events, e) {
			pending = append(pending, "the event "+e)
		}
	}
	return pending
}

// few joins the first elements of a list, and counts the others.
func few(all []string) string {
	const most = 10
	if len(all) <= most {
		return strings.Join(all, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(all[:most], "; "), len(all)-most)
}
