package eval

import (
	"maps"
	"slices"
	"strings"
)

// Equation is an einsum equation taken apart.
type Equation struct {
	Inputs []string // the letters of each input's dimensions
	Output string
}

// ParseEquation reads "ts,sbkd->tbkd". Without an arrow the output's letters
// are those that occur once, in alphabetical order. ok is false for other
// forms (an ellipsis, a letter twice in one term, or unknown in the output).
func ParseEquation(s string) (e Equation, ok bool) {
	s = strings.ReplaceAll(s, " ", "")
	left, right, arrow := strings.Cut(s, "->")
	e.Inputs = strings.Split(left, ",")
	count := map[rune]int{}
	for _, term := range e.Inputs {
		for i, r := range term {
			if r < 'A' || r > 'z' || r > 'Z' && r < 'a' || strings.ContainsRune(term[:i], r) {
				return e, false
			}
			count[r]++
		}
	}
	if !arrow {
		for _, r := range slices.Sorted(maps.Keys(count)) {
			if count[r] == 1 {
				right += string(r)
			}
		}
	}
	for i, r := range right {
		if count[r] == 0 || strings.ContainsRune(right[:i], r) {
			return e, false
		}
	}
	e.Output = right
	return e, true
}

func einsum(c *call) []*Tensor {
	equation := c.text("equation", "")
	e, ok := ParseEquation(equation)
	if !ok || len(e.Inputs) != len(c.in) {
		c.fail("equation %q of %d inputs", equation, len(c.in))
	}
	size := map[rune]int{}
	data := make([][]float32, len(c.in))
	for i, term := range e.Inputs {
		t := c.input(i)
		if len(t.Shape) != len(term) || t.DType != c.in[0].DType {
			c.fail("input %d of %v %d, want the dimensions %q", i, t.DType, t.Shape, term)
		}
		for j, r := range term {
			if n, ok := size[r]; ok && n != t.Shape[j] {
				c.fail("dimension %q is %d and %d", r, n, t.Shape[j])
			}
			size[r] = t.Shape[j]
		}
		data[i] = c.floats(i)
	}
	letters := e.Output // those of the output, then those that are summed
	for _, r := range slices.Sorted(maps.Keys(size)) {
		if !strings.ContainsRune(e.Output, r) {
			letters += string(r)
		}
	}
	shape := make([]int, len(letters))
	for i, r := range letters {
		shape[i] = size[r]
	}
	outer, inner := shape[:len(e.Output)], shape[len(e.Output):]
	out := c.like(c.in[0], outer)
	var so, si [][]int
	for i, term := range e.Inputs {
		own := strides(c.in[i].Shape, c.in[i].Shape)
		all := make([]int, len(letters))
		for j, r := range letters {
			if k := strings.IndexRune(term, r); k >= 0 {
				all[j] = own[k]
			}
		}
		so, si = append(so, all[:len(outer)]), append(si, all[len(outer):])
	}
	i := 0
	walk(outer, func(base []int) {
		var sum float64
		walk(inner, func(off []int) {
			v := 1.0
			for k, x := range data {
				v *= float64(x[base[k]+off[k]])
			}
			sum += v
		}, si...)
		out.Floats[i] = float32(sum)
		i++
	}, so...)
	return []*Tensor{out}
}
