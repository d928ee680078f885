package ghtest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// state holds GitHub's objects and the hooks around routes. The Server's lock guards it.
type state struct {
	app           app
	lastID        int64
	accounts      map[string]*account // by login, folded
	installations []*installation
	repos         map[string]*Repo // by full name, folded
	moved         map[string]*Repo // by old full names, folded
	tokens        map[string]*token
	teams         map[string]*team // by "org/slug", folded
	lastCommit    time.Time

	hooks []*hook
}

// app is the GitHub App under test.
type app struct {
	id        int64
	slug      string
	key       *rsa.PrivateKey
	owner     *account
	bot       *account
	createdAt time.Time
}

// account is a user, an organisation or a bot.
type account struct {
	id    int64
	login string
	kind  string // User, Organization or Bot
}

// team is a team of an organisation.
type team struct {
	id      int64
	members map[string]string // state of membership by login, folded
}

// installation is the App's installation on one account.
type installation struct {
	id          int64
	account     *account
	permissions map[string]string
	createdAt   time.Time
	suspendedAt time.Time
}

// commitsBegin is the date of the first commit. Each commit is a minute later than the
// previous one.
var commitsBegin = time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)

// appKey is the App's key on every Server. It is created once, when it is first needed,
// because that takes longer than the rest of a test. GitHub's keys have twice as many bits,
// so that signing a token would take seven times as long.
var appKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 1024) })

func (st *state) init(s *Server) error {
	key, err := appKey()
	if err != nil {
		return fmt.Errorf("generate the App's key: %w", err)
	}
	*st = state{
		lastID:   1000,
		accounts: map[string]*account{}, repos: map[string]*Repo{}, moved: map[string]*Repo{}, tokens: map[string]*token{},
		lastCommit: commitsBegin,
	}
	st.app = app{
		id: st.nextID(), slug: s.opts.AppSlug, key: key, createdAt: s.now(),
		owner: st.account("app-makers", "Organization"), bot: st.account(s.opts.AppSlug+"[bot]", "Bot"),
	}
	return nil
}

// idStep is the distance between ids.
const idStep = 7

// nextID returns an unused number. As on GitHub, later objects have greater ones.
func (st *state) nextID() int64 {
	st.lastID += idStep
	return st.lastID
}

// NextID sets the id of the next new object. Later objects get greater ids. A test that
// repeats the events of another stand-in gives each object its old id.
func (s *Server) NextID(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.lastID = id - idStep
}

// nextCommit returns when the next commit is made.
func (st *state) nextCommit() time.Time {
	st.lastCommit = st.lastCommit.Add(time.Minute)
	return st.lastCommit
}

// account returns the account with this login. A new account is of this kind.
func (st *state) account(login, kind string) *account {
	a := st.accounts[fold(login)]
	if a == nil {
		if strings.HasSuffix(login, "[bot]") {
			kind = "Bot"
		}
		a = &account{id: st.nextID(), login: login, kind: kind}
		st.accounts[fold(login)] = a
	}
	return a
}

// RenameAccount gives a person another login. Grants to the old login do not apply to the new
// one.
func (s *Server) RenameAccount(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.state.account(from, "User")
	delete(s.state.accounts, fold(from))
	a.login = to
	s.state.accounts[fold(to)] = a
}

// found returns the element of a list that matches, or nil.
func found[T any](all []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// views copies the elements of a list in the form that users see, with the lock held.
func views[T, V any](s *Server, list *[]T, view func(T) V) []V {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []V
	for _, x := range *list {
		all = append(all, view(x))
	}
	return all
}

// fold makes names comparable. GitHub's names ignore upper and lower case.
func fold(name string) string { return strings.ToLower(name) }

// nodeID returns a global node id in the form of GitHub's newer ones.
func nodeID(kind string, id int64) string {
	return kind + "_" + base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(id, 10)))
}

// AppID returns the App's id, which is the issuer of its JWTs.
func (s *Server) AppID() int64 { return s.state.app.id }

// AppLogin returns the login of the App's bot, the author of its comments.
func (s *Server) AppLogin() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.app.bot.login
}

// AppPrivateKeyPEM returns the App's private key in PKCS #1, as GitHub gives it out.
func (s *Server) AppPrivateKeyPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(s.state.app.key)})
}

// installation returns the App's installation on an account, which it creates if necessary.
// The lock must be held.
func (s *Server) installation(login string) *installation {
	acct := s.state.account(login, "Organization")
	if i := s.state.installationAt(acct); i != nil {
		return i
	}
	i := &installation{id: s.state.nextID(), account: acct, permissions: s.opts.Permissions, createdAt: s.now()}
	s.state.installations = append(s.state.installations, i)
	return i
}

// installationAt returns the App's installation on an account, or nil. The lock
// must be held.
func (st *state) installationAt(a *account) *installation {
	return found(st.installations, func(i *installation) bool { return i.account == a })
}

// installationOf returns the installation that covers a repository, or nil.
func (st *state) installationOf(r *Repo) *installation {
	if !r.installed {
		return nil
	}
	return st.installationAt(r.owner)
}

// InstallationID returns the id of the App's installation on an account.
func (s *Server) InstallationID(account string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.installation(account).id
}

// Install sends the installation event that GitHub sends when the App is installed on an
// account. The installation itself exists from the account's first repository on. A removed
// installation is created again with another id, for all the account's repositories.
func (s *Server) Install(account string) {
	s.mu.Lock()
	again := s.state.installationAt(s.state.account(account, "Organization")) == nil
	s.mu.Unlock()
	s.installationEvent(account, "created", func(i *installation) {
		for _, r := range s.state.repos {
			if again && r.owner == i.account {
				r.installed = true
			}
		}
	})
}

// Suspend suspends the installation of an account: its tokens and new ones
// are refused, and no more events are sent for it.
func (s *Server) Suspend(account string) {
	s.installationEvent(account, "suspend", func(i *installation) { i.suspendedAt = s.now() })
}

// Unsuspend ends a suspension.
func (s *Server) Unsuspend(account string) {
	s.installationEvent(account, "unsuspend", func(i *installation) { i.suspendedAt = time.Time{} })
}

// SetPermissions changes the permissions of an account's installation from the next request
// on, even for existing tokens.
func (s *Server) SetPermissions(account string, permissions map[string]string) {
	s.installationEvent(account, "new_permissions_accepted", func(i *installation) { i.permissions = permissions })
}

// Uninstall removes the App from an account.
func (s *Server) Uninstall(account string) {
	s.installationEvent(account, "deleted", func(i *installation) {
		s.state.installations = slices.DeleteFunc(s.state.installations, func(other *installation) bool { return other == i })
		for _, r := range s.state.repos {
			if r.owner == i.account {
				r.installed = false
			}
		}
	})
}

func (s *Server) installationEvent(account, action string, change func(*installation)) {
	s.happens(func() []event {
		i := s.installation(account)
		change(i)
		return []event{{name: "installation", action: action, installation: i, payload: s.render.installationPayload(action, i)}}
	})
}
