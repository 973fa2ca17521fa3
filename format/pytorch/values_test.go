package pytorch

import (
	"fmt"
	"maps"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
)

// show writes a value on one line, an open container within itself as "...".
func show(v any) string { return showIn(v, map[any]bool{}) }

func showIn(v any, open map[any]bool) string {
	if c := container(v); c != nil {
		if open[c] {
			return "..."
		}
		open[c] = true
		defer delete(open, c)
	}
	join := func(list []any) string {
		var s []string
		for _, x := range list {
			s = append(s, showIn(x, open))
		}
		return strings.Join(s, " ")
	}
	switch v := v.(type) {
	case nil:
		return "None"
	case string:
		return fmt.Sprintf("%q", v)
	case []byte:
		return fmt.Sprintf("b%q", v)
	case *big.Int:
		return "big" + v.String()
	case *List:
		return "[" + join(v.Items) + "]"
	case *Tuple:
		return "(" + join(v.Items) + ")"
	case *Set:
		return "set(" + join(v.Items) + ")"
	case *Dict:
		var s []string
		for i := range v.Len() {
			key, value := v.At(i)
			s = append(s, showIn(key, open)+":"+showIn(value, open))
		}
		return "{" + strings.Join(s, " ") + "}"
	case *Global:
		return "<" + v.String() + ">"
	case *Tensor:
		return fmt.Sprint(v.DType, v.Shape)
	case *Array:
		return fmt.Sprintf("%s%v fortran=%v %x", v.DType, v.Shape, v.Fortran, v.Data)
	case *Object:
		s := v.String() + "(" + join(v.Args) + ")"
		if v.Kwargs != nil {
			s += "kwargs" + showIn(v.Kwargs, open)
		}
		if v.Dict != nil {
			s += showIn(v.Dict, open)
		}
		if v.Items != nil {
			s += "[" + join(v.Items) + "]"
		}
		if v.Entries != nil {
			s += "+" + showIn(v.Entries, open)
		}
		if v.Note != "" {
			s += " " + v.Note
		}
		return s
	}
	return fmt.Sprintf("%v", v)
}

// TestValues compares the values in the fixtures of all pickle protocols with
// what make.py saved. Where protocols write a value differently, the table has
// each form.
func TestValues(t *testing.T) {
	forms := map[string][]string{
		"none":     {"None"},
		"booleans": {"[true false]"},
		"integers": {"[0 1 -1 255 256 -129 65535 65536 2147483647 -2147483648 2147483648 9223372036854775807 -9223372036854775808 " +
			"big9223372036854775808 big-9223372036854775809 big1606938044258990275541962092341162602522202993782792835301376 big-1606938044258990275541962092341162602522202993782792835301376]"},
		"floats":        {"[0.1 -0 +Inf 1e-310]"},
		"strings":       {`["" "a" "äß→😀" "line\nbreak" "'\"\\" "` + strings.Repeat("x", 300) + `"]`},
		"surrogate":     {`"\xed\xa0\x80"`},
		"bytes":         {`[b"" b"\x00\xff\x80" b"` + strings.Repeat("y", 300) + `"]`},
		"bytearray":     {`b"\x00\xfe"`},
		"tuples":        {"[() (1) (1 2) (1 2 3) (1 2 3 4)]"},
		"nested":        {`[[[]] {"k":{}} (())]`},
		"keys":          {`{1:"int" (1 "a"):"tuple" 2.5:"float" None:"none" b"b":"bytes" "s":"string" false:"false"}`},
		"set":           {"set(7)"},
		"frozenset":     {"set(8)"},
		"complex":       {"(1+2i)"},
		"cycle":         {"[1 ...]"},
		"shared":        {`[{"a":1} {"a":1}]`},
		"ordered":       {`{"b":1 "a":2}`},
		"default":       {`{"k":[1]}`},
		"counter":       {`{"a":2 "b":1}`},
		"deque":         {"[1 2]"},
		"namespace":     {`argparse.Namespace(){"arch":"memsizer" "lr":[0.1] "nested":argparse.Namespace(){"x":1}}`},
		"enum":          {"__main__.Colour(1)"},
		"slots":         {`__main__.Point(){"x":1 "y":2}`},
		"dict subclass": {`__main__.Words()+{"a":1}`},
		"list subclass": {"__main__.Stack()[1 2]"},
		"path":          {`pathlib.PurePosixPath("/" "a" "b")`, `pathlib.PurePosixPath("/a/b")`},
		"date":          {`datetime.date(b"\a\xe6\x03\x18")`},
		"class":         {"<argparse.Namespace>"},
		"slice":         {"builtins.slice(1 None 2)"},
		"range":         {"builtins.range(0 3 1)", "builtins.xrange(0 3 1)"},
		"size":          {"(2 3)"},
		"device":        {`torch.device("cuda" 1)`},
		"dtype":         {"<torch.float16>"},
		"numpy":         {`[0.1 0.5 1.5 -7 -8 big9223372036854775808 true "ä" b"b" (1+2i)]`},
		"array":         {">i2[2 3] fortran=false 000100020003000400050006"},
		"fortran": {"<f8[2 3] fortran=true 0000000000000000" + "0000000000000840" + "000000000000f03f" +
			"0000000000001040" + "0000000000000040" + "0000000000001440"},
		"objects": {"|O[0] fortran=false "},
		"tensor":  {"float32 [4]"},
	}
	for _, name := range []string{"values-protocol2.pt", "values-protocol3.pt", "values-protocol4.pt", "values-protocol5.pt", "values-legacy.pt", "values-legacy-protocol1.pt"} {
		t.Run(name, func(t *testing.T) {
			root := openFile(t, filepath.Join("testdata", name)).Root().(*Dict)
			forms := maps.Clone(forms)
			if strings.Contains(name, "protocol1") {
				delete(forms, "slots") // Python does not save them
			}
			if root.Len() != len(forms)+2 {
				t.Errorf("%d values, want %d", root.Len(), len(forms)+2)
			}
			for key, want := range forms {
				v, _ := root.Get(key)
				got := show(v)
				if got != want[0] && got != want[len(want)-1] {
					t.Errorf("%q: got %s, want %s", key, got, strings.Join(want, " or "))
				}
			}
			large, _ := root.Get("large")
			if v, ok := large.(*Dict).Lookup(int64(1000)); large.(*Dict).Len() != 1001 || !ok || v != "1000" {
				t.Errorf("the large dictionary has %d entries, and %v for 1000", large.(*Dict).Len(), v)
			}
			list, _ := root.Get("list")
			if l := list.(*List); len(l.Items) != 1001 || l.Items[1000] != int64(1000) {
				t.Errorf("the long list has %d items", len(l.Items))
			}
			keys, _ := root.Get("keys")
			for _, key := range []any{&Tuple{[]any{int64(1), "a"}}, true, 1.0, []byte("b"), nil, 0.0} {
				if _, ok := keys.(*Dict).Lookup(key); !ok {
					t.Errorf("no entry for the key %s", show(key))
				}
			}
			shared, _ := root.Get("shared")
			if l := shared.(*List); l.Items[0] != l.Items[1] {
				t.Error("a shared dictionary was copied")
			}
		})
	}
}

// TestModule checks the tree of a whole module.
func TestModule(t *testing.T) {
	for _, name := range []string{"module.pt", "module-legacy.pt"} {
		o, ok := openFile(t, filepath.Join("testdata", name)).Root().(*Object)
		if !ok || o.String() != "__main__.Model" {
			t.Fatalf("%s: the root is %s", name, show(o))
		}
		if v, _ := o.Attr("training"); v != true {
			t.Errorf("%s: training is %v", name, v)
		}
		buffers, _ := o.Attr("_buffers")
		if got, want := show(buffers), `{"steps":int64 [1]}`; got != want {
			t.Errorf("%s: buffers %s, want %s", name, got, want)
		}
	}
}

// TestUntyped reads a tensor of a type that only torch 2 has.
func TestUntyped(t *testing.T) {
	root := openFile(t, "testdata/untyped.pt").Root().(*Dict)
	v, _ := root.Get("w")
	x, ok := v.(*Tensor)
	if !ok {
		t.Fatalf("w is %s", show(v))
	}
	if got, want := fmt.Sprint(x.DType, x.Shape, x.Strides, x.Offset), "uint16 [2 2] [1 2] 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := fmt.Sprintf("%x", readAll(t, x)), "0203060704050809"; got != want {
		t.Errorf("got elements %s, want %s", got, want)
	}
}
