package file

import (
	"io/fs"
	"os"
	"strings"
	"time"
)

// A candidate is a path that matched a pattern and may be a plan.
type candidate struct {
	name string
	link bool
	info fs.FileInfo // of the target; nil when it cannot be reached
}

// candidate looks at the file or link with that name. An error means that its state is unknown.
func (r *Root) candidate(name string) (candidate, error) {
	c := candidate{name: name}
	info, err := r.lstat(name)
	if err != nil {
		return c, err
	}
	c.info, c.link = info, info.Mode()&fs.ModeSymlink != 0
	if c.link {
		if c.info, err = r.stat(name); err != nil {
			c.info = nil
		}
	}
	return c, nil
}

// compare orders files before links, and then by name.
func (c candidate) compare(d candidate) int {
	switch {
	case c.link == d.link:
		return strings.Compare(c.name, d.name)
	case c.link:
		return 1
	}
	return -1
}

// looks is a cheap key: two names of one file have equal looks, and different files seldom do.
type looks struct {
	size    int64
	changed time.Time
}

func (c candidate) looks() (l looks) {
	if c.info != nil {
		l = looks{c.info.Size(), c.info.ModTime()}
	}
	return l
}

func (c candidate) same(d candidate) bool {
	if c.info == nil || d.info == nil {
		return c.name == d.name
	}
	return os.SameFile(c.info, d.info)
}
