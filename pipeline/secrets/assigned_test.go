package secrets

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// A password with signs is found after a name that means a password.
func TestAssignedPasswords(t *testing.T) {
	d := detector(t)
	draw := rand.New(rand.NewPCG(43, 7))
	values := []string{"T0p" + "S3cret!Pass", "Summer" + "2024!"}
	for _, signs := range []string{`[!#*]`, `[@?~]`, `[+&^]`, `[$%]`, `[,;:]`} {
		values = append(values, drawnFrom(`[A-Z][a-z]{2}[0-9]`, draw)+drawnFrom(signs, draw)+drawnFrom(`[a-z]{2}[0-9][A-Z][0-9]`, draw)+drawnFrom(`[!#]`, draw)+drawnFrom(`[a-z]{2}[0-9][A-Z]`, draw))
	}
	for _, form := range []string{`S@P-P`, `S@S@S`, `S:S,S`, `S~S~S`, `S;S|S`, `S(S)P`, `S(SP!P`, `S=>S!S`, `S[?]P=PS!`} {
		value := ""
		for _, c := range form {
			switch c {
			case 'S':
				value += drawnFrom(`[A-Z][b-z]{2}[0-9]`, draw)
			case 'P':
				value += drawnFrom(`[a-z][A-Z][0-9]`, draw)
			case '[', ']':
			default:
				value += string(c)
			}
		}
		values = append(values, value)
	}
	values = append(values, "Xk9@mQ2v-"+"L7z", "Zk7@Wm4"+"@Rt9Q", "Gx4:Rt9,"+"Wq2Zp", "Hx7~Qp2"+"~Lm9z", "Vb3;Nm8"+"|Kj5T", "P@55w0rd"+"-Zq9x", "vX9(kL2"+")mQ", "Jd8(Kf2L"+"m9!z", "Lq5=>Wn8"+"!xR2", "K7?mq=Zx"+"93!")
	for _, value := range values {
		for _, setting := range []string{
			`passwd="%s"`, `SMTP_PASSWORD = "%s"`, `SECRET_KEY = '%s'`, `"dbPassword": "%s",`, `password: "%s"`, `$config['db']['pass'] = '%s';`, `'pwd' => '%s',`, `const apiKey = "%s";`, `var rootPassword string = "%s"`, `password: str = "%s"`, `String authToken = "%s";`, `dbpassword := "%s"`,
			`<user password="%s"/>`, `define('DB_PASSWORD', '%s');`, `user.setPassword("%s");`, `PASSWORD_2 = b"%s"`, "pass := `%s`", `os.environ["API_KEY"] = "%s"`, `export DB_PASS='%s'`, `password = @"%s";`, `db.secret-key: "%s"`,
		} {
			f := facts("deploy/run.txt", "+"+fmt.Sprintf(setting, value))
			if found := d.Redact(&f); len(found) == 0 || strings.Contains(texts(f)[0], value) {
				t.Errorf("%s: %d found, left %s", fmt.Sprintf(setting, value), len(found), texts(f))
			}
		}
	}
	if _, reported := finding(pipeline.Redaction{RuleID: ruleAssigned, Title: title(ruleAssigned)}, &pipeline.File{Path: "a_test.go", Test: true}); reported || isSure(ruleAssigned) {
		t.Error("the rule counts where made-up values are common")
	}
}

// The password is found however it is assigned.
func TestFormsOfAssignedPasswords(t *testing.T) {
	d := detector(t)
	const value = "Tr0ub4dor" + "&3xQ!"
	for _, setting := range []string{
		`password = '''%s'''`, `password = """%s"""`, `password = f"%s"`, `password = f"""%s"""`, `password = ("%s")`, `passwords["a"] = 1; password = ["%s"]`, `password = L"%s";`, `auto password = u8"%s";`, `let password = r#"%s"#;`, `password := []byte("%s")`, `let password = String::from("%s");`, `auto password = std::string("%s");`,
		`password ||= "%s"`, `password ??= "%s"`, `const p = process.env.PASSWORD || "%s"`, `const password = x ?? "%s"`, `secret = getSecret() or "%s"`, `p = get_password() or "%s"`, `os.environ.get("DB_PASSWORD", "%s")`, `password = os.getenv("X") or "%s"`, `password: &p "%s"`, `password: !!str "%s"`, "password =\n    \"%s\"", "password:\n  \"%s\"", "password = \\\n  '%s'",
		`ENV DB_PASSWORD "%s"`, `$env:PASSWORD = '%s'`, `mysql --password "%s"`, `mysql --password="%s"`, `CREATE USER a WITH PASSWORD '%s';`, `alter role a password '%s'`, `CREATE USER a IDENTIFIED BY '%s';`, `CREATE USER a IDENTIFIED WITH caching_sha2_password BY '%s';`, `<add key="password" value="%s"/>`, "- name: DB_PASSWORD\n  value: \"%s\"", "- name: \"DB_PASSWORD\"\n  value: '%s'", `{"name": "DB_PASSWORD", "value": "%s"}`,
		`PASSWORD_PROD = "%s"`, `passwordValue = "%s"`, `pswd = "%s"`, `password.prod = "%s"`,
	} {
		lines := strings.Split(fmt.Sprintf(setting, value), "\n")
		f := facts("deploy/run.txt", prefixed("+", lines)...)
		if found := d.Redact(&f); len(found) == 0 || strings.Contains(strings.Join(texts(f), "\n"), value) {
			t.Errorf("%q: %d found, left %q", lines, len(found), texts(f))
		}
	}
	for _, text := range []string{
		"password = x\nlabel: \"T0p!S3cretPas\"", "password:\n  label: \"T0p!S3cretPas\"", `the password "T0p!S3cretPas"`, `SET label "T0p!S3cretPas"`, `if password != x || "T0p!S3cretPas"`, `identified by "T0p S3cretPas!"`, `<add key="label" value="T0p!S3cretPas"/>`, "- name: DB_PASSWORD\n- value: \"T0p!S3cretPas\"", `passwordText2Label = "T0p!S3cretPas"`,
	} {
		f := facts("deploy/run.txt", prefixed("+", strings.Split(text, "\n"))...)
		for _, r := range d.Redact(&f) {
			if r.RuleID == ruleAssigned {
				t.Errorf("%s: %+v", text, r)
			}
		}
	}
}

// Other values of such names are not passwords.
func TestAssignedNonPasswords(t *testing.T) {
	d := detector(t)
	for _, text := range []string{
		`password = "%s:%s@2"`, `password = "{user}:{pass1}!"`, `password = "${DB_PASSWORD_1}!"`, `password = "<your-password-1>"`, `token = "{{ vault.token1 }}!"`, `password = "https://a.b/c?d=1"`, `password_regex = "^[a-z]{2,9}!"`, `secret = "arn:aws:secretsmanager:eu:123:secret:a1"`, `pass = "#password-1"`, `pass = "input[name=pass1]"`,
		`token = "auth.errors:token1,other"`, `password == "T0p!S3cretPas"`, `bypass = "T0p!S3cretPas"`, `passwordHash = "T0p!S3cretPas"`, `compass = "a1!b2@c3#"`, `password = "changeme-1!"`, `password = "xxxxxxxx1!"`, `password = "$DB_PASS1"`, `password = "getPassword(user1)"`, `password = "user1@host.example.org"`, `password = "two words 1!"`,
		`password = "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"`, `password = "password123!"`, `password = "ENC[AES256,data:p673w,iv:1]"`, `token = "-1.5e+10000"`, `api_key = "%DB_PASS1%"`, `pass = "@PASSWORD1@"`, `secret = "op://vault/item1/password"`, `label = "T0p!S3cretPas"`, `token = "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`, `token = "cafeb4b3:d3adb33f"`, `pwd = "a/b/c1"`,
	} {
		f := facts("deploy/run.txt", "+"+text)
		for _, r := range d.Redact(&f) {
			if r.RuleID == ruleAssigned {
				t.Errorf("%s: %+v", text, r)
			}
		}
	}
}

// Code has hardly any such passwords, and those are in examples and tests.
func TestAssignedPasswordsInCode(t *testing.T) {
	const most = 20
	n, size := 0, 0
	for _, f := range code(t, 64<<20) {
		size += len(f.text)
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		for _, m := range assignedPasswords(f.text, nil) {
			n++
			t.Logf("%s: %s", f.path, f.text[m.start:m.to])
		}
	}
	if t.Logf("%d in %d MB", n, size>>20); n > most {
		t.Errorf("%d are found in code", n)
	}
}
