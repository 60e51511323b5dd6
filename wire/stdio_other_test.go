//go:build !unix

package wire_test

func echo() int { panic("only the tests of Unix start this program") }
