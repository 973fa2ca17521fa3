//go:build !linux

package ops

func mapPages(int) []byte { return nil }

func unmapPages([]byte) {}
