package mcp

import "context"

// Serve serves one host over a pair of streams with one message a line. It returns when the input or ctx ends, or when
// the host stops reading. Every request that was read is then answered, if the host has read the answers.
//
// Serve supports both eras of the protocol, also mixed on one connection. A bad message never ends the session: it is
// refused, or dropped if it has no answer, and the next line is read.
//
// Tools that change something take effect in the order of their lines; other requests run concurrently. At most 1,024
// requests are in flight. While there is progress the reader waits for room; after 3 s without it, further requests are
// answered OVERLOADED.
//
// During shutdown nothing more is read, accepted requests end and are answered, and subscriptions end. Requests without
// progress for 1 s are hurried, then answered with SHUTTING_DOWN, and abandoned within 1.5 s.
//
// The exit code is that of the process. An error means that the options are wrong; Serve has then done nothing.
func Serve(ctx context.Context, o Options) (exitCode int, err error) {
	if err := o.fill(); err != nil {
		return 2, err
	}
	return newConn(newServer(o)).serve(ctx), nil
}
