package play

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// count returns the number of calls of this role for this item, including this one.
func (c call) count(a asked) (int, error) {
	if c.memory == "" {
		return max(1, c.try), nil
	}
	n, err := remember(c.memory, a)
	if err != nil {
		return 0, fmt.Errorf("count in the memory: %w", err)
	}
	return n, nil
}

// remember appends a line to the file of the item and role and returns its number. Each agent appends with one write
// and then finds its own line by a random mark. So concurrent agents need no lock, and a killed one leaves none.
func remember(dir string, a asked) (int, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	path := filepath.Join(dir, a.fileName())
	mark := rand.Text()
	if err := appendLine(path, a.role+" "+a.item+" "+mark); err != nil {
		return 0, err
	}
	all, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	at := bytes.Index(all, []byte(mark))
	if at < 0 {
		return 0, fmt.Errorf("%s was emptied while it was in use", path)
	}
	return bytes.Count(all[:at], []byte("\n")) + 1, nil
}

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// fileName returns a name that differs for different items on every file system, also where case does not matter.
func (a asked) fileName() string {
	sum := sha256.Sum256([]byte(a.item))
	return fmt.Sprintf("item-%s-%x.%s", a.slug(), sum[:4], a.role)
}

// slug returns the item as a readable part of a file name.
func (a asked) slug() string {
	const long = 40
	plain := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, a.item)
	return plain[:min(len(plain), long)]
}
