package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A tile is a micro-kernel of a matrix product: rows × vectors accumulators over a run of k. The weights are
// panels of 32 columns, a step of k takes stepBytes of each panel; a vector is 16 (Z) or 8 (Y) columns.
// Tiles of more than one panel (few rows) keep enough sums going to hide the latency of one.
type tile struct {
	wide bool // Z registers, else Y
	kind kind
	rows int
	vecs int
	// keep also stores the widened weights, for the tiles of the rows that follow
	keep bool
}

// kind is the type of the weights and how they are multiplied.
type kind string

const (
	f32 kind = "F32" // float32 × float32
	f16 kind = "F16" // float32 × half, widened
	bfs kind = "BFS" // float32 × bfloat16, widened by shift and mask; activations with the odd column of a pair first
	bf  kind = "BF"  // bfloat16 pairs, VDPBF16PS
	i8  kind = "I8"  // four bytes, VPDPBUSD
	i8w kind = "I8W" // four bytes, widened to words for VPMADDWD
)

// stepBytes is the length of one step in a panel: one column of k for float32 and half, two for bfloat16,
// four for int8.
func (t tile) stepBytes() int {
	if t.kind == f16 {
		return 64
	}
	return 128
}

// aBytes is how far one step advances in a row of activations.
func (t tile) aBytes() int {
	if t.kind == bfs {
		return 8
	}
	return 4
}

func (t tile) vecBytes() int { return t.stepBytes() / t.perPanel() }

// perPanel is the number of vectors in a panel.
func (t tile) perPanel() int {
	if t.wide {
		return 2
	}
	return 4
}

func (t tile) integer() bool { return t.kind == i8 || t.kind == i8w }

func (t tile) name() string {
	s := "Y"
	if t.wide {
		s = "Z"
	}
	kind := string(t.kind)
	if t.keep {
		kind += "Keep"
	}
	return fmt.Sprintf("mul%s%s%dx%d", kind, s, t.rows, t.vecs)
}

// r returns vector register i of the tile's width.
func (t tile) r(i int) VecPhysical {
	if t.wide {
		return Z[i]
	}
	return Y[i]
}

func (t tile) registers() int {
	if t.wide {
		return 32
	}
	return 16
}

// acc is the register number of the accumulator of row i, vector v.
func (t tile) acc(i, v int) int { return i*t.vecs + v }

// rowPointers address the rows of activations: a pointer for every third row, the others by the stride.
type rowPointers struct {
	at []GPVirtual
	ld GPVirtual
}

func newRowPointers(base, ld GPVirtual, rows int) rowPointers {
	p := rowPointers{ld: ld, at: []GPVirtual{base}}
	for i := 3; i < rows; i += 3 {
		next := GP64()
		LEAQ(Mem{Base: p.at[len(p.at)-1], Index: ld, Scale: 2}, next)
		ADDQ(ld, next)
		p.at = append(p.at, next)
	}
	return p
}

func (p rowPointers) mem(i, disp int) Mem {
	m := Mem{Base: p.at[i/3], Disp: disp}
	if i%3 > 0 {
		m.Index, m.Scale = p.ld, uint8(i%3)
	}
	return m
}

func (p rowPointers) advance(n int) {
	for _, r := range p.at {
		ADDQ(I32(int32(n)), r)
	}
}

// panelPointers address up to four panels at the same place.
type panelPointers struct {
	base, stride, stride3 Register
}

func (p panelPointers) mem(panel, disp int) Mem {
	switch panel {
	case 0:
		return Mem{Base: p.base, Disp: disp}
	case 3:
		return Mem{Base: p.base, Index: p.stride3, Scale: 1, Disp: disp}
	}
	return Mem{Base: p.base, Index: p.stride, Scale: uint8(panel), Disp: disp}
}
