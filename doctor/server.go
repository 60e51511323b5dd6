package doctor

import "time"

func serverChecks() []Check {
	return []Check{
		{Name: "server", Part: TheStore, Looks: "the version of the database server", judge: onServer(serverVersion)},
		{Name: "encoding", Part: TheStore, Looks: "that the database can hold every text", judge: onServer(encoding)},
		{Name: "primary", Part: TheStore, Looks: "that the server accepts writes and is no standby", judge: onServer(primary)},
		{Name: "fsync", Part: TheStore, Looks: "that the server waits for its disk", judge: onServer(fsync)},
		{Name: "whole pages", Part: TheStore, Looks: "full_page_writes, which protects the database against power loss", judge: onServer(wholePages)},
		{Name: "commits", Part: TheStore, Looks: "synchronous_commit: commits wait for the log", judge: onServer(commits)},
		{Name: "connections", Part: TheStore, Looks: "how many more connections the server, the database and the user allow", judge: onServer(connections)},
		{Name: "pooler", Part: TheStore, Looks: "whether a transaction pooler is in use, and waybill knows it", judge: onServer(pooler)},
		{Name: "rights", Part: TheStore, Looks: "that the user may read and change the tables, or create them", judge: own},
		{Name: "database", Part: TheStore, Looks: "that the database is usable, and every record of the workspace", judge: own},
	}
}

// onServer judges only facts that were asked for.
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
			"fsync is off: a power loss can lose acknowledged changes and destroy the database")
		return
	}
	c.ok("fsync is on")
}

func wholePages(s *Server, c *chart) {
	if !s.WholePages {
		c.warn("set full_page_writes = on in postgresql.conf and reload the server, unless its disk writes whole pages atomically",
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
			"synchronous_commit is off: waybill turns it on for its own changes, other programs may lose theirs")
	default:
		c.warn("set synchronous_commit = on", "synchronous_commit is %s, which waybill does not know", s.Commit)
	}
}

func connections(s *Server, c *chart) {
	const fix = "raise max_connections or the limit of the user or the database, close idle connections, or use a pooler"
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
		c.fail("remove pooler=no from the URL", "a transaction pooler is in use, and the URL denies it")
	case s.Insisted != nil && *s.Insisted:
		c.ok("the URL says that a transaction pooler is in use")
	case s.Pooled:
		c.ok("a transaction pooler is in use, and waybill found it")
	default:
		c.ok("connections go to the server without a transaction pooler")
	}
}

// apart compares the clocks of this machine and the server.
func apart(s *Server, c *chart) {
	const fix = "set the clock of this machine or of the server; leases and retries use the server's clock"
	switch {
	case s.Ahead > skew:
		c.warn(fix, "the clock of this machine is %v behind the server's", s.Ahead.Round(time.Second))
	case s.Ahead < -skew:
		c.warn(fix, "the clock of this machine is %v ahead of the server's", -s.Ahead.Round(time.Second))
	}
}
