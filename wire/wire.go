// Package wire has the common parts of the protocols over standard input and output. It divides a stream into messages
// and checks that each is unambiguous JSON and valid JSON-RPC. It also takes over stdin and stdout, detects the end of
// the host, and writes the log without blocking.
//
// It knows no method and no params, answers no message, and ends no connection. It reports each message or its fault,
// and the package that uses it decides.
package wire
