package ledger

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
)

// This file holds what an agent is known to know. A cursor says it by itself: it has a hash of each
// fact of the packet that it came with. So nothing has to be kept for it, it is never too old, and a
// packet that never arrived does no harm, since the next call names the cursor before it.

// A knowledge is what a cursor says: the run and the kind of prompt that it is of, and the facts.
type knowledge struct {
	run, prompt uint32
	facts       []knownFact // in ascending order of their codes
}

// knownFact is a fact as a cursor has it: the code of its key and the beginning of a hash over its
// value. Values are what agents wrote, so it is as long as it takes that nobody finds two with one hash.
type knownFact struct {
	code byte
	hash factHash
}

type factHash [16]byte

// factBytes is how long a fact is in a cursor.
const factBytes = 1 + len(factHash{})

// factCodes are the codes of the keys in cursors that hosts hold: they never change, and none is used again.
var factCodes = map[string]byte{
	factPlan: 1, factItemID: 2, factSourcePath: 3, factTotals: 4, factActive: 5,
	factPlanVersion: 6, factSummary: 7, factAssessment: 8, factIssues: 9, factBlockers: 10,
	factFixes: 11, factStalled: 12, factReviewLoop: 13, factRejections: 14, factReplanHint: 15,
	factAttempts: 16, factPlanSummary: 17, factPlanItems: 18, factFilesChanged: 19,
	factReviewAttempts: 20, factGitRange: 21,
}

// factKeys has the keys by their codes.
var factKeys = func() map[byte]string {
	keys := make(map[byte]string, len(factCodes))
	for key, code := range factCodes {
		keys[code] = key
	}
	return keys
}()

const cursorPrefix = "p3_"

// knowsNothing gives the knowledge of nothing, for a run and a kind of prompt.
func knowsNothing(in *CompileInput) knowledge {
	return knowledge{run: shortHash(in.RunID), prompt: prefixes[in.Role].short}
}

func knownOf(f Fact) knownFact {
	sum := sha256.Sum256([]byte(f.Value))
	return knownFact{factCodes[f.Key], factHash(sum[:])}
}

// knowledgeOf gives what an agent knows that was given all of these facts.
func knowledgeOf(in *CompileInput, facts []Fact) knowledge {
	k := knowsNothing(in)
	k.facts = make([]knownFact, 0, len(facts))
	for _, f := range facts {
		k.facts = append(k.facts, knownOf(f))
	}
	slices.SortFunc(k.facts, func(a, b knownFact) int { return int(a.code) - int(b.code) })
	return k
}

func shortHash(s string) uint32 {
	sum := sha256.Sum256([]byte(s))
	return binary.BigEndian.Uint32(sum[:])
}

// cursor writes down the knowledge, with a checksum at the end.
func (k *knowledge) cursor() string {
	buf := make([]byte, 0, 12+factBytes*len(k.facts))
	buf = binary.BigEndian.AppendUint32(buf, k.run)
	buf = binary.BigEndian.AppendUint32(buf, k.prompt)
	for _, f := range k.facts {
		buf = append(append(buf, f.code), f.hash[:]...)
	}
	buf = binary.BigEndian.AppendUint32(buf, shortHash(string(buf)))
	return cursorPrefix + base64.RawURLEncoding.EncodeToString(buf)
}

// readCursor reads what cursor wrote; ok is false for anything else.
func readCursor(text string) (k knowledge, ok bool) {
	text, ok = strings.CutPrefix(text, cursorPrefix)
	if !ok || len(text) > 2*(12+factBytes*256) || strings.ContainsAny(text, "\r\n") { // which the decoder would skip
		return knowledge{}, false
	}
	buf, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(buf) < 12 || (len(buf)-12)%factBytes != 0 {
		return knowledge{}, false
	}
	body, sum := buf[:len(buf)-4], buf[len(buf)-4:]
	if shortHash(string(body)) != binary.BigEndian.Uint32(sum) {
		return knowledge{}, false
	}
	k = knowledge{run: binary.BigEndian.Uint32(body), prompt: binary.BigEndian.Uint32(body[4:])}
	for rest := body[8:]; len(rest) > 0; rest = rest[factBytes:] {
		f := knownFact{rest[0], factHash(rest[1:])}
		if n := len(k.facts); factKeys[f.code] == "" || n > 0 && k.facts[n-1].code >= f.code {
			return knowledge{}, false
		}
		k.facts = append(k.facts, f)
	}
	return k, true
}

// find gives the hash of a fact.
func (k *knowledge) find(code byte) (hash factHash, ok bool) {
	i, ok := slices.BinarySearchFunc(k.facts, code, func(f knownFact, code byte) int { return int(f.code) - int(code) })
	if !ok {
		return hash, false
	}
	return k.facts[i].hash, true
}
