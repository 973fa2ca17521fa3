//go:build !purego

package simd

var vectorsNEON = vectorKernels{
	add:             addN,
	relu:            reluN,
	exp:             expN,
	gelu:            geluN,
	geluTanh:        geluTanhN,
	tanh:            tanhN,
	swish:           swishN,
	scale:           scaleN,
	axpy:            axpyN,
	subTwo:          subTwoN,
	dot:             dotN,
	max:             maxN,
	epilogue:        epilogueN,
	maxBits:         maxBitsN,
	expSum:          expSumN,
	expSumTo:        expSumToN,
	layerNorm:       layerNormN,
	firstAbove:      firstAboveN,
	slotSoftmax:     slotSoftmaxN,
	scores:          scoresN,
	weightedSum:     weightedSumN,
	weightedSumF16:  weightedSumF16N,
	weightedRows:    weightedSumN,
	weightedRowsF16: weightedSumF16N,
	memoryStep:      memoryStepN,
	quantize:        quantizeN,
}
