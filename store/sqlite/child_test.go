package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"waybill/store"
	"waybill/store/sqlite"
)

// play is what the test binary does as a child. It answers on stdout.
func play(part string) int {
	// The faults that strace injects are counted per thread.
	runtime.LockOSThread()
	parts := map[string]func(*sqlite.Store) error{
		"append": appendForever,
		"some":   appendSome,
		"steps":  followSteps,
		"hold":   holdUpdate,
		"race":   race,
		"read":   readThenAppend,
	}
	o := sqlite.Options{Path: os.Getenv("STORE"), Brief: os.Getenv("BRIEF") != ""}
	if part == "restore" { // puts the copy in the place of the store
		if _, err := sqlite.RestoreCopy(context.Background(), o, os.Getenv("COPY")); err != nil {
			say(describe(err))
			return 1
		}
		say("restored")
		return 0
	}
	if os.Getenv("UMASK") == "0" {
		clearUmask()
	}
	s, err := sqlite.Open(context.Background(), o)
	if err != nil {
		say(describe(err))
		return 1
	}
	if act, ok := parts[part]; ok {
		if err := act(s); err != nil {
			say(describe(err))
			return 1
		}
	}
	if err := s.Close(); err != nil {
		say(describe(err))
		return 1
	}
	return 0
}

// appendForever appends one record an Update and says each number when it is durable.
func appendForever(s *sqlite.Store) error {
	for {
		if err := appendAndSay(s); err != nil {
			return err
		}
	}
}

// appendSome does the same as often as COUNT says.
func appendSome(s *sqlite.Store) error {
	n, err := strconv.Atoi(os.Getenv("COUNT"))
	for range n {
		err = errors.Join(err, appendAndSay(s))
	}
	return err
}

// readThenAppend says the number of the newest record, and appends one after a line.
func readThenAppend(s *sqlite.Store) error {
	var last int64
	if err := s.View(context.Background(), func(tx store.Tx) (err error) {
		_, last, err = tx.Bounds()
		return err
	}); err != nil {
		return err
	}
	say(last)
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	_, err := appended(s)
	return err
}

// race waits for a line, then appends as often as COUNT says, without a pause, and says for the most commits of others
// that it has waited between two of its own, or before the first.
func race(s *sqlite.Store) error {
	n, err := strconv.Atoi(os.Getenv("COUNT"))
	say("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	var longest, last int64
	err = errors.Join(err, s.View(context.Background(), func(tx store.Tx) (err error) {
		_, last, err = tx.Bounds()
		return err
	}))
	for range n {
		own, failed := appended(s)
		err = errors.Join(err, failed)
		longest = max(longest, own-last-1)
		last = own
	}
	say(longest)
	return err
}

func appendAndSay(s *sqlite.Store) error {
	seq, err := appended(s)
	if err == nil {
		say(seq)
	}
	return err
}

// appended appends a record and returns its number.
func appended(s *sqlite.Store) (seq int64, err error) {
	err = s.Update(context.Background(), func(tx store.Tx) error {
		if err := appendOne(tx); err != nil {
			return err
		}
		var err error
		_, seq, err = tx.Bounds()
		return err
	})
	return seq, err
}

// followSteps answers each line with one, until there is none.
func followSteps(s *sqlite.Store) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch lines.Text() {
		case "update":
			if err := appendAndSay(s); err != nil {
				say(describe(err))
			}
		case "newest":
			var seq int64
			err := s.View(context.Background(), func(tx store.Tx) (err error) {
				_, seq, err = tx.Bounds()
				return err
			})
			if err != nil {
				return err
			}
			say(seq)
		case "read only?":
			say(s.Status(context.Background()).ReadOnly)
		case "degraded":
			say(strings.Join(s.Status(context.Background()).Degraded, "; "))
		case "examine":
			say(examined())
		}
	}
	return lines.Err()
}

// examined returns what an examination from outside finds wrong with the store, on one line.
func examined() string {
	said := "examined"
	for _, f := range sqlite.Examine(context.Background(), sqlite.Options{Path: os.Getenv("STORE")}) {
		if f.Level == sqlite.LevelFail {
			said += fmt.Sprintf(" %+v", f)
		}
	}
	return strings.ReplaceAll(said, "\n", " ")
}

// holdUpdate stays inside an Update until a line comes.
func holdUpdate(s *sqlite.Store) error {
	return s.Update(context.Background(), func(tx store.Tx) error {
		say("holding")
		_, err := bufio.NewReader(os.Stdin).ReadString('\n')
		return errors.Join(err, appendOne(tx))
	})
}
