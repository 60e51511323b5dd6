package doctor

import "time"

// Server is what a database on a server tells of itself. It is there for a store that is kept in one, and of a server
// that was not reached nothing is known but that.
type Server struct {
	Reached         bool
	Version, Oldest int64 // as the server numbers them, and the oldest that will do
	Encoding        string
	Standby         bool
	Fsync           bool // whether the server waits for the disk
	WholePages      bool // whether its log has whole pages, so that one that was half written can be mended
	Commit          string
	Free, Most      int64 // connections that this user may have
	Each            int64 // that a process takes
	Pooled          bool  // what answers deals out its connections by transactions
	Insisted        *bool // what the URL says of that; nil for nothing
	Ahead           time.Duration
}

func serverChecks() []Check {
	return []Check{
		{Name: "server", Part: TheStore, Looks: "the version of the server that the database is on", judge: onServer(serverVersion)},
		{Name: "encoding", Part: TheStore, Looks: "that the database can hold every text", judge: onServer(encoding)},
		{Name: "primary", Part: TheStore, Looks: "that the server can be written, and is no standby", judge: onServer(primary)},
		{Name: "fsync", Part: TheStore, Looks: "that the server waits for its disk", judge: onServer(fsync)},
		{Name: "whole pages", Part: TheStore, Looks: "full_page_writes, without which a loss of power damages the database", judge: onServer(wholePages)},
		{Name: "commits", Part: TheStore, Looks: "synchronous_commit, that a commit waits for the log", judge: onServer(commits)},
		{Name: "connections", Part: TheStore, Looks: "how many more processes the server, the database and the user have room for", judge: onServer(connections)},
		{Name: "pooler", Part: TheStore, Looks: "whether connections are dealt out by transactions, and waybill knows", judge: onServer(pooler)},
		{Name: "rights", Part: TheStore, Looks: "that the user may read and change the tables, or make them", judge: own},
		{Name: "database", Part: TheStore, Looks: "that the database can be used, and every record of the workspace", judge: own},
	}
}

// onServer judges only what was asked.
func onServer(judge func(s *Server, c *chart)) func(f *Facts, c *chart) {
	return func(f *Facts, c *chart) {
		if f.Store.Server != nil && f.Store.Server.Reached {
			judge(f.Store.Server, c)
		}
	}
}

func serverVersion(s *Server, c *chart) {
	if s.Version < s.Oldest {
		c.fail("use a newer server", "it is PostgreSQL %d, and %d is the oldest that can be used", s.Version/10000, s.Oldest/10000)
		return
	}
	c.ok("PostgreSQL %d.%d", s.Version/10000, s.Version%10000)
}

func encoding(s *Server, c *chart) {
	if s.Encoding != "UTF8" {
		c.fail("make another database with createdb -E UTF8 -T template0", "the database is encoded in %s, and must be in UTF8", s.Encoding)
		return
	}
	c.ok("UTF8")
}

func primary(s *Server, c *chart) {
	if s.Standby {
		c.fail("name the primary server, or promote this one", "it is a standby and can only be read")
		return
	}
	c.ok("it can be written")
}

func fsync(s *Server, c *chart) {
	if !s.Fsync {
		c.fail("set fsync = on in postgresql.conf and reload the server",
			"fsync is off: what was answered can be lost, and a loss of power can destroy the database")
		return
	}
	c.ok("fsync is on")
}

func wholePages(s *Server, c *chart) {
	if !s.WholePages {
		c.warn("set full_page_writes = on in postgresql.conf and reload the server, unless its disk never writes half a page",
			"full_page_writes is off: a loss of power can damage the database")
		return
	}
	c.ok("full_page_writes is on")
}

func commits(s *Server, c *chart) {
	switch s.Commit {
	case "on", "remote_apply", "remote_write", "local":
		c.ok("synchronous_commit is %s", Known(s.Commit))
	case "off":
		c.warn("set synchronous_commit = on in postgresql.conf, or for the user or the database",
			"synchronous_commit is off: waybill asks for on with every change, and other programs do not")
	default:
		c.warn("set synchronous_commit = on", "synchronous_commit is %s, which waybill does not know", s.Commit)
	}
}

func connections(s *Server, c *chart) {
	const fix = "raise max_connections or the limit of the user or the database, end what is idle, or put a pooler before the server"
	switch {
	case s.Free < s.Each:
		c.warn(fix, "%d of %d connections are free, and one more process may take %d", max(s.Free, 0), s.Most, s.Each)
	case s.Free*10 < s.Most:
		c.warn(fix, "%d of %d connections are free, which is less than a tenth; a process may take %d", s.Free, s.Most, s.Each)
	default:
		c.ok("%d of %d connections are free; a process may take %d", s.Free, s.Most, s.Each)
	}
}

func pooler(s *Server, c *chart) {
	switch {
	case s.Insisted != nil && s.Pooled && !*s.Insisted:
		c.fail("remove pooler=no from the URL", "connections are dealt out by transactions, and the URL says that they are not")
	case s.Insisted != nil && *s.Insisted:
		c.ok("the URL says that connections are dealt out by transactions")
	case s.Pooled:
		c.ok("connections are dealt out by transactions: nothing is left on them")
	default:
		c.ok("connections are the server's own")
	}
}

// apart judges the clocks of this machine and of the server.
func apart(s *Server, c *chart) {
	const fix = "set the clock of this machine or of the server; leases and retries go by that of the server"
	switch {
	case s.Ahead > skew:
		c.warn(fix, "the clock of this machine is %v behind that of the server", s.Ahead.Round(time.Second))
	case s.Ahead < -skew:
		c.warn(fix, "the clock of this machine is %v ahead of that of the server", -s.Ahead.Round(time.Second))
	}
}
