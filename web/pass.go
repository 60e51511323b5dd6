package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// codeTime is how long a one-time code can be exchanged.
	codeTime = time.Minute
	// maxCodes bounds the codes that wait; the oldest gives way.
	maxCodes = 16
	// maxSessions bounds the browsers that are in; the one that has shown nothing for longest gives way.
	maxSessions = 64
	// maxFailures is how many wrong proofs are told so within a second. What comes beyond is told to wait.
	maxFailures = 10
)

// NewToken gives a token of 256 bits that nobody can guess.
func NewToken() string {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it does not fail; it ends the process first
	return hex.EncodeToString(secret[:])
}

// A hash is all that is kept of a secret. Comparing hashes takes the same time whatever is shown.
type hash [sha256.Size]byte

func hashOf(secret string) hash { return sha256.Sum256([]byte(secret)) }

func (h hash) is(other hash) bool { return subtle.ConstantTimeCompare(h[:], other[:]) == 1 }

// A pass tells who may come in: whoever shows the token, or that of a session, which a one-time code is exchanged
// for. What a browser has is thus never what http.json has, and ends with the process or before.
type pass struct {
	token hash

	mu       sync.Mutex // guards what follows
	codes    []code     // the oldest first
	sessions []hash     // the one that was shown last at the end
	second   time.Time  // in which failures are counted
	failures int
}

// A code may be exchanged once.
type code struct {
	hash hash
	ends time.Time
}

func newPass(token string) *pass { return &pass{token: hashOf(token)} }

// bears reports whether the value of an Authorization header shows the token, or that of a session.
func (p *pass) bears(header string) bool {
	scheme, shown, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	h := hashOf(shown)
	return p.token.is(h) || p.continues(h)
}

// continues reports whether a session has that token, and notes that it was shown.
func (p *pass) continues(shown hash) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.sessions, shown.is)
	if i < 0 {
		return false
	}
	p.sessions = append(slices.Delete(p.sessions, i, i+1), shown)
	return true
}

// issue gives a new code.
func (p *pass) issue(now time.Time) string {
	text := NewToken()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.codes) == maxCodes {
		p.codes = p.codes[1:]
	}
	p.codes = append(p.codes, code{hashOf(text), now.Add(codeTime)})
	return text
}

// redeem exchanges a code for the token of a new session.
func (p *pass) redeem(text string, now time.Time) (token string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.spend(hashOf(text), now) {
		return "", false
	}
	token = NewToken()
	if len(p.sessions) == maxSessions {
		p.sessions = slices.Delete(p.sessions, 0, 1)
	}
	p.sessions = append(p.sessions, hashOf(token))
	return token, true
}

// spend takes a code away, and those that are too old, and reports whether it was there; the caller holds mu.
func (p *pass) spend(shown hash, now time.Time) (ok bool) {
	left := p.codes[:0]
	for _, c := range p.codes {
		switch {
		case !now.Before(c.ends):
		case shown.is(c.hash):
			ok = true
		default:
			left = append(left, c)
		}
	}
	p.codes = left
	return ok
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
