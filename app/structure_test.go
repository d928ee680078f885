package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The most methods that a type and a port may have, and the most packages of ours that the
// clients of GitHub and of the database may import. What exceeds them has more than one subject.
const (
	maxTypeMethods   = 40
	maxPortMethods   = 10
	maxClientImports = 11
)

// No type has too many methods, no port asks for too many, and the clients of GitHub and of the
// database import few packages and no SDK of a model.
func TestStructureStaysSmall(t *testing.T) {
	t.Parallel()
	methods, ports, clients := map[string]int{}, map[string]*ast.InterfaceType{}, map[string]map[string]bool{}
	eachSource(t, func(dir string, f *ast.File) {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[dir+"."+receiver(fn)]++
			}
		}
		switch dir {
		case "app/ports":
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.TypeSpec); ok {
					if i, ok := s.Type.(*ast.InterfaceType); ok {
						ports[s.Name.Name] = i
					}
				}
				return true
			})
		case "app/gh", "app/internal/store":
			if clients[dir] == nil {
				clients[dir] = map[string]bool{}
			}
			for _, i := range f.Imports {
				imported, err := strconv.Unquote(i.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(imported, "github.com/reviewgate/reviewgate/") {
					clients[dir][imported] = true
				}
				if strings.Contains(imported, "anthropic") || strings.Contains(imported, "openai") {
					t.Errorf("%s imports %s: a model's SDK belongs to its agent", dir, imported)
				}
			}
		}
	})
	if len(methods) < 100 || len(ports) < 10 || len(clients) != 2 {
		t.Fatalf("read %d types with methods, %d ports and %d clients, which is too few", len(methods), len(ports), len(clients))
	}
	for name, n := range methods {
		if n > maxTypeMethods {
			t.Errorf("%s has %d methods; at most %d: split it by its subjects", name, n, maxTypeMethods)
		}
	}
	for name, i := range ports {
		if n := portMethods(t, i, ports); n > maxPortMethods {
			t.Errorf("app/ports.%s has %d methods; at most %d: split it by what its callers need", name, n, maxPortMethods)
		}
	}
	for dir, imports := range clients {
		if len(imports) > maxClientImports {
			t.Errorf("%s imports %d packages of ours; at most %d", dir, len(imports), maxClientImports)
		}
	}
}

// eachSource passes each file that is not a test, with its directory from the root.
func eachSource(t *testing.T, read func(dir string, f *ast.File)) {
	t.Helper()
	files := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") && e.Name() != "..") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel("..", filepath.Dir(path))
		if err != nil {
			return err
		}
		read(filepath.ToSlash(dir), f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// receiver returns the name of the type of a method.
func receiver(fn *ast.FuncDecl) string {
	x := fn.Recv.List[0].Type
	for {
		switch of := x.(type) {
		case *ast.StarExpr:
			x = of.X
		case *ast.IndexExpr:
			x = of.X
		case *ast.IndexListExpr:
			x = of.X
		case *ast.Ident:
			return of.Name
		default:
			return ""
		}
	}
}

// portMethods counts an interface's methods, with those of the ports that it embeds.
func portMethods(t *testing.T, i *ast.InterfaceType, ports map[string]*ast.InterfaceType) int {
	t.Helper()
	n := 0
	for _, m := range i.Methods.List {
		if len(m.Names) > 0 {
			n += len(m.Names)
			continue
		}
		embedded, ok := m.Type.(*ast.Ident)
		if !ok || ports[embedded.Name] == nil {
			t.Errorf("a port embeds an interface of another package, whose methods nobody counts here: %v", m.Type)
			continue
		}
		n += portMethods(t, ports[embedded.Name], ports)
	}
	return n
}
