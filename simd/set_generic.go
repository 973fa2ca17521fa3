package simd

// generic is the definition of every kernel.
var generic = kernels{
	name: "generic",

	f32FromF16:  f32FromF16Generic,
	f16FromF32:  f16FromF32Generic,
	f32FromBF16: f32FromBF16Generic,
	bf16FromF32: bf16FromF32Generic,

	quantizeRow:    quantizeRowGeneric,
	roundRowBF16:   roundRowBF16Generic,
	matMulF32:      matMulF32Generic,
	matMulF16:      matMulF16Generic,
	matMulBF16:     matMulBF16Generic,
	matMulI8:       matMulI8Generic,
	epilogue:       epilogueGeneric,
	add:            addGeneric,
	scale:          scaleGeneric,
	axpy:           axpyGeneric,
	dot:            dotGeneric,
	max:            maxGeneric,
	relu:           reluGeneric,
	exp:            expGeneric,
	gelu:           geluGeneric,
	geluTanh:       geluTanhGeneric,
	tanh:           tanhGeneric,
	swish:          swishGeneric,
	layerNorm:      layerNormGeneric,
	expSum:         expSumGeneric,
	subTwo:         subTwoGeneric,
	slotSoftmax:    slotSoftmaxGeneric,
	firstAbove:     firstAboveGeneric,
	weightedSum:    weightedSumGeneric,
	weightedSumF16: weightedSumF16Generic,
	memoryStep:     memoryStepGeneric,
	scores:         scoresGeneric,

	peakFMA:  peakFMAGeneric,
	peakI8:   peakNone,
	peakBF16: peakNone,
	read:     readGeneric,
}
