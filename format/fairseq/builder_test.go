package fairseq

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memsizer/format"
	"memsizer/format/safetensors"
)

// builder makes safetensors checkpoints with any names, shapes and settings.
type builder struct {
	args    map[string]any
	tensors map[string]builtTensor
	source  int // vocabulary sizes; source 0 for a language model
	target  int
}

type builtTensor struct {
	shape  []int
	values []float32
	dtype  string // "F32" if empty; F64 is written times 1e30, I64 as zeros
}

// fill gives values that tell tensors and elements apart.
func fill(name string, shape ...int) builtTensor {
	v := make([]float32, count(shape))
	seed := float32(0)
	for _, c := range name {
		seed = seed*31 + float32(c)
		seed = float32(math.Mod(float64(seed), 997))
	}
	for i := range v {
		v[i] = float32(math.Sin(float64(seed) + float64(i)))
	}
	return builtTensor{shape: shape, values: v}
}

func (b *builder) add(name string, shape ...int) { b.tensors[name] = fill(name, shape...) }

func (b *builder) norm(name string, n int) {
	b.add(name+".weight", n)
	b.add(name+".bias", n)
}

func (b *builder) linear(name string, out, in int) {
	b.add(name+".weight", out, in)
	b.add(name+".bias", out)
}

func (b *builder) softmax(p string, d, source int) {
	b.linear(p+"q_proj", d, d)
	b.linear(p+"k_proj", d, source)
	b.linear(p+"v_proj", d, source)
	b.linear(p+"out_proj", d, d)
}

func (b *builder) memsizer(p string, d, heads, slots int) {
	b.linear(p+"q_proj", heads*slots, d)
	b.linear(p+"k_proj", slots, d)
	b.linear(p+"v_proj", d, d)
	b.norm(p+"k_layer_norm", slots)
	b.norm(p+"v_layer_norm", d)
}

func (b *builder) layer(p string, d, f int) {
	b.norm(p+"self_attn_layer_norm", d)
	b.linear(p+"fc1", f, d)
	b.linear(p+"fc2", d, f)
	b.norm(p+"final_layer_norm", d)
}

const (
	builtDim, builtFFN, builtVocab = 6, 10, 9
)

// newTranslation is a MemSizer translation model of two layers on each side,
// with tables and output of their own.
func newTranslation() *builder {
	b := &builder{
		args: map[string]any{
			"arch": "memsizer", "task": "translation", "source_lang": "s", "target_lang": "t",
			"encoder_attention_heads": 2, "decoder_attention_heads": 2, "activation_fn": "relu",
		},
		tensors: make(map[string]builtTensor), source: builtVocab, target: builtVocab + 2,
	}
	b.add("encoder.embed_tokens.weight", b.source, builtDim)
	b.add("decoder.embed_tokens.weight", b.target, builtDim)
	b.add("decoder.output_projection.weight", b.target, builtDim)
	for _, side := range []string{"encoder", "decoder"} {
		b.tensors[side+".version"] = builtTensor{[]int{1}, []float32{3}, ""}
		b.tensors[side+".embed_positions._float_tensor"] = builtTensor{[]int{1}, []float32{float32(math.NaN())}, ""}
		for i := range 2 {
			p := fmt.Sprintf("%s.layers.%d.", side, i)
			b.layer(p, builtDim, builtFFN)
			if side == "encoder" {
				b.softmax(p+"self_attn.", builtDim, builtDim)
				continue
			}
			b.memsizer(p+"self_attn.", builtDim, 2, 3)
			b.memsizer(p+"encoder_attn.", builtDim, 2, 4)
			b.norm(p+"encoder_attn_layer_norm", builtDim)
		}
	}
	return b
}

// newLanguageModel is a MemSizer language model of two layers.
func newLanguageModel() *builder {
	b := &builder{
		args: map[string]any{
			"arch": "memsizer_lm", "task": "language_modeling", "tokens_per_sample": 20, "decoder_attention_heads": 2,
		},
		tensors: make(map[string]builtTensor), target: builtVocab,
	}
	b.add("decoder.embed_tokens.weight", b.target, builtDim)
	b.add("decoder.output_projection.weight", b.target, builtDim)
	b.tensors["decoder.version"] = builtTensor{[]int{1}, []float32{3}, ""}
	for i := range 2 {
		p := fmt.Sprintf("decoder.layers.%d.", i)
		b.layer(p, builtDim, builtFFN)
		b.memsizer(p+"self_attn.", builtDim, 2, 3)
	}
	return b
}

func (b *builder) drop(prefixes ...string) {
	maps.DeleteFunc(b.tensors, func(name string, _ builtTensor) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	})
}

func (b *builder) rename(from, to string) {
	b.tensors[to] = b.tensors[from]
	delete(b.tensors, from)
}

// same makes one tensor a copy of another.
func (b *builder) same(name, as string) { b.tensors[name] = b.tensors[as] }

func dictionaryText(entries int) []byte {
	var s bytes.Buffer
	for i := range entries - len(specials) {
		fmt.Fprintf(&s, "w%d %d\n", i, 100-i)
	}
	return s.Bytes()
}

// write makes a folder with the checkpoint, args.json and dictionaries.
func (b *builder) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	b.writeTo(t, filepath.Join(dir, "model.safetensors"))
	if b.args != nil {
		text, err := json.Marshal(b.args)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, "args.json"), text)
	}
	if b.source == 0 {
		writeFile(t, filepath.Join(dir, "dict.txt"), dictionaryText(b.target))
	} else {
		writeFile(t, filepath.Join(dir, "dict.s.txt"), dictionaryText(b.source))
		writeFile(t, filepath.Join(dir, "dict.t.txt"), dictionaryText(b.target))
	}
	return filepath.Join(dir, "model.safetensors")
}

func (b *builder) writeTo(t testing.TB, path string) {
	t.Helper()
	var list []safetensors.NamedTensor
	for _, name := range slices.Sorted(maps.Keys(b.tensors)) {
		v := b.tensors[name]
		n := safetensors.NamedTensor{Name: name, DType: firstSet(v.dtype, "F32"), Shape: v.shape}
		var data bytes.Buffer
		switch n.DType {
		case "F32":
			binary.Write(&data, binary.LittleEndian, v.values)
		case "F64":
			for _, x := range v.values {
				binary.Write(&data, binary.LittleEndian, float64(x)*1e30)
			}
		case "I64":
			data.Write(make([]byte, 8*count(v.shape)))
		default:
			t.Fatalf("no dtype %s", n.DType)
		}
		n.Data = &data
		list = append(list, n)
	}
	var out bytes.Buffer
	if err := safetensors.Write(&out, list, nil); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, out.Bytes())
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// config is the configuration of a checkpoint that must load.
func (b *builder) config(t *testing.T) format.Config {
	t.Helper()
	m := load(t, b.write(t), plainText())
	checkSpecs(t, m)
	return m.Config
}

// inMemory is a tensor without a file.
func inMemory(v builtTensor) fileTensor {
	data := new(bytes.Buffer)
	binary.Write(data, binary.LittleEndian, v.values)
	typ := "float32"
	if v.dtype == "I64" {
		typ = "int64"
	}
	return fileTensor{dims: v.shape, typ: typ, stored: count(v.shape), bytes: func() io.Reader { return bytes.NewReader(data.Bytes()) }}
}
