package prompt

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"waybill/internal/lazy"
	"waybill/ledger"
)

// This file encodes which facts an agent knows. A cursor contains a hash of each fact that the agent received. The
// server therefore stores nothing, and a cursor never expires. If a packet is lost, the next call passes the previous
// cursor.

// knowledge is the content of a cursor: the run, the kind of prompt, and the facts.
type knowledge struct {
	run, prompt uint32
	facts       []knownFact // in ascending order of their codes
}

// knownFact is a fact in a cursor: the code of its key and a truncated hash of its value. Agents write the values, so
// the hash must be long enough that they cannot construct a collision.
type knownFact struct {
	code byte
	hash factHash
}

type factHash [16]byte

// factBytes is the encoded length of one fact in a cursor.
const factBytes = 1 + len(factHash{})

// factCodes are the codes of the keys. Hosts store cursors, so a code never changes and is never reused.
var factCodes = lazy.Value[map[string]byte]{Of: func() map[string]byte {
	return map[string]byte{
		ledger.FactPlan: 1, ledger.FactItemID: 2, ledger.FactSourcePath: 3, ledger.FactTotals: 4, ledger.FactActive: 5,
		ledger.FactPlanVersion: 6, ledger.FactSummary: 7, ledger.FactAssessment: 8, ledger.FactIssues: 9, ledger.FactBlockers: 10,
		ledger.FactFixes: 11, ledger.FactStalled: 12, ledger.FactReviewLoop: 13, ledger.FactRejections: 14, ledger.FactReplanHint: 15,
		ledger.FactAttempts: 16, ledger.FactPlanSummary: 17, ledger.FactPlanItems: 18, ledger.FactFilesChanged: 19,
		ledger.FactReviewAttempts: 20, ledger.FactGitRange: 21,
	}
}}

// factKeys maps codes to keys.
var factKeys = lazy.Value[map[byte]string]{Of: func() map[byte]string {
	keys := make(map[byte]string, len(factCodes.Get()))
	for key, code := range factCodes.Get() {
		keys[code] = key
	}
	return keys
}}

const cursorPrefix = "p3_"

// knowsNothing returns the knowledge of an agent without facts, for a run and a kind of prompt.
func knowsNothing(runID string, fixed *prefix) knowledge {
	return knowledge{run: shortHash(runID), prompt: fixed.short}
}

func knownOf(f ledger.Fact) knownFact {
	sum := sha256.Sum256([]byte(f.Value))
	return knownFact{factCodes.Get()[f.Key], factHash(sum[:])}
}

// with returns the knowledge of an agent that received exactly these facts.
func (k knowledge) with(facts []ledger.Fact) knowledge {
	k.facts = make([]knownFact, 0, len(facts))
	for _, f := range facts {
		k.facts = append(k.facts, knownOf(f))
	}
	slices.SortFunc(k.facts, func(a, b knownFact) int { return int(a.code) - int(b.code) })
	return k
}

// cursor encodes the knowledge as text, with a checksum at the end.
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

// readCursor decodes a cursor; ok is false for an invalid one.
func readCursor(text string) (k knowledge, ok bool) {
	text, ok = strings.CutPrefix(text, cursorPrefix)
	if !ok || len(text) > 2*(12+factBytes*256) || strings.ContainsAny(text, "\r\n") { // the decoder would skip line ends
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
		if n := len(k.facts); factKeys.Get()[f.code] == "" || n > 0 && k.facts[n-1].code >= f.code {
			return knowledge{}, false
		}
		k.facts = append(k.facts, f)
	}
	return k, true
}

// find returns the hash of the fact with this code, and false if the agent does not know it.
func (k *knowledge) find(code byte) (hash factHash, ok bool) {
	i, ok := slices.BinarySearchFunc(k.facts, code, func(f knownFact, code byte) int { return int(f.code) - int(code) })
	if !ok {
		return hash, false
	}
	return k.facts[i].hash, true
}
