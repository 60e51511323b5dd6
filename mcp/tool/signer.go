package tool

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

// These are the errors of verify.
var (
	errUnknownState  = errors.New("this process did not issue requestState")
	errFormExpired   = errors.New("the form was open for too long")
	errOtherQuestion = errors.New("the form was about another question")
)

// A Signer signs the state that ties a form to its question, because the host carries the state and may change it
// or send it twice. Each process has its own key and refuses the state of another.
type Signer struct{ Key [32]byte }

func newSigner() *Signer {
	s := new(Signer)
	_, _ = rand.Read(s.Key[:]) // it never fails
	return s
}

// sign returns the state of a form: its expiry and a digest of its question, both signed.
func (s *Signer) sign(q question, expires time.Time) string {
	state := binary.BigEndian.AppendUint64(nil, uint64(expires.UnixMilli()))
	state = append(state, q.digest()...)
	return base64.RawURLEncoding.EncodeToString(append(state, s.mac(state)...))
}

// verify returns an error if the state is not a valid one for the question.
func (s *Signer) verify(text string, q question, now time.Time) error {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != 8+2*sha256.Size {
		return errUnknownState
	}
	state, proof := raw[:8+sha256.Size], raw[8+sha256.Size:]
	switch {
	case !hmac.Equal(proof, s.mac(state)):
		return errUnknownState
	case now.UnixMilli() > int64(binary.BigEndian.Uint64(state)):
		return errFormExpired
	case !bytes.Equal(state[8:], q.digest()):
		return errOtherQuestion
	}
	return nil
}

func (s *Signer) mac(state []byte) []byte {
	mac := hmac.New(sha256.New, s.Key[:])
	mac.Write(state)
	return mac.Sum(nil)
}

// digest returns a hash of the task, the attempt and the text of a question.
func (q question) digest() []byte {
	sum := sha256.Sum256([]byte(q.taskID + "\n" + q.attemptID + "\n" + q.text))
	return sum[:]
}
