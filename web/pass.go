package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"
	"sync"
	"time"
)

const (
	// codeTime is how long a one-time code can be exchanged.
	codeTime = time.Minute
	// maxCodes bounds the codes that wait; the oldest gives way.
	maxCodes = 16
	// maxFailures is how many wrong proofs are told so within a second. What comes beyond is told to wait.
	maxFailures = 10
)

// NewToken gives a token of 256 bits that nobody can guess.
func NewToken() string {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it does not fail; it ends the process first
	return hex.EncodeToString(secret[:])
}

// A pass tells who may come in: whoever shows the token, or exchanges a one-time code for it.
type pass struct {
	token [sha256.Size]byte // of its hash, so that comparing takes the same time whatever is shown
	plain string

	mu       sync.Mutex // guards what follows
	codes    []code     // the oldest first
	second   time.Time  // in which failures are counted
	failures int
}

// A code may be exchanged once.
type code struct {
	hash [sha256.Size]byte
	ends time.Time
}

func newPass(token string) *pass { return &pass{token: sha256.Sum256([]byte(token)), plain: token} }

// bears reports whether the value of an Authorization header shows the token.
func (p *pass) bears(header string) bool {
	scheme, shown, _ := strings.Cut(header, " ")
	hash := sha256.Sum256([]byte(shown))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(hash[:], p.token[:]) == 1
}

// issue gives a new code.
func (p *pass) issue(now time.Time) string {
	text := NewToken()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.codes) == maxCodes {
		p.codes = p.codes[1:]
	}
	p.codes = append(p.codes, code{sha256.Sum256([]byte(text)), now.Add(codeTime)})
	return text
}

// redeem exchanges a code for the token.
func (p *pass) redeem(text string, now time.Time) (token string, ok bool) {
	hash := sha256.Sum256([]byte(text))
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.codes[:0]
	for _, c := range p.codes {
		switch {
		case !now.Before(c.ends):
		case subtle.ConstantTimeCompare(hash[:], c.hash[:]) == 1:
			ok = true
		default:
			left = append(left, c)
		}
	}
	p.codes = left
	if !ok {
		return "", false
	}
	return p.plain, true
}

// failed counts a wrong proof and reports whether there were too many of late. A right one is never
// held up by the wrong ones of others.
func (p *pass) failed(now time.Time) (tooMany bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.second) >= time.Second {
		p.second, p.failures = now, 0
	}
	p.failures++
	return p.failures > maxFailures
}
