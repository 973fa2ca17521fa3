// Package safetensors reads and writes the safetensors format: an 8-byte
// little-endian header length, a JSON header that gives every tensor's dtype,
// shape and byte range, and the tensors' bytes, little-endian and row-major.
package safetensors
