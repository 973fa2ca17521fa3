//go:build unix && !darwin

package main

const maxrssUnit = 1024 // bytes
