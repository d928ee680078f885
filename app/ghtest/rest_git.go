package ghtest

import (
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// resolve turns a branch, a ref or a SHA into a commit SHA. ok is false if there is no such
// commit.
func (c *call) resolve(rev string) (sha string, found bool) {
	c.s.mu.Lock()
	name := strings.TrimPrefix(strings.TrimPrefix(rev, "refs/"), "heads/")
	if rev == "" || rev == "HEAD" {
		name = c.repo.defaultBranch
	}
	sha, found = c.repo.branches[name]
	if !found {
		sha, found = c.repo.pullRef(strings.TrimPrefix(rev, "refs/"))
	}
	c.s.mu.Unlock()
	if found {
		return sha, true
	}
	_, err := c.repo.git.history.commit(rev)
	return rev, err == nil
}

// pullRef resolves pull/N/head. The lock must be held.
func (r *Repo) pullRef(ref string) (string, bool) {
	for _, p := range r.pulls {
		if ref == p.ref() {
			return p.headSHA, true
		}
	}
	return "", false
}

func getRef(c *call) *Response {
	sha, found := c.resolve(c.params["ref"])
	if !found || isSHA(c.params["ref"]) || !strings.Contains(c.params["ref"], "/") {
		return notFound()
	}
	return c.locked(func() *Response { return ok(c.s.render.ref(c.repo, "refs/"+c.params["ref"], sha)) })
}

func listRefs(c *call) *Response {
	return c.locked(func() *Response {
		refs := map[string]string{}
		for name, sha := range c.repo.branches {
			refs["heads/"+name] = sha
		}
		for _, p := range c.repo.pulls {
			refs[p.ref()] = p.headSHA
		}
		maps.DeleteFunc(refs, func(ref, _ string) bool { return !strings.HasPrefix(ref, c.params["ref"]) })
		return listed(c, slices.Sorted(maps.Keys(refs)), func(ref string) object { return c.s.render.ref(c.repo, "refs/"+ref, refs[ref]) })
	})
}

func (v *renderer) ref(r *Repo, ref, sha string) object {
	return object{
		"ref": ref, "node_id": nodeID("REF", r.id) + ref, "url": v.repoURL(r) + "/git/" + ref,
		"object": object{"type": "commit", "sha": sha, "url": v.repoURL(r) + "/git/commits/" + sha},
	}
}

func listBranches(c *call) *Response {
	return c.locked(func() *Response {
		return listed(c, slices.Sorted(maps.Keys(c.repo.branches)), func(name string) object {
			sha := c.repo.branches[name]
			return object{"name": name, "commit": object{"sha": sha, "url": c.s.render.repoURL(c.repo) + "/commits/" + sha}, "protected": false}
		})
	})
}

func getBranch(c *call) *Response {
	name := c.params["branch"]
	return c.locked(func() *Response {
		sha, found := c.repo.branches[name]
		if !found {
			return refuse(http.StatusNotFound, "Branch not found")
		}
		tip, err := c.repo.git.history.commit(sha)
		if err != nil {
			return broken(err)
		}
		self := c.s.render.repoURL(c.repo) + "/branches/" + name
		protection := c.s.render.protection(c.repo, name)
		return ok(object{
			"name": name, "commit": c.s.render.commit(c.repo, tip), "protected": protection["enabled"], "protection_url": self + "/protection", "protection": protection,
			"_links": object{"self": self, "html": c.s.render.web("/%s/tree/%s", c.repo.fullName(), name)},
		})
	})
}

func getCommit(c *call) *Response {
	sha, found := c.resolve(c.params["ref"])
	if !found {
		return refuse(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.params["ref"])
	}
	cm, err := c.repo.git.history.commit(sha)
	if err != nil {
		return broken(err)
	}
	parent := emptyTree
	if len(cm.Parents) > 0 {
		parent = cm.Parents[0]
	}
	d, err := c.repo.git.diffs.between(parent, sha)
	if err != nil {
		return broken(err)
	}
	return c.locked(func() *Response {
		files := slicePage(first(c.s.limits.CompareFiles, len(d.Files)), d.Files, c.s.render.filesOfAnswer(c.repo, sha))
		return ok(c.s.render.commit(c.repo, cm).with(object{
			"files": files, "stats": object{"additions": d.Additions, "deletions": d.Deletions, "total": d.Additions + d.Deletions},
		}))
	})
}

// emptyTree is git's SHA of an empty tree.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

func getGitCommit(c *call) *Response {
	cm, err := c.repo.git.history.commit(c.params["commit_sha"])
	if err != nil {
		return notFound()
	}
	return c.locked(func() *Response {
		o := c.s.render.commit(c.repo, cm)
		inner := o["commit"].(object)
		return ok(object{
			"sha": cm.SHA, "node_id": o["node_id"], "url": inner["url"], "html_url": o["html_url"], "author": inner["author"], "committer": inner["committer"],
			"tree": inner["tree"], "message": cm.Message, "parents": o["parents"], "verification": unverified(),
		})
	})
}

func compare(c *call) *Response {
	from, to, found := strings.Cut(c.params["basehead"], "...")
	base, okBase := c.resolve(from)
	head, okHead := c.resolve(to)
	if !found || !okBase || !okHead {
		return notFound()
	}
	g := c.repo.git
	meet, err1 := g.history.mergeBase(base, head)
	ahead, err2 := g.history.commits(base, head)
	behind, err3 := g.history.commits(head, base)
	d, err4 := g.diffs.between(meet, head)
	baseCommit, err5 := g.history.commit(base)
	meetCommit, err6 := g.history.commit(meet)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return broken(err)
	}
	status := "diverged"
	switch {
	case base == head:
		status = "identical"
	case meet == base:
		status = "ahead"
	case meet == head:
		status = "behind"
	}
	return c.locked(func() *Response {
		s, p := c.s, c.page()
		if c.req.URL.Query().Get("per_page") == "" {
			p.size = s.limits.PullCommits
		}
		html := s.render.web("/%s/compare/%s...%s", c.repo.fullName(), from, to)
		o := object{
			"url": s.render.repoURL(c.repo) + "/compare/" + from + "..." + to, "html_url": html, "permalink_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch",
			"base_commit": s.render.commit(c.repo, baseCommit), "merge_base_commit": s.render.commit(c.repo, meetCommit), "status": status,
			"ahead_by": len(ahead), "behind_by": len(behind), "total_commits": len(ahead),
			"commits": slicePage(p, ahead, func(cm commit) object { return s.render.commit(c.repo, cm) }),
		}
		if p.number == 1 {
			o["files"] = slicePage(first(s.limits.CompareFiles, len(d.Files)), d.Files, s.render.filesOfAnswer(c.repo, head))
		}
		return c.linked(ok(o), len(ahead))
	})
}

// getTree lists a tree by its SHA, by a commit's SHA, or by a ref. A recursive list has
// limits.
func getTree(c *call) *Response {
	if c.repo.isEmpty() {
		return refuse(http.StatusConflict, "Git Repository is empty.")
	}
	sha := c.params["tree_sha"]
	if resolved, found := c.resolve(sha); found {
		sha = resolved
	} else if kind, err := c.repo.git.objects.kind(sha); err != nil || kind != "tree" {
		return notFound()
	}
	recursive := c.req.URL.Query().Get("recursive") != ""
	entries, err := c.repo.git.objects.tree(sha, recursive)
	if err != nil {
		return broken(err)
	}
	return c.locked(func() *Response {
		list, size := []object{}, 0
		for _, e := range entries {
			o := c.s.render.entry(c.repo, e)
			text, err := marshal(o)
			if err != nil {
				return broken(err)
			}
			if size += len(text); recursive && (over(len(list)+1, c.s.limits.TreeEntries) || over(size, c.s.limits.TreeBytes)) {
				break
			}
			list = append(list, o)
		}
		return ok(object{
			"sha": sha, "url": c.s.render.repoURL(c.repo) + "/git/trees/" + sha, "truncated": len(list) < len(entries), "tree": list,
		})
	})
}

func (v *renderer) entry(r *Repo, e entry) object {
	o := object{"path": e.Path, "mode": e.Mode, "type": e.Type, "sha": e.SHA}
	switch e.Type {
	case "blob":
		o["size"], o["url"] = e.Size, v.repoURL(r)+"/git/blobs/"+e.SHA
	case "tree":
		o["url"] = v.repoURL(r) + "/git/trees/" + e.SHA
	}
	return o
}

func getBlob(c *call) *Response {
	sha := c.params["file_sha"]
	data, err := c.repo.git.objects.blob(sha)
	if err != nil {
		return notFound()
	}
	if c.wantsRaw() {
		return raw(data)
	}
	return c.locked(func() *Response {
		return ok(object{
			"sha": sha, "node_id": nodeID("B", c.repo.id) + sha, "size": len(data), "url": c.s.render.repoURL(c.repo) + "/git/blobs/" + sha,
			"encoding": "base64", "content": wrap64(data),
		})
	})
}

func (c *call) wantsRaw() bool { return strings.Contains(c.req.Header.Get("Accept"), "raw") }

func raw(data []byte) *Response {
	return &Response{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/vnd.github.raw+json; charset=utf-8"}}, Body: data, cut: -1}
}

// wrap64 writes base64 in lines of 60 characters, like GitHub.
func wrap64(data []byte) string {
	encoded := base64.StdEncoding.EncodeToString(data)
	var b strings.Builder
	for len(encoded) > 0 {
		n := min(60, len(encoded))
		b.WriteString(encoded[:n] + "\n")
		encoded = encoded[n:]
	}
	return b.String()
}

// getContents answers with a file, a directory, a link or a submodule.
func getContents(c *call) *Response {
	ref := c.req.URL.Query().Get("ref")
	sha, found := c.resolve(ref)
	if !found {
		return refuse(http.StatusNotFound, "No commit found for the ref "+ref)
	}
	name := strings.Trim(c.params["path"], "/")
	if name == "" {
		return c.directory(sha, "", sha)
	}
	e, found, err := c.repo.git.objects.lookup(sha, name)
	if err != nil {
		return broken(err)
	}
	if !found {
		return notFound()
	}
	if e.Type == "tree" {
		return c.directory(sha, name, e.SHA)
	}
	if e.Mode == "120000" {
		// A link to a file of the repository is answered like that file.
		if target, err := c.repo.git.objects.blob(e.SHA); err == nil {
			to, found, err := c.repo.git.objects.lookup(sha, path.Join(path.Dir(name), string(target)))
			if err == nil && found && to.Type == "blob" && to.Mode != "120000" {
				to.Path, e = name, to
			}
		}
	}
	return c.file(sha, e)
}

func (c *call) directory(ref, dir, treeish string) *Response {
	entries, err := c.repo.git.objects.tree(treeish, false)
	if err != nil {
		return broken(err)
	}
	return c.locked(func() *Response {
		return ok(slicePage(first(c.s.limits.DirectoryFiles, len(entries)), entries, func(e entry) object {
			e.Path = path.Join(dir, e.Path)
			return c.content(ref, e)
		}))
	})
}

// file answers with one file. Above the limit only the raw form has its content.
func (c *call) file(ref string, e entry) *Response {
	var data []byte
	if e.Type == "blob" {
		var err error
		if data, err = c.repo.git.objects.blob(e.SHA); err != nil {
			return broken(err)
		}
	}
	if c.wantsRaw() && e.Type == "blob" {
		return raw(data)
	}
	return c.locked(func() *Response {
		o := c.content(ref, e)
		switch {
		case e.Type == "commit":
			o["type"], o["submodule_git_url"] = "submodule", "https://git.example/"+e.Path+".git"
		case e.Mode == "120000":
			o["type"], o["target"] = "symlink", string(data)
		case over(e.Size, c.s.limits.ContentBytes):
			o["encoding"], o["content"] = "none", ""
		default:
			o["encoding"], o["content"] = "base64", wrap64(data)
		}
		return ok(o)
	})
}

// content writes an entry in the form of the contents route. The lock must be held.
func (c *call) content(ref string, e entry) object {
	escaped := (&url.URL{Path: e.Path}).EscapedPath()
	base, page := c.s.render.repoURL(c.repo), c.s.render.web("/%s", c.repo.fullName())
	self := base + "/contents/" + escaped + "?ref=" + ref
	o := object{"name": path.Base(e.Path), "path": e.Path, "sha": e.SHA, "size": e.Size, "url": self, "download_url": nil}
	switch {
	case e.Type == "tree":
		o["type"], o["git_url"], o["html_url"] = "dir", base+"/git/trees/"+e.SHA, page+"/tree/"+ref+"/"+escaped
	case e.Type == "commit":
		// Directory listings call submodules files, for old clients.
		o["type"], o["git_url"], o["html_url"] = "file", nil, nil
	default:
		o["type"], o["git_url"], o["html_url"] = "file", base+"/git/blobs/"+e.SHA, page+"/blob/"+ref+"/"+escaped
		o["download_url"] = page + "/raw/" + ref + "/" + escaped
	}
	if e.Mode == "120000" {
		o["type"] = "symlink"
	}
	o["_links"] = object{"self": self, "git": o["git_url"], "html": o["html_url"]}
	return o
}
