package mcp

import "context"

// Serve is one conversation with one host, over a pair of streams with one message a line. It ends with the input,
// with ctx, and when the host reads no answers any more. By then every request that was read has been answered, if
// the host took the answers.
//
// Hosts of both eras of the protocol are served, and those that speak both on one connection, message by message.
// No message costs the session: what cannot be read is refused, or dropped if it has no answer, and the next line is
// read.
//
// Tools that change something take effect in the order of their lines; everything else runs beside them. At most
// 1,024 requests are in hand: while something moves, the reader waits for room; if nothing moves for 3 s, further
// requests are answered OVERLOADED until something does.
//
// On the way out nothing more is read, what is in hand is carried out and answered, and subscriptions are ended. What
// has not moved for 1 s is hurried, then answered with SHUTTING_DOWN, and left behind within 1.5 s.
//
// The exit code is that for the process. An error means that the options are wrong, and nothing was done.
func Serve(ctx context.Context, o Options) (exitCode int, err error) {
	if err := o.fill(); err != nil {
		return 2, err
	}
	return newDoor(newServer(o)).serve(ctx), nil
}
