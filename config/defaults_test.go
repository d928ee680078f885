package config

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/glob"
)

func TestDefaultsAreValid(t *testing.T) {
	l := DefaultLayer()
	_, p := lay(newStack(), l)
	for _, problem := range p.ordered() {
		t.Error(FormatProblem(problem))
	}
	for _, f := range l.Files[:len(FileNames())] { // the prompts follow
		name := strings.TrimSuffix(f.Path, ".json")
		if !strings.Contains(string(f.Text), `"$schema": "`+schemaBase+f.Path+`"`) {
			t.Errorf("%s does not name its schema", f.Path)
		}
		if err := ValidateData(name, f.Text); err != nil {
			t.Error(err)
		}
	}
}

// Loading the defaults over themselves gives the defaults.
func TestDefaultsOverDefaults(t *testing.T) {
	want := mustLoad(t)
	got := mustLoad(t, named(DefaultLayer(), LayerServer))
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Config{}, "InForce", "Key"), cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("config (-defaults +twice):\n%s", diff)
	}
}

// Every agent of the kind rules has rules.
func TestDefaultAgentsHaveRules(t *testing.T) {
	c := mustLoad(t)
	for _, a := range c.Agents {
		has := slices.ContainsFunc(c.Rules, func(r Rule) bool { return r.Agent == a.ID && r.Match != nil })
		if a.Kind == KindRules && !has {
			t.Errorf("agent %s has no rules", a.ID)
		}
	}
}

func TestDefaultGate(t *testing.T) {
	conditions := mustLoad(t).Settings.Gate.Conditions
	for metric, want := range map[string]string{"critical": "fail", "major": "needs_fixes", "warning": "pass_with_warnings", "info": "pass"} {
		got, _ := policies.Decide(conditions, map[string]float64{metric: 1})
		if string(got) != want {
			t.Errorf("one %s finding gives the decision %s, want %s", metric, got, want)
		}
	}
	if got, _ := policies.Decide(conditions, map[string]float64{"critical": 1, "major": 3, "warning": 2}); got != "fail" {
		t.Errorf("a critical finding among others gives the decision %s", got)
	}
}

// Paths of typical repositories belong to the expected domains.
func TestDefaultDomains(t *testing.T) {
	tests := map[string]string{
		"internal/billing/invoice.go":          "finance",
		"src/services/payment_service.py":      "finance",
		"shop/src/main/java/OrderPricing.java": "finance",
		"web/src/pages/CheckoutPage.tsx":       "finance ui",
		"pkg/concurrency/pool.go":              "concurrency",
		"pkg/concurrency.go":                   "",
		"server/auth/login.ts":                 "auth",
		"src/auth.py":                          "auth",
		"authors.py":                           "",
		"src/author/service.ts":                "",
		"app/models/password_reset.rb":         "auth",
		"internal/crypto/aes.go":               "crypto",
		"db/migrations/0003_add_orders.sql":    "database migrations",
		"prisma/schema.prisma":                 "database",
		"users/migrations/0001_initial.py":     "migrations",
		"internal/store/order_repo.go":         "database",
		"api/openapi.yaml":                     "api",
		"proto/shop/v1/orders.proto":           "api",
		"src/routes/orders.ts":                 "api",
		"shop/urls.py":                         "api",
		"web/src/components/Button.tsx":        "ui",
		"static/css/site.scss":                 "ui",
		"templates/mail.html":                  "ui",
		"Dockerfile":                           "infra",
		"services/shop/Dockerfile.dev":         "infra",
		"docker-compose.yml":                   "infra",
		"terraform/main.tf":                    "infra",
		"deploy/prod/values.yaml":              "infra",
		".github/workflows/ci.yml":             "ci",
		".gitlab-ci.yml":                       "ci",
		"Makefile":                             "build",
		"scripts/release.sh":                   "scripts",
		"package.json":                         "dependencies",
		"web/pnpm-lock.yaml":                   "dependencies",
		"go.sum":                               "dependencies",
		"requirements-dev.txt":                 "dependencies",
		"pom.xml":                              "dependencies",
		"pkg/cart/cart_test.go":                "tests",
		"tests/test_orders.py":                 "tests",
		"src/cart.spec.ts":                     "tests",
		"src/test/java/ShopIT.java":            "tests",
		"README.md":                            "docs",
		"docs/guide/setup.rst":                 "docs",
		"internal/vault/client.go":             "secrets",
		"src/SecretStore.ts":                   "secrets",
		"app/credentials.py":                   "secrets",
		"main.go":                              "",
		"src/index.ts":                         "",
		"lib/util/strings.py":                  "",
	}
	c := mustLoad(t)
	var globs, domains []string
	for _, d := range c.Domains {
		for _, g := range d.Globs {
			globs = append(globs, g)
			domains = append(domains, d.Domain)
		}
	}
	set, err := glob.Compile(globs)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range tests {
		var got []string
		for _, i := range set.Match(path) {
			got = append(got, domains[i])
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, strings.Join(slices.Compact(got), " ")); diff != "" {
			t.Errorf("domains of %s (-want +got):\n%s", path, diff)
		}
	}
}

// Signals ask for another reviewer in the middle of a review, so they must be right. For each
// signal, the test has lines that show its concern and lines that only look like it.
func TestDefaultSignals(t *testing.T) {
	tests := map[string]struct{ hits, misses []string }{
		"money-arithmetic": {
			hits: []string{
				`total := price * float64(qty)`,
				`const total = item.unitPrice * item.quantity;`,
				`    subtotal += line_price * 1.19`,
				`return totalAmount / 100`,
				`discount_amount/2`,
				`grandTotal += shipping`,
				`double net = grossAmount() * (1 - rate);`,
				`	Price    float64`,
				`    unit_price: float`,
				`    private double price;`,
			},
			misses: []string{
				`Price *float64`,
				`func price(p *Price) {`,
				`// the price - if there is one - is shown below`,
				`url := "/price/1"`,
				`import prices from "./prices"`,
				`price = other.price`,
				`* price of the article`,
				`"price/quantity"`,
			},
		},
		"authentication": {
			hits: []string{
				`err := bcrypt.CompareHashAndPassword(hash, pw)`,
				`const token = jwt.sign({ sub: user.id }, key)`,
				`if not check_password(user, given):`,
				`if (!verifyPassword(input)) {`,
				`@login_required`,
			},
			misses: []string{
				`import bcrypt`,
				`const passwordLabel = "Password"`,
				`// jwt is parsed elsewhere`,
				`resetPasswordForm.show()`,
			},
		},
		"session": {
			hits:   []string{`req.session.user = user`, `request.session["cart"] = cart.id`, `session_regenerate_id(true);`, `store := sessions.NewCookieStore(key)`, `HttpSession s = request.getSession();`, `SESSION_COOKIE_SECURE = False`},
			misses: []string{`session = requests.Session()`, `if req.session.user == nil`, `const session = 1`, `db.session.commit()`},
		},
		"secrets": {
			hits:   []string{`client, err := vault.NewClient(cfg)`, `keyring.get_password("app", user)`, `key, err := x509.ParsePKCS8PrivateKey(der)`, `client.get_secret_value(SecretId=name)`},
			misses: []string{`os.Getenv("STRIPE_SECRET_KEY")`, `process.env.SLACK_TOKEN`, `token := next()`, `x509.ParseCertificate(der)`, `kms.Newline`, `// the secret manager`},
		},
		"cryptography": {
			hits: []string{
				`block, err := aes.NewCipher(key)`,
				`const mac = crypto.createHmac("sha256", key)`,
				`Cipher c = Cipher.getInstance("AES/GCM/NoPadding");`,
				`f = Fernet(key)`,
				`tls.Config{InsecureSkipVerify: true}`,
			},
			misses: []string{
				`sum := sha256.Sum256(data)`,
				`// encrypt this later`,
				`descriptor.New()`,
				`createSignature(form)`,
			},
		},
		"sql-building": {
			hits: []string{
				`q := "SELECT id FROM users WHERE name = '" + name`,
				`q := "SELECT id FROM users WHERE id = " + id`,
				"db.query(`SELECT * FROM orders WHERE id = ${id}`)",
				`cur.execute(f"DELETE FROM carts WHERE id = {cart_id}")`,
				`sql := fmt.Sprintf("UPDATE stock SET n = %d", n)`,
				`"insert into log values ({})".format(row)`,
				`$q = 'SELECT * FROM users WHERE name = "' + name`,
				"db.query(`SELECT * FROM users WHERE name = '${name}'`)",
			},
			misses: []string{
				`db.Query("SELECT id FROM users WHERE id = ?", id)`,
				`cur.execute("SELECT id FROM users WHERE id = %s", (uid,))`,
				`"please select a date from the list" + suffix`,
				`// select the best from both`,
				`fmt.Sprintf("selected %d from %d", a, b)`,
			},
		},
		"concurrency": {
			hits:   []string{`cond *sync.Cond`, `atomic.CompareAndSwapInt64(&n, 0, 1)`, `t = threading.Thread(target=run)`, `while (!head.compareAndSet(a, b)) {`, `n.load(Ordering::Acquire)`, `new Thread(job).start();`},
			misses: []string{`go run()`, `// keep both in sync.`, `import "sync"`, `new ThreadView()`, `mu sync.Mutex`, `n.Add(1)`, `synchronized (lock) {`, `Ordering::Less`},
		},
		"personal-data": {
			hits:   []string{`date_of_birth = models.DateField()`, `ssn: string;`, `String passportNumber;`, `user_ssn := r.Form`, `SocialSecurityNumber string`},
			misses: []string{`birthday cake`, `const session = 1`, `missn = 2`, `passport.use(strategy)`},
		},
		"migrations": {
			hits:   []string{`ALTER TABLE orders ADD COLUMN note text;`, `DROP TABLE IF EXISTS carts;`, `op.add_column("orders", col)`, `add_column :orders, :note, :text`},
			misses: []string{`CREATE TABLE orders (id int);`, `drop the table`, `table.alter()`, `truncate(table)`},
		},
		"public-api": {
			hits:   []string{`@app.route("/orders")`, `@router.get("/orders/{id}")`, `app.post('/orders', create)`, `mux.HandleFunc("GET /orders", list)`, `@GetMapping("/orders")`},
			misses: []string{`cache.get("/orders")`, `app.get("title")`, `http.Get("https://example.com")`, `user@app.get("x")`},
		},
		"kubernetes": {
			hits:   []string{`kind: Deployment`, `kind: "CronJob"`},
			misses: []string{`kind: ConfigMap`, `  kind: Pod`, `# kind: Pod`},
		},
		"accessibility": {
			hits:   []string{`return "<button class='x'>" + label`, `<img src={url} />`, `aria-label="Close"`},
			misses: []string{`if a <input && b {`, `Array<label>`, `List<button>`},
		},
	}
	for _, s := range mustLoad(t).Signals {
		if s.Name == "" {
			t.Errorf("signal %s has no name: reports say that a file looks like %s", s.ID, s.Title())
		}
		test, ok := tests[s.Concern]
		if !ok {
			t.Errorf("signal %s has no examples", s.Concern)
			continue
		}
		re := regexp.MustCompile(s.Pattern)
		for _, line := range test.hits {
			if !re.MatchString(line) {
				t.Errorf("%s misses %s", s.Concern, line)
			}
		}
		for _, line := range test.misses {
			if m := re.FindString(line); m != "" {
				t.Errorf("%s finds %q in %s", s.Concern, m, line)
			}
		}
		delete(tests, s.Concern)
	}
	for concern := range tests {
		t.Errorf("there is no signal %s", concern)
	}
}
