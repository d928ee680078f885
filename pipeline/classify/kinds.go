package classify

import (
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/linguist"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// kinds recognises files that are at the same places in every repository.
type kinds struct {
	workflow   *glob.Set
	dependency *glob.Set
}

// workflowGlobs match the files that run on a change before it is merged.
var workflowGlobs = []string{
	".github/workflows/**", ".github/actions/**", "**/action.{yml,yaml}",
	".gitlab-ci.yml", ".gitlab/ci/**", ".circleci/**", ".buildkite/**", ".drone.yml", ".travis.yml",
	".woodpecker/**", ".woodpecker.yml", ".teamcity/**", ".semaphore/**", "appveyor.yml",
	"azure-pipelines.{yml,yaml}", "bitbucket-pipelines.yml", "cloudbuild.{yml,yaml}", "**/Jenkinsfile",
}

// dependencyGlobs match the package managers' manifests and lock files.
var dependencyGlobs = []string{
	"**/go.{mod,sum,work}", "**/go.work.sum",
	"**/package.json", "**/package-lock.json", "**/npm-shrinkwrap.json", "**/yarn.lock", "**/pnpm-lock.yaml", "**/bun.{lock,lockb}",
	"**/deno.{json,jsonc,lock}",
	"**/requirements.txt", "**/requirements-*.txt", "**/requirements/*.txt", "**/pyproject.toml", "**/Pipfile", "**/Pipfile.lock",
	"**/poetry.lock", "**/uv.lock", "**/pdm.lock",
	"**/Gemfile", "**/Gemfile.lock", "**/*.gemspec", "**/Cargo.{toml,lock}", "**/composer.{json,lock}",
	"**/pom.xml", "**/build.gradle", "**/build.gradle.kts", "**/gradle.lockfile", "**/libs.versions.toml",
	"**/*.csproj", "**/packages.lock.json", "**/Directory.Packages.props",
	"**/mix.{exs,lock}", "**/pubspec.{yaml,lock}", "**/Package.{swift,resolved}", "**/Podfile", "**/Podfile.lock",
	"**/.terraform.lock.hcl", "**/Chart.lock", "**/flake.lock",
}

func compileKinds() (k kinds, err error) {
	if k.workflow, err = glob.Compile(workflowGlobs); err != nil {
		return k, fmt.Errorf("compile workflow globs: %w", err)
	}
	if k.dependency, err = glob.Compile(dependencyGlobs); err != nil {
		return k, fmt.Errorf("compile dependency globs: %w", err)
	}
	return k, nil
}

// survey counts the kinds of a change's files. For some kinds it has the index of the first file,
// or -1.
type survey struct {
	docs, tests, workflows, dependencies int // how many files

	workflow, dependency, deletedTest int // index of the first, or -1
	newSource                         int // source files that are neither test nor documentation
	grownSource                       int // such files in languages that people write tests for
}

func (c *Classifier) survey(facts *pipeline.PRFacts) survey {
	s := survey{workflow: -1, dependency: -1, deletedTest: -1, newSource: -1, grownSource: -1}
	first := func(at *int, i int) {
		if *at < 0 {
			*at = i
		}
	}
	for i := range facts.Files {
		f := &facts.Files[i]
		if f.Documentation {
			s.docs++
		}
		if f.Test {
			s.tests++
			if f.Status == pipeline.FileRemoved {
				first(&s.deletedTest, i)
			}
		}
		if c.kinds.workflow.Any(f.Path) {
			s.workflows++
			first(&s.workflow, i)
		}
		if c.kinds.dependency.Any(f.Path) {
			s.dependencies++
			first(&s.dependency, i)
		}
		if isSource(f) && f.Additions > 0 {
			if !slices.Contains(rarelyTested, f.Language) {
				first(&s.grownSource, i)
			}
			if f.Status == pipeline.FileAdded {
				first(&s.newSource, i)
			}
		}
	}
	return s
}

// rarelyTested are programming languages that describe builds and infrastructure. Changes in them
// hardly ever come with tests.
var rarelyTested = []string{"Bicep", "CMake", "Dockerfile", "HCL", "Jsonnet", "Just", "Makefile", "Meson", "Nix", "Puppet", "Starlark"}

// isSource reports whether the file is hand-written in a programming language, and neither test nor
// documentation.
func isSource(f *pipeline.File) bool {
	if f.Test || f.Documentation || f.GeneratedByPath || f.Vendored {
		return false
	}
	return linguist.IsProgramming(f.Language)
}
