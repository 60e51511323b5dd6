package postgres

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"waybill/store"
)

// A listening process identifies itself by the application_name of its connection: workspace, process, version and
// machine. The name disappears with the connection. Connections behind a pooler, or with a name from the URL, stay unknown.
// This information is best effort.
const (
	namePrefix = "waybill "
	// A server keeps 63 bytes of a name. A longer version ends in a hash.
	longestVersion = 24
	longestMachine = 15
)

// introduce returns the connection of the ear its name.
func (s *Store) introduce(config *pgconn.Config) {
	if s.namedByURL {
		return
	}
	config.RuntimeParams["application_name"] = fmt.Sprintf("%s%d/%d %s %s", namePrefix, s.number, os.Getpid(), named(s.o.Version), machine())
}

// named returns a version as a name of a connection has it.
func named(version string) string { return word(cmp.Or(version, "unknown"), longestVersion) }

// machine returns the name of this one.
func machine() string {
	name, err := os.Hostname()
	if err != nil {
		return "?"
	}
	return word(name, longestMachine)
}

// word returns text as one word of a name, with a question mark for whatever a name cannot have.
func word(text string, longest int) string {
	text = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	if len(text) > longest {
		sum := sha256.Sum256([]byte(text))
		text = text[:longest-7] + "~" + hex.EncodeToString(sum[:3])
	}
	return text
}

// peers returns the other processes that listen to the same workspace.
func (s *Store) peers(within context.Context, c *conn) (all []store.Peer, err error) {
	names, err := c.texts(within, fmt.Sprintf("SELECT application_name FROM pg_catalog.pg_stat_activity "+
		"WHERE datname = current_database() AND application_name LIKE '%s%d/%%' ORDER BY pid", namePrefix, s.number))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if peer, ok := s.peer(name); ok {
			all = append(all, peer)
		}
	}
	return all, nil
}

// peer parses the name of a connection. A connection of this process is not a peer.
func (s *Store) peer(name string) (peer store.Peer, ok bool) {
	var workspace int64
	n, _ := fmt.Sscanf(strings.TrimPrefix(name, namePrefix), "%d/%d %s %s", &workspace, &peer.PID, &peer.Version, &peer.Host)
	if n < 3 || workspace != s.number {
		return peer, false
	}
	if s.o.Version != "" && peer.Version == named(s.o.Version) {
		peer.Version = s.o.Version
	}
	if peer.Host == machine() {
		peer.Host = ""
	}
	return peer, peer.Host != "" || peer.PID != os.Getpid()
}
