// Command barecommit opens the SQLite database that its argument names, inserts one row, syncs it, and closes the database: the
// least that a durable change of a process of its own can cost.
package main

import (
	"database/sql"
	"fmt"
	"os"
	"time"

	_ "modernc.org/sqlite"
)

func main() {
	if err := insert(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func insert(path string) error {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE IF NOT EXISTS events (at INTEGER NOT NULL, data TEXT NOT NULL)"); err != nil {
		return err
	}
	if _, err := db.Exec("INSERT INTO events VALUES (?, ?)", time.Now().UnixMicro(), "go vet ./..."); err != nil {
		return err
	}
	return db.Close()
}
