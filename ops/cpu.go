package ops

// CPU runs operators for one goroutine at a time; it owns the scratch space
// they need. Weights are read-only and shared by any number of CPUs.
type CPU struct {
	pool      *Pool     // helpers, while this CPU may use them; nil alone
	profile   *Profile  // takes the time; mostly nil
	product   product   // the product being computed
	weights   []float32 // slot weights, one row
	kappa     []float32 // normalised keys and values, one row
	built     []float32 // a memory that becomes one of halfs
	scores    []float32 // attention scores, one row and head
	runs      []run     // of an attention
	rounded   []uint16  // activations of a bfloat16 product
	quantized []uint8   // activations of an int8 product
	scales    []float32 // their scales
}

// NewCPU returns an executor.
func NewCPU() *CPU { return &CPU{} }

func growTo[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n+n/2)
	}
	return (*s)[:n]
}
