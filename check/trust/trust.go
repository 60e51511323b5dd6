// Package trust keeps, outside of the workspace, which text of .waybill.toml a person trusts, and how the files were that
// its checks protect. So a process can tell whether it may run these checks.
//
// It runs nothing, asks no question, and decides nothing about runs. It stops an agent that is wrong or lazy, and not a program
// that attacks with the rights of the person.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"waybill/check/config"
	"waybill/internal/atomicfile"
	"waybill/internal/ownfile"
)

// A Place is a workspace and the folder of its state.
type Place struct {
	Root     string
	StateDir string // must lie outside of Root
}

const (
	// Command is the command with which a person trusts a file.
	Command = "waybill check trust"

	keptName = "checks.json"    // the trusted text
	baseName = "protected.json" // see Base
)

// Path returns the path of the file with the checks.
func (p Place) Path() string { return filepath.Join(p.Root, config.Name) }

// A State says whether the checks of a file may run.
type State string

// The states.
const (
	None      State = "none"      // there is no file, and none was trusted
	Trusted   State = "trusted"   // a person trusts exactly this text
	Untrusted State = "untrusted" // no person trusts the file as it is; it may be gone
	Unusable  State = "unusable"  // the file has mistakes, or must not be read
)

// A Standing is how a person and the file of a workspace stand. Only checks of a trusted file may run.
type Standing struct {
	State    State
	Text     []byte           // of the file; nil if it is not there or must not be read
	Checks   []config.Check   // in the file, whether trusted or not
	Kept     *Kept            // the text that a person trusted last, or nil
	Mistakes []config.Mistake // in the file
	Why      string           // one sentence that says why no check runs; "" if they may, or if there are none
	Mend     string           // the command or the step that solves it
}

// A Kept is a text that a person trusted.
type Kept struct {
	Text string    `json:"text"`
	Hash string    `json:"sha256"`
	At   time.Time `json:"trusted_at"`

	Checks []config.Check `json:"-"`
}

// Hash returns the hash by which a text is named.
func Hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Look reads the file and the trusted text. It changes nothing.
func (p Place) Look() Standing {
	var s Standing
	var unread, unkept error
	s.Text, unread = read(p.Path())
	s.Kept, unkept = p.kept()
	_, nowhere := p.record(keptName)
	switch {
	case s.Text == nil && unread == nil && nowhere != nil:
		return Standing{State: None}
	case unkept != nil:
		return s.unusable(unkept)
	case unread != nil:
		return s.unusable(unread)
	}
	s.Checks, s.Mistakes = config.Parse(s.Text)
	switch {
	case s.Text == nil && s.Kept == nil:
		s.State = None
	case len(s.Mistakes) > 0:
		s.State, s.Mend = Unusable, "mend it; waybill check ls shows all mistakes"
		s.Why = fmt.Sprintf("%s:%v", config.Name, s.Mistakes[0])
		if more := len(s.Mistakes) - 1; more > 0 {
			s.Why += fmt.Sprintf(" (and %d more)", more)
		}
	case s.Kept == nil:
		s.State, s.Mend = Untrusted, Command
		s.Why = "no person has trusted " + config.Name + " yet, so none of its checks runs"
	case s.Text == nil:
		s.State, s.Mend = Untrusted, Command
		s.Why = config.Name + " is gone since a person trusted it, so none of its checks runs"
	case string(s.Text) != s.Kept.Text:
		s.State, s.Mend = Untrusted, Command
		s.Why = config.Name + " has changed since a person trusted it, so none of its checks runs"
	default:
		s.State = Trusted
	}
	return s
}

func (s Standing) unusable(err error) Standing {
	s.State, s.Why, s.Mend = Unusable, err.Error(), "waybill doctor"
	if refusal, ok := errors.AsType[*ownfile.Refusal](err); ok {
		s.Why, s.Mend = refusal.What, refusal.Mend
	}
	return s
}

// Find returns the check with a name that may run. Otherwise known reports whether a person trusted such a check before, or
// the file has one.
func (s Standing) Find(name string) (c config.Check, runs, known bool) {
	for _, c := range s.Checks {
		if c.Name == name {
			return c, s.State == Trusted, true
		}
	}
	if s.Kept != nil {
		for _, c := range s.Kept.Checks {
			known = known || c.Name == name
		}
	}
	return config.Check{}, false, known
}

// Required returns the names of the checks of a kind that a person trusted last. A file that was changed or removed since
// then requires them all the same.
func (s Standing) Required(when config.When) (names []string) {
	if s.Kept == nil {
		return nil
	}
	for _, c := range s.Kept.Checks {
		if c.When == when {
			names = append(names, c.Name)
		}
	}
	return names
}

// Patterns returns the patterns of all files that the checks of a trusted file protect.
func (s Standing) Patterns() (all []string) {
	if s.State != Trusted {
		return nil
	}
	for _, c := range s.Checks {
		all = append(all, c.Protect...)
	}
	return all
}

// Keep makes a text the trusted one. A nil text is that of a file that is not there.
func (p Place) Keep(text []byte) error {
	path, err := p.record(keptName)
	if err != nil {
		return err
	}
	if text == nil {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return write(path, Kept{Text: string(text), Hash: Hash(text), At: time.Now().UTC()})
}

// kept returns the trusted text, or nil if there is none.
func (p Place) kept() (*Kept, error) {
	path, err := p.record(keptName)
	if err != nil {
		return nil, err
	}
	k := &Kept{}
	if found, err := load(path, k); err != nil || !found {
		return nil, err
	}
	if k.Hash != Hash([]byte(k.Text)) {
		return nil, &ownfile.Refusal{What: path + " is damaged", Mend: remove(path) + ", then " + Command}
	}
	k.Checks, _ = config.Parse([]byte(k.Text)) // another version of this program may find mistakes in it
	return k, nil
}

// record returns the path of a file in the folder of the state. It refuses a folder in which agents write.
func (p Place) record(name string) (string, error) {
	if p.StateDir == "" {
		return "", &ownfile.Refusal{What: "there is no folder in which to keep what is trusted", Mend: "set HOME or XDG_STATE_HOME"}
	}
	dir := p.StateDir
	for rest := ""; ; rest = filepath.Join(filepath.Base(dir), rest) { // the folder may not be there yet
		if real, err := filepath.EvalSymlinks(dir); err == nil || dir == filepath.Dir(dir) {
			dir = filepath.Join(real, rest)
			break
		}
		dir = filepath.Dir(dir)
	}
	rel, err := filepath.Rel(p.Root, dir)
	if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", &ownfile.Refusal{
			What: "the state folder " + p.StateDir + " lies in the workspace, where agents can change what is trusted",
			Mend: "set XDG_STATE_HOME to a folder outside of it",
		}
	}
	return filepath.Join(p.StateDir, name), nil
}

func write(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return atomicfile.Replace(path, text)
}

// load reads a file of the state folder, and reports whether it is there.
func load(path string, v any) (found bool, err error) {
	f, err := ownfile.Open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(f)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return false, &ownfile.Refusal{What: fmt.Sprintf("%s cannot be read: %v", path, err), Mend: remove(path) + ", then " + Command}
	}
	return true, nil
}
