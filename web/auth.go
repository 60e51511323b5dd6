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
	// codeTime is how long a one-time code is valid.
	codeTime = time.Minute
	// maxCodes limits the unused codes. The oldest is dropped first.
	maxCodes = 16
	// maxSessions limits the sessions of browsers. The one that was idle longest is dropped first.
	maxSessions = 64
	// maxFailures is how many wrong tokens and codes within a second are answered UNAUTHORIZED. Further ones are
	// answered OVERLOADED.
	maxFailures = 10
)

// NewToken returns a random token of 256 bits.
func NewToken() string {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it never fails
	return hex.EncodeToString(secret[:])
}

// A secretHash is the stored form of a secret. Its comparison takes constant time.
type secretHash [sha256.Size]byte

func hashSecret(secret string) secretHash { return sha256.Sum256([]byte(secret)) }

func (h secretHash) equals(other secretHash) bool {
	return subtle.ConstantTimeCompare(h[:], other[:]) == 1
}

// An auth accepts the token of http.json and the tokens of sessions, which browsers get for one-time codes. A session
// ends with the process at the latest.
type auth struct {
	token secretHash

	mu       sync.Mutex   // guards the fields below
	codes    []loginCode  // the oldest first
	sessions []secretHash // the one used last at the end
	second   time.Time    // start of the second in which failures are counted
	failures int
}

// A loginCode can be exchanged once for a session.
type loginCode struct {
	hash    secretHash
	expires time.Time
}

func newAuth(token string) *auth { return &auth{token: hashSecret(token)} }

// accepts reports whether an Authorization header has the token or that of a session.
func (a *auth) accepts(header string) bool {
	scheme, shown, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	h := hashSecret(shown)
	return a.token.equals(h) || a.acceptsSession(h)
}

// acceptsSession reports whether a session has this token, and records its use.
func (a *auth) acceptsSession(shown secretHash) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.sessions, shown.equals)
	if i < 0 {
		return false
	}
	a.sessions = append(slices.Delete(a.sessions, i, i+1), shown)
	return true
}

// issue returns a new code.
func (a *auth) issue(now time.Time) string {
	text := NewToken()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.codes) == maxCodes {
		a.codes = a.codes[1:]
	}
	a.codes = append(a.codes, loginCode{hashSecret(text), now.Add(codeTime)})
	return text
}

// redeem exchanges a code for the token of a new session.
func (a *auth) redeem(text string, now time.Time) (token string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.takeCode(hashSecret(text), now) {
		return "", false
	}
	token = NewToken()
	if len(a.sessions) == maxSessions {
		a.sessions = slices.Delete(a.sessions, 0, 1)
	}
	a.sessions = append(a.sessions, hashSecret(token))
	return token, true
}

// takeCode removes a code and all expired ones, and reports whether the code was valid. The caller holds mu.
func (a *auth) takeCode(shown secretHash, now time.Time) (ok bool) {
	left := a.codes[:0]
	for _, c := range a.codes {
		switch {
		case !now.Before(c.expires):
		case shown.equals(c.hash):
			ok = true
		default:
			left = append(left, c)
		}
	}
	a.codes = left
	return ok
}

// tooManyFailures counts a wrong token or code and reports whether there were too many within a second. Failures never
// delay a right token.
func (a *auth) tooManyFailures(now time.Time) (tooMany bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.second) >= time.Second {
		a.second, a.failures = now, 0
	}
	a.failures++
	return a.failures > maxFailures
}
