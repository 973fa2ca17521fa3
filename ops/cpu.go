package ops

// CPU runs operators for one goroutine at a time; it owns the scratch space
// they need. Weights are read-only and shared by any number of CPUs.
type CPU struct {
	weights []float32 // slot weights, one row
	kappa   []float32 // normalised keys, one row
	scores  []float32 // attention scores, one row and head
}

// NewCPU returns an executor.
func NewCPU() *CPU { return &CPU{} }

func grow(s *[]float32, n int) []float32 {
	if cap(*s) < n {
		*s = make([]float32, n+n/2)
	}
	return (*s)[:n]
}
