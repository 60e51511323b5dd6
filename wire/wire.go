// Package wire is what every front door needs that talks to a host over standard input and output. It
// tells one message from the next in a stream of bytes, and checks that each is JSON and JSON-RPC which
// every reader understands in the same way. It keeps the process in order that does this: it guards the
// real stdout, notices that the host is gone, and never waits for someone to read the log.
//
// It refuses to know what any method or any parameter means, to answer a message, and to end a
// conversation: it says what came in and what is wrong with it, and the door decides.
package wire
