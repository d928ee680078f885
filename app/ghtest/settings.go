package ghtest

import "maps"

// Settings change a repository as its owner does. The Server's lock guards their fields.
type Settings struct {
	repo        *Repo
	mergeMethod MergeMethod
	protected   map[string][]RequiredCheck // by branch protection, by branch name
	rules       map[string][]Rule          // by rulesets, by branch name
}

// relocate gives the repository another owner or name. The old one redirects until another
// repository takes it. The lock must be held.
func (set *Settings) relocate(owner *account, name string) {
	old := fold(set.repo.fullName())
	if other := set.repo.s.state.repos[fold(owner.login+"/"+name)]; other != nil && other != set.repo {
		set.repo.s.opts.Fail("move %s to %s/%s: there is a repository of that name", set.repo.fullName(), owner.login, name)
	}
	delete(set.repo.s.state.repos, old)
	set.repo.s.state.moved[old] = set.repo
	set.repo.owner, set.repo.name = owner, name
	set.repo.s.state.place(set.repo)
}

// Rename renames the repository and sends repository renamed. Requests for the
// old name are redirected.
func (set *Settings) Rename(name string) {
	set.happen("renamed", func() object {
		from := set.repo.name
		set.relocate(set.repo.owner, name)
		return object{"changes": object{"repository": object{"name": object{"from": from}}}}
	})
}

// RenameDefaultBranch gives the default branch another name and sends
// repository edited. Open pull requests against it follow.
func (set *Settings) RenameDefaultBranch(name string) {
	set.happen("edited", func() object {
		from := set.repo.defaultBranch
		set.repo.branches[name] = set.repo.branches[from]
		delete(set.repo.branches, from)
		set.repo.defaultBranch = name
		for _, p := range set.repo.pulls {
			if p.open() && p.baseRef == from {
				p.baseRef = name
			}
		}
		return object{"changes": object{"default_branch": object{"from": from}}}
	})
}

// Transfer gives the repository to another account, which it creates if necessary. The old
// owner's installation loses it (installation_repositories removed). If the App is installed
// at the new owner, that installation gets it (installation_repositories added, repository
// transferred). GitHub reports a transfer only there. Requests for the old name are
// redirected.
func (set *Settings) Transfer(owner string) {
	s := set.repo.s
	s.happens(func() []event {
		from, to := set.repo.owner, s.state.account(owner, "Organization")
		lost := s.state.installationOf(set.repo)
		set.relocate(to, set.repo.name)
		got := s.state.installationAt(to)
		set.repo.installed = got != nil
		was := object{"user": s.render.account(from)}
		if from.kind == "Organization" {
			was = object{"organization": s.render.organization(from)}
		}
		return []event{
			s.reposEvent(lost, "removed", set.repo), s.reposEvent(got, "added", set.repo),
			set.repo.event("repository", "transferred", from, object{"changes": object{"owner": object{"from": was}}}),
		}
	})
}

// Delete deletes the repository. The installation loses it, and repository deleted is sent.
// Apps get that event, whatever GitHub's description says (github/docs#36991). The pull
// requests of a deleted fork remain, with a head that names no repository.
func (set *Settings) Delete() {
	s := set.repo.s
	s.happens(func() []event {
		events := []event{s.reposEvent(s.state.installationOf(set.repo), "removed", set.repo), set.repo.event("repository", "deleted", set.repo.owner, object{})}
		set.repo.deleted, set.repo.installed = true, false
		delete(s.state.repos, fold(set.repo.fullName()))
		maps.DeleteFunc(s.state.moved, func(_ string, other *Repo) bool { return other == set.repo })
		return events
	})
}

// SetPrivate makes the repository private, or public.
func (set *Settings) SetPrivate(private bool) {
	set.toggle(&set.repo.private, private, map[bool]string{true: "privatized", false: "publicized"}[private])
}

// SetArchived makes the repository read-only, or ends that. GitHub then refuses comments and
// reactions. It also refuses commit statuses. It is unknown whether it refuses check runs, so
// the stand-in accepts them.
func (set *Settings) SetArchived(archived bool) {
	set.toggle(&set.repo.archived, archived, map[bool]string{true: "archived", false: "unarchived"}[archived])
}

// toggle sets a field of the repository. If that changes it, it sends the repository event of
// the action.
func (set *Settings) toggle(field *bool, value bool, action string) {
	set.repo.s.happens(func() []event {
		if *field == value {
			return nil
		}
		*field = value
		return []event{set.repo.event("repository", action, set.repo.owner, object{})}
	})
}

// happen changes the repository and sends the repository event of the action, with its owner
// as the sender.
func (set *Settings) happen(action string, change func() object) {
	set.repo.s.happens(func() []event {
		return []event{set.repo.event("repository", action, set.repo.owner, change())}
	})
}

// SetInstalled gives the App access to the repository, or takes it away, and
// sends installation_repositories added or removed.
func (set *Settings) SetInstalled(installed bool) {
	s := set.repo.s
	s.happens(func() []event {
		if installed == set.repo.installed {
			return nil
		}
		set.repo.installed = installed
		return []event{s.reposEvent(s.installation(set.repo.owner.login), map[bool]string{true: "added", false: "removed"}[installed], set.repo)}
	})
}

// reposEvent creates an installation_repositories event, added or removed, for one
// repository. It returns the zero event, which is not sent, if the installation is nil. The
// lock must be held.
func (s *Server) reposEvent(i *installation, action string, r *Repo) event {
	if i == nil {
		return event{}
	}
	payload := s.render.installationPayload(action, i)
	payload["repository_selection"], payload["requester"] = "selected", nil
	for _, list := range []string{"added", "removed"} {
		repos := []object{}
		if list == action {
			repos = append(repos, s.render.repoShort(r))
		}
		payload["repositories_"+list] = repos
	}
	return event{name: "installation_repositories", action: action, installation: i, payload: payload}
}
