package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

// repository checks one repository, if one is named.
func (d *doctor) repository(ctx context.Context) {
	if d.Name == "" {
		return
	}
	name := d.Owner + "/" + d.Name
	repo, err := d.GitHub.Find(ctx, d.Owner, d.Name)
	var host *ports.HostError
	switch {
	case errors.As(err, &host) && host.Kind == ports.HostNotFound:
		d.problem(Repository, "the App is not installed on "+name+", or the repository does not exist", "install it there with Install App on the App's page")
	case err != nil:
		d.failed(Repository, err)
	case repo.Suspended:
		d.problem(Repository, "the App's installation on "+name+" is suspended", "an owner can unsuspend it on the installation's page")
	case repo.Archived:
		d.problem(Repository, name+" is archived, so the App can't write to it", "unarchive it, or remove it from the installation")
	default:
		d.ok(Repository, "the App is installed on "+name)
		d.judged(ctx, repo)
		return
	}
	for _, id := range []string{Config, Mode, RequiredCheck, MergeQueue} {
		d.unknown(id, "not checked: the App can't review this repository", "")
	}
}

// judged checks the config that a repository's pull requests are reviewed with, and
// whether its default branch requires the check.
func (d *doctor) judged(ctx context.Context, repo gh.Repository) {
	cfg, err := d.InForce(ctx, repo.Target)
	if err != nil {
		d.failed(Config, err)
		d.failed(Mode, err)
		d.failed(RequiredCheck, err)
		d.failed(MergeQueue, err)
		return
	}
	d.config(cfg)
	if len(cfg.InForce.Problems) > 0 && !d.KnowsLastGood() {
		for _, id := range []string{Mode, RequiredCheck, MergeQueue} {
			d.unknown(id, "not checked: only the database knows which config is in force", "correct the config or repair the database")
		}
		return
	}
	mode := cfg.Mode(repo.Owner + "/" + repo.Name)
	switch mode {
	case config.ModeOff:
		d.ok(Mode, "off: the App posts nothing there")
	case config.ModeAdvisory:
		d.ok(Mode, "advisory: checks never block")
	default:
		d.ok(Mode, "enforce: checks block pull requests that don't pass")
	}
	required, err := d.GitHub.Required(ctx, repo.Target, repo.DefaultBranch)
	if err != nil {
		d.failed(RequiredCheck, err)
		d.failed(MergeQueue, err)
		return
	}
	d.required(required, repo.DefaultBranch, cfg.Settings.Check.Name, mode)
	d.mergeQueue(required)
}

// config checks whether the config in force is valid, and whether the App has the
// permissions for the features that it switches on beyond the server's config.
func (d *doctor) config(cfg *config.Config) {
	if problems := cfg.InForce.Problems; len(problems) > 0 {
		var words []string
		for _, p := range problems {
			words = append(words, config.FormatProblem(p))
		}
		d.problem(Config, few(words), "correct it on the default branch; until then the last good version is in force")
		return
	}
	server := wantedPermissions(d.Manifest, d.Server)
	wanted := slices.DeleteFunc(wantedPermissions(d.Manifest, cfg), func(p permission) bool { return slices.Contains(server, p) })
	if missing, _, _ := compare(wanted, d.app.Permissions); len(missing) > 0 {
		d.problem(Config, "it uses permissions that the App does not request: "+strings.Join(missing, "; "), "add them on the App's settings page, under Permissions & events, or switch off the feature")
		return
	}
	if warnings := cfg.Warnings(); len(warnings) > 0 {
		var found, remedies []string
		for _, w := range warnings {
			remedies = append(remedies, w.Remedy)
			w.Remedy = ""
			found = append(found, config.FormatProblem(w))
		}
		d.problem(Config, few(found), few(remedies))
		return
	}
	d.ok(Config, fmt.Sprintf("valid, with %d layers", len(cfg.InForce.Layers)))
}

// required checks whether the branch requires the check, and from this App only.
func (d *doctor) required(all gh.Required, branch, check, mode string) {
	ours := slices.DeleteFunc(slices.Clone(all.Checks), func(c gh.RequiredCheck) bool { return c.Name != check })
	pinned := slices.ContainsFunc(ours, func(c gh.RequiredCheck) bool { return c.App == d.app.ID })
	foreign := slices.IndexFunc(ours, func(c gh.RequiredCheck) bool { return c.App != 0 && c.App != d.app.ID })
	where := fmt.Sprintf("%s on %s", check, branch)
	switch {
	case len(ours) > 0 && mode == config.ModeOff:
		d.problem(RequiredCheck, where+" is required, but the mode is off: the App does not write the check, so nothing can be merged", "set the mode to advisory or enforce, or stop requiring the check")
	case len(ours) == 0 && mode == config.ModeEnforce:
		d.problem(RequiredCheck, where+" is not required: a blocked pull request can still be merged", "require it in a ruleset or branch protection for "+branch+", with the App "+d.app.Slug+" as its source")
	case len(ours) == 0:
		d.ok(RequiredCheck, where+" is not required; this mode does not need it")
	case foreign >= 0:
		d.problem(RequiredCheck, fmt.Sprintf("%s is required from App %d, which is not this one (%d): merges wait for it for ever", where, ours[foreign].App, d.app.ID), "choose the App "+d.app.Slug+" as its source in the "+ours[foreign].By)
	case !pinned:
		d.problem(RequiredCheck, where+" is required from any source: everyone with write access can set a status of that name", "choose the App "+d.app.Slug+" as its source in the "+ours[0].By)
	default:
		by := ours[slices.IndexFunc(ours, func(c gh.RequiredCheck) bool { return c.App == d.app.ID })].By
		d.ok(RequiredCheck, fmt.Sprintf("%s is required from this App, by %s", where, by))
	}
}

// mergeQueue checks whether the App can answer a merge queue.
func (d *doctor) mergeQueue(r gh.Required) {
	if !r.MergeQueue {
		d.ok(MergeQueue, "the branch has no merge queue")
		return
	}
	var missing []string
	if !slices.Contains(d.app.Events, "merge_group") {
		missing = append(missing, "the event merge_group")
	}
	if below(d.app.Permissions["merge_queues"], "read") {
		missing = append(missing, "the permission merge_queues: read")
	}
	if len(missing) > 0 {
		d.problem(MergeQueue, "the branch has a merge queue, but the App lacks "+strings.Join(missing, " and ")+": the queue waits for ever", "add this on the App's settings page, under Permissions & events")
		return
	}
	d.ok(MergeQueue, "the branch has a merge queue, and the App receives its groups")
}
