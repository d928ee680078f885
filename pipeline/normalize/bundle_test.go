package normalize

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// A minified bundle counts as generated if the change shows that it was one at the base. Nothing that
// an author writes anew makes it one.
func TestBundles(t *testing.T) {
	long := strings.Repeat("var a=1;", 300)
	large, template := strings.Repeat(long, 5), strings.Repeat("<li>item</li>", 30)
	changed := func(path, previous string, status pipeline.FileStatus, lines ...string) raw.ChangedFile {
		text := strings.Join(lines, "\n")
		minus := strings.Count("\n"+text, "\n-")
		plus := strings.Count("\n"+text, "\n+")
		return raw.ChangedFile{
			Path: path, PreviousPath: previous, Status: status, Additions: plus, Deletions: minus,
			Patch: fmt.Sprintf("@@ -%d,%d +%d,%d @@\n%s", min(minus, 1), minus, min(plus, 1), plus, text),
		}
	}
	built, gone := changed("build/assets/app-Cw8PvgLj.js", "", pipeline.FileAdded, "+"+long), changed("build/assets/app-CAu7C_Vv.js", "", pipeline.FileRemoved, "-"+long)
	// The base has one long line in code that people write, and the author makes another of it.
	code := "\n draw(logo)\n \n done()"
	among := raw.ChangedFile{Path: "src/logo.js", Status: pipeline.FileModified, Additions: 2, Deletions: 1, Patch: "@@ -1,7 +1,8 @@" + code + "\n-" + long + "\n+" + long + "b\n+run(location.hash)" + code}
	beside := raw.ChangedFile{Path: "dist/shop.js", Status: pipeline.FileModified, Additions: 1, Deletions: 1, Patch: "@@ -1,2 +1,2 @@\n /*! MIT */\n-" + long + "\n+" + long + "b"}
	for name, tt := range map[string]struct {
		files []raw.ChangedFile
		want  bool // of the first file
	}{
		"built again under another hash":      {[]raw.ChangedFile{built, gone}, true},
		"renamed and built again":             {[]raw.ChangedFile{changed("dist/app-Cw8PvgLj.css", "dist/app-BTASPs_i.css", pipeline.FileRenamed, "-"+long, "+"+long)}, true},
		"built again in place":                {[]raw.ChangedFile{changed("dist/shop.js", "", pipeline.FileModified, "-"+long, "+"+long)}, true},
		"new":                                 {[]raw.ChangedFile{built}, false},
		"beside another bundle":               {[]raw.ChangedFile{built, changed("build/assets/vue-CAu7C_Vv.js", "", pipeline.FileRemoved, "-"+long)}, true},
		"beside another, without a hash":      {[]raw.ChangedFile{changed("build/assets/shop.js", "", pipeline.FileAdded, "+"+long), changed("build/assets/vue-CAu7C_Vv.js", "", pipeline.FileRemoved, "-"+long)}, false},
		"beside another language":             {[]raw.ChangedFile{built, changed("build/assets/app-CAu7C_Vv.css", "", pipeline.FileRemoved, "-"+long)}, false},
		"beside code with a hash":             {[]raw.ChangedFile{built, changed("build/assets/vue-CAu7C_Vv.js", "", pipeline.FileRemoved, "-shop()")}, false},
		"with templates over several lines":   {[]raw.ChangedFile{changed("dist/app-Cw8PvgLj.js", "dist/app-BTASPs_i.js", pipeline.FileRenamed, "-"+large, "-"+template, "+"+large, "+"+template)}, true},
		"code beside the bundle":              {[]raw.ChangedFile{changed("dist/app-Cw8PvgLj.js", "dist/app-BTASPs_i.js", pipeline.FileRenamed, "-"+large, "+"+large, "+"+template, "+"+template, "+"+template, "+"+template)}, false},
		"templates in a file without a hash":  {[]raw.ChangedFile{changed("src/logo.js", "", pipeline.FileModified, "-"+large, "-"+template, "+"+large, "+"+template)}, false},
		"a bundle of another folder":          {[]raw.ChangedFile{built, changed("dist/app-CAu7C_Vv.js", "", pipeline.FileRemoved, "-"+long)}, false},
		"code in place of the bundle":         {[]raw.ChangedFile{changed("dist/shop.js", "", pipeline.FileModified, "-"+long, "+eval(location.hash)", "+done()")}, false},
		"a bundle in place of code":           {[]raw.ChangedFile{changed("dist/shop.js", "", pipeline.FileModified, "-shop()", "+"+long)}, false},
		"code that had one very long line":    {[]raw.ChangedFile{changed("src/logo.js", "", pipeline.FileModified, "-"+long, "-draw()"+strings.Repeat("\n-draw()", 400), "+"+long)}, false},
		"a long line among code":              {[]raw.ChangedFile{among}, false},
		"beside short lines of a .min file":   {[]raw.ChangedFile{changed("dist/shop.min.js", "", pipeline.FileModified, "-"+long, "-});", "+"+long, "+});")}, true},
		"a long line beside a short remark":   {[]raw.ChangedFile{beside}, true},
		"a long line in a language of people": {[]raw.ChangedFile{changed("src/shop.go", "", pipeline.FileModified, "-"+long, "+"+long)}, false},
	} {
		files := normalized(t, source(tt.files...)).Files
		for _, f := range files {
			if f.Path == tt.files[0].Path && (f.Bundle != tt.want || f.GeneratedByPath != tt.want) {
				t.Errorf("%s: a bundle: %t, generated: %t, want %t", name, f.Bundle, f.GeneratedByPath, tt.want)
			}
		}
	}
}
