package verdict

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"

	"waybill/core"
)

// Key returns the result key of one round of a role in a run. The prompt asks for it, and an older text cannot have
// it. The same run, role and round always have the same key.
func Key(run string, role core.Role, round int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "result key\x00%s\x00%s\x00%d", run, role, round))
	return base32.StdEncoding.EncodeToString(sum[:5])
}

// Outdated returns the judgement of a text whose key is no longer right, because another result of the same round was
// accepted after the text was judged.
func (j Judgement) Outdated() Judgement {
	j.Verdict = Invalid
	j.Errors = append(j.Errors, Problem{
		Fault: KeyMismatch, Field: "key", Expected: keyWanted, Found: j.Key, Line: 1, Message: keyOfAnother,
	})
	return j
}

// Repeated returns the judgement of a text that was accepted as the result of another role of the same run.
func (j Judgement) Repeated(by core.Role) Judgement {
	j.Verdict = Invalid
	j.Errors = append(j.Errors, Problem{
		Fault: RoleMismatch, Field: "result", Expected: "a text of its own for each role", Found: "the text of the " + by.String(),
		Line: 1, Message: "the same text was the result of the " + by.String(),
	})
	return j
}

const (
	keyWanted    = "the key that the prompt asks for"
	keyOfAnother = "the key is that of another round, role or run"
)
