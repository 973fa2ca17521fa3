package recognize_test

import (
	"path/filepath"
	"testing"

	"memsizer/format/onnx/recognize"
)

const references = "../../../../shared/reference"

func TestReferenceModels(t *testing.T) {
	list, err := filepath.Glob(references + "/onnx-*/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Skip("no ../shared/reference beside the repository")
	}
	for _, path := range list {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			m, err := recognize.Load([]string{path}, recognize.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			t.Logf("%+v", m.Config)
		})
	}
}
