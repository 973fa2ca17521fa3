package runtime

import (
	"context"
	"strings"
	"testing"
)

// Language models are measured in the tests of run bench.
func TestStepTimesOfTranslationModel(t *testing.T) {
	_, err := openBundled(t).StepTimes(context.Background(), 10, 3)
	if err == nil || !strings.Contains(err.Error(), "translation model") {
		t.Errorf("got error %v, want one about a translation model", err)
	}
}
