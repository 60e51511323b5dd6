package sqlite

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"

	"waybill/store"
	"waybill/store/rows"
)

// applicationID marks a database as waybill's ("wayb").
const applicationID = 0x77617962

//go:embed migrations/*.sql
var migrationFiles embed.FS

// A migration brings the tables from one version to the next. There is no way back.
type migration struct {
	version int
	script  string
	digest  string // of the tables as they are afterwards, see digestOf
}

// digests has, for each version, what digestOf gives. A database whose tables differ was made or
// changed by somebody else, and a trigger in it could change what we write.
var digests = map[int]string{
	1: "35881f24d4e5384558e64c835995ef4df8e03aca21b877ca5c02b6c88b891a7e",
	2: "2c2df78f6643461723959870f131827a5d00425ad49956b6f968e7fabe31527a",
	3: "26de93ec491e905a011ac3c5509aca220c413cbd8844899f015300207a76a192",
	4: "d15d70d4a6a1ae2664fa69ab198662f312c261d17148da6f683af3ed99e5bed4",
	5: "e5cd8fbe3d8e83abd4b05976f4738e7b740211fd03174bb0e64242289f6be678",
	6: "49a6bd4cd55967ce2e8865dfcabbea3ab93d08d01161cc7d56eda7c2f81f4e58",
	7: "363a45c3ca941a254ff09c47dcde386583e60da00df60395e03a69a30b85416e",
}

// migrations gives all migrations in their order.
func migrations() ([]migration, error) {
	entries, err := migrationFiles.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, entry := range entries {
		script, err := migrationFiles.ReadFile(path.Join("migrations", entry.Name()))
		if err != nil {
			return nil, err
		}
		version, err := strconv.Atoi(strings.TrimSuffix(entry.Name(), ".sql"))
		if err != nil {
			return nil, err
		}
		all = append(all, migration{version: version, script: string(script), digest: digests[version]})
	}
	return all, nil
}

// digestOf gives the hash of the text of all tables and indexes.
func digestOf(c *conn) (string, error) {
	h := sha256.New()
	err := c.Query(func(r *rows.Row) error {
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

// labels is what a database says about itself.
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

// migrate applies the migrations behind the version that the database has, all in one transaction,
// so that a crash leaves the version that was there or the newest, and nothing between.
func migrate(ctx context.Context, c *conn, steps []migration, from labels) (err error) {
	if _, err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = c.Exec("ROLLBACK")
		}
	}()
	latest := steps[len(steps)-1]
	for _, step := range steps {
		if int64(step.version) <= from.version {
			continue
		}
		if err := c.script(ctx, step.script); err != nil {
			return fmt.Errorf("bring the tables to version %d: %w", step.version, err)
		}
	}
	if from.empty() {
		if err := rows.Found(c); err != nil {
			return err
		}
	}
	labels := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, latest.version)
	if err := c.script(ctx, labels); err != nil {
		return err
	}
	if err := checkTables(c, latest); err != nil {
		return err
	}
	_, err = c.Exec("COMMIT")
	return err
}

// checkTables compares the tables with what they must be.
func checkTables(c *conn, want migration) error {
	got, err := digestOf(c)
	if err != nil {
		return err
	}
	if got != want.digest {
		return fault(store.Corrupt, nil, "the tables of the store are not those of version %d: somebody else changed them (digest %s)",
			want.version, got)
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
