package sqlite

import (
	"context"
	"time"
)

// What follows is inside because it cannot be seen from the front: there is one version of the tables
// so far, and every SQLite that can be linked is new enough.

// Waiting gives the options with another patience for other processes: a test cannot wait for seconds.
func (o Options) Waiting(d time.Duration) Options {
	o.lockWait = d
	return o
}

// Viewing gives the options with another limit for Views.
func (o Options) Viewing(d time.Duration) Options {
	o.ViewLimit = d
	return o
}

// Netting gives the options with another time between the looks beside a watch.
func (o Options) Netting(d time.Duration) Options {
	o.net = d
	return o
}

// Inherit takes over from a process that died at its commit, and reports whether one did.
func (s *Store) Inherit() bool { return s.inherit() }

// Unwatched gives the options without a watch.
func (o Options) Unwatched() Options {
	o.unwatched = true
	return o
}

// On gives the options as on another machine.
func (o Options) On(machine string) Options {
	o.machine = machine
	return o
}

// A Step is a migration of a test.
type Step struct {
	Version int
	Script  string
}

// OpenSteps is Open with further migrations behind those of the package.
func OpenSteps(ctx context.Context, o Options, further ...Step) (*Store, error) {
	steps, err := migrations()
	if err != nil {
		return nil, err
	}
	for _, step := range further {
		steps = append(steps, migration{version: step.Version, script: step.Script})
	}
	for i := range steps {
		if steps[i].digest, err = digestAfter(ctx, steps[:i+1]); err != nil {
			return nil, err
		}
	}
	return open(ctx, o, steps)
}

// LatestDigest gives the digest that is noted for the newest tables, and the one that they have.
func LatestDigest(ctx context.Context) (noted, real string, err error) {
	steps, err := migrations()
	if err != nil {
		return "", "", err
	}
	real, err = digestAfter(ctx, steps)
	return steps[len(steps)-1].digest, real, err
}

func digestAfter(ctx context.Context, steps []migration) (digest string, err error) {
	c, err := connect(ctx, "/digest", "mode=memory")
	if err != nil {
		return "", err
	}
	defer func() { err = firstError(err, c.close()) }()
	for _, step := range steps {
		if err := c.script(ctx, step.script); err != nil {
			return "", err
		}
	}
	return digestOf(c)
}

// CheckVersion tells whether a version of SQLite is new enough.
func CheckVersion(version string) error { return checkVersion(version) }
