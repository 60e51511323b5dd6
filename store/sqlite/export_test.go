package sqlite

import (
	"context"
	"time"
)

// These functions are inside because tests cannot see them from the front: there is one version of the tables, and every
// SQLite that can be linked is new enough.

// Waiting returns the options with another patience for other processes: a test cannot wait for seconds.
func (o Options) Waiting(d time.Duration) Options {
	o.lockWait = d
	return o
}

// Viewing returns the options with another limit for Views.
func (o Options) Viewing(d time.Duration) Options {
	o.ViewLimit = d
	return o
}

// Netting returns the options with another time between the looks beside a watch.
func (o Options) Netting(d time.Duration) Options {
	o.net = d
	return o
}

// LookAgain is inside because no test can have a disk fail twice at will.
var LookAgain = lookAgain

// Inherit takes over from a process that died at its commit, and reports whether one did.
func (s *Store) Inherit() bool { return s.holderDied() }

// Unwatched returns the options without a watch.
func (o Options) Unwatched() Options {
	o.unwatched = true
	return o
}

// On returns the options as on another machine.
func (o Options) On(machine string) Options {
	o.machine = machine
	return o
}

// SchemaDigest returns the digest that is noted for the tables, and the one that they have.
func SchemaDigest(ctx context.Context) (noted, real string, err error) {
	c, err := connect(ctx, "/digest", inMemory)
	if err != nil {
		return "", "", err
	}
	defer func() { err = firstError(err, c.close()) }()
	if err := c.script(ctx, schemaScript); err != nil {
		return "", "", err
	}
	real, err = digestOf(c)
	return schemaDigest, real, err
}

// CheckVersion tells whether a version of SQLite is new enough.
func CheckVersion(version string) error { return checkVersion(version) }
