// Convert turns a trained checkpoint into one .msz file that package runtime
// and the command run execute.
//
//	convert -o m.msz checkpoint_best.pt       convert a checkpoint
//	convert inspect FILE                      say what a checkpoint or .msz file holds
//	convert verify m.msz --reference r.safetensors
//	                                          compare a model with recorded hidden states and logits
//	convert synth -o m.msz --preset mt        write a model of a given size with random weights
//
// Standard output carries the result, standard error problems and progress.
// The exit status is 0 when all was done, 1 when it failed, 2 for a command
// line that cannot be meant, 130 after an interrupt.
package main
