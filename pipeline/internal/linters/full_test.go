package linters

import _ "github.com/reviewgate/reviewgate/pipeline/sample" // the flag -full
