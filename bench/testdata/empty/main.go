// Command empty does nothing: it is the least time that a Go program takes.
package main

func main() {}
