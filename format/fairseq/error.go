package fairseq

import (
	"fmt"
	"strings"
)

// ModelError reports a checkpoint that was read but cannot become a model of
// ours. It lists everything that stands in the way, not only the first thing.
type ModelError struct {
	Path string
	// Unsupported: what the model has that we do not. When it is not empty,
	// Problems is not complete.
	Unsupported []string
	// Problems: missing, unexpected and misshapen tensors, settings,
	// dictionaries and tokenisation.
	Problems []string
}

// Error is one line for one problem, else a line for each.
func (e *ModelError) Error() string {
	kind, list := "cannot be converted", e.Problems
	if len(e.Unsupported) > 0 {
		kind, list = "is not supported", e.Unsupported
	}
	if len(list) == 1 {
		return fmt.Sprintf("fairseq: %q %s: %s", e.Path, kind, list[0])
	}
	return fmt.Sprintf("fairseq: %q %s:\n  %s", e.Path, kind, strings.Join(list, "\n  "))
}
