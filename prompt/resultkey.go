package prompt

import (
	"strings"

	"waybill/ledger"
	"waybill/prompt/sanitize"
)

const (
	// resultKey precedes the key of a result in a prompt.
	resultKey = "Result key: "
	// maxOutputTokens begins the last line of a prompt.
	maxOutputTokens = "Max output tokens: "
)

// Outdated reports whether a prompt compiled only from the ledgers asks for a result key or form other than key and
// block. The caller can then compile the prompt again and lose nothing. Outdated returns false for a prompt that
// contains text of the host.
func Outdated(prompt, key string, block bool) bool {
	_, asksBlock, ours := compiledFor(prompt)
	at := strings.LastIndex(prompt, "\n"+sanitize.HeadNow+byWaybill.mark+"\n")
	if !ours || at < 0 || strings.Contains(prompt, byHost.mark+"\n") {
		return false
	}
	now := prompt[at:]
	_, last, _ := strings.Cut(now, "\n"+maxOutputTokens)
	if strings.Trim(strings.TrimRight(last, "\n"), "0123456789") != "" {
		return false
	}
	_, asked, _ := strings.Cut(now, "\n"+resultKey)
	asked, _, _ = strings.Cut(asked, "\n")
	return asked != key || asksBlock != block
}

// Renewed returns a compiled prompt that asks for another result key and form, with all other text unchanged. Any other
// prompt is returned as it is.
func Renewed(prompt, key string, block bool) string {
	role, asksBlock, ours := compiledFor(prompt)
	at := strings.LastIndex(prompt, "\n"+sanitize.HeadNow+byWaybill.mark+"\n")
	if !ours || at < 0 {
		return prompt
	}
	before, now, keyed := strings.Cut(prompt[at:], "\n"+resultKey)
	_, behind, _ := strings.Cut(now, "\n")
	if !keyed {
		return prompt
	}
	body := strings.TrimPrefix(prompt[:at], prefixOf(role, asksBlock).text)
	return prefixOf(role, block).text + body + before + "\n" + resultKey + key + "\n" + behind
}

// compiledFor returns the role of a prompt that begins with a stable prefix, and whether the prefix asks for a result
// block.
func compiledFor(prompt string) (role ledger.Role, block, ours bool) {
	for role := ledger.RoleWorker; role.Known(); role++ {
		for _, block := range []bool{false, true} {
			if strings.HasPrefix(prompt, prefixOf(role, block).text) {
				return role, block, true
			}
		}
	}
	return 0, false, false
}
