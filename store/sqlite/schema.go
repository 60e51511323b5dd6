package sqlite

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"

	"waybill/store"
	"waybill/store/sqlstore"
)

// applicationID marks a database as waybill's ("wayb").
const applicationID = 0x77617962

// schemaScript makes the tables in an empty database.
//
//go:embed schema.sql
var schemaScript string

const (
	// schemaVersion is the version of the tables that schemaScript makes.
	schemaVersion = 1
	// schemaDigest is the digest of these tables. Another program created or changed a database whose tables differ,
	// and a trigger in it could change what waybill writes.
	schemaDigest = "11cd3a79e42572263c7224f7e871cd26bc903a07c197bfcf040f1b4c77373929"
)

// digestOf returns the hash of the text of all tables and indexes.
func digestOf(c *conn) (string, error) {
	h := sha256.New()
	err := c.Query(func(r *sqlstore.Row) error {
		_, err := fmt.Fprintf(h, "%s %s\n%s;\n", r.Text(), r.Text(), r.Text())
		return firstError(err, r.Err())
	}, "SELECT type, name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*' ORDER BY type, name")
	return hex.EncodeToString(h.Sum(nil)), err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// labels are the values by which a database identifies itself.
type labels struct {
	application, version, tables int64
}

func readLabels(c *conn) (l labels, err error) {
	for _, label := range []struct {
		text string
		n    *int64
	}{
		{"PRAGMA application_id", &l.application},
		{"PRAGMA user_version", &l.version},
		{"SELECT count(*) FROM sqlite_schema", &l.tables},
	} {
		if *label.n, err = c.number(label.text); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (l labels) empty() bool { return l.application == 0 && l.version == 0 && l.tables == 0 }

// createTables makes the tables in an empty database, in one transaction: a crash leaves all of them or none.
func createTables(ctx context.Context, c *conn) (err error) {
	if _, err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = c.Exec("ROLLBACK")
		}
	}()
	if err := c.script(ctx, schemaScript); err != nil {
		return fmt.Errorf("make the tables: %w", err)
	}
	if err := sqlstore.Found(c); err != nil {
		return err
	}
	labels := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, schemaVersion)
	if err := c.script(ctx, labels); err != nil {
		return err
	}
	if err := checkTables(c); err != nil {
		return err
	}
	_, err = c.Exec("COMMIT")
	return err
}

// checkTables compares the tables and their version with those of schemaScript.
func checkTables(c *conn) error {
	got, err := digestOf(c)
	if err != nil {
		return err
	}
	version, err := c.number("PRAGMA user_version")
	if err != nil {
		return err
	}
	if got != schemaDigest || version != schemaVersion {
		return fault(store.Corrupt, nil, "the tables of the store are not those of version %d: another program changed them, or a waybill from before the first release made them (digest %s)",
			schemaVersion, got)
	}
	return nil
}

// oldestSQLite is the first version in which two processes that write and checkpoint at the same
// moment cannot damage the write-ahead log.
var oldestSQLite = [3]int{3, 51, 3}

// checkVersion refuses an SQLite that is too old.
func checkVersion(version string) error {
	var have [3]int
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2]); n != 3 {
		return fault(store.Unsafe, nil, "cannot read the version of SQLite, %q", version)
	}
	for i, want := range oldestSQLite {
		if have[i] > want {
			return nil
		}
		if have[i] < want {
			return fault(store.Unsafe, nil, "SQLite %s can lose committed changes: build waybill with 3.51.3 or newer", version)
		}
	}
	return nil
}
