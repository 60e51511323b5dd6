package mcp

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"
)

// answerTime is how long a form may be filled in.
const answerTime = time.Hour

// What can be wrong with what comes back with a form.
var (
	errForged = errors.New("requestState is not one that this process gave")
	errLate   = errors.New("the form was open for too long")
	errOther  = errors.New("the form was about another question")
)

// A seal ties a filled-in form to the question that it was given out for. The host carries it, and everything that a
// host carries may be changed or sent twice. The key is that of the process: what another one sealed is not believed.
type seal struct{ key [32]byte }

func newSeal() *seal {
	s := new(seal)
	_, _ = rand.Read(s.key[:]) // it never fails
	return s
}

// close gives what the host is to bring back: when it expires, which question it is about, and a proof of both.
func (s *seal) close(q question, expires time.Time) string {
	state := binary.BigEndian.AppendUint64(nil, uint64(expires.UnixMilli()))
	state = append(state, q.digest()...)
	return base64.RawURLEncoding.EncodeToString(append(state, s.proof(state)...))
}

// open reports what is wrong with what the host brought back for a question.
func (s *seal) open(text string, q question, now time.Time) error {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != 8+2*sha256.Size {
		return errForged
	}
	state, proof := raw[:8+sha256.Size], raw[8+sha256.Size:]
	switch {
	case !hmac.Equal(proof, s.proof(state)):
		return errForged
	case now.UnixMilli() > int64(binary.BigEndian.Uint64(state)):
		return errLate
	case !bytes.Equal(state[8:], q.digest()):
		return errOther
	}
	return nil
}

func (s *seal) proof(state []byte) []byte {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write(state)
	return mac.Sum(nil)
}

// digest tells questions apart: those of two attempts, also if they ask the same.
func (q question) digest() []byte {
	sum := sha256.Sum256([]byte(q.taskID + "\n" + q.attemptID + "\n" + q.text))
	return sum[:]
}
