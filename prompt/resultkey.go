package prompt

import (
	"slices"
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

// Renewed returns a prompt that asks for no other result form than this one. In a compiled prompt it exchanges the rules and
// the result key. In the words of a host it marks the lines that show the other form as quoted, and cuts none.
func Renewed(prompt, key string, block bool) string {
	role, asksBlock, ours := compiledFor(prompt)
	at := strings.LastIndex(prompt, "\n"+sanitize.HeadNow+byWaybill.mark+"\n")
	if !ours || at < 0 {
		return quoteOtherForm(prompt, block)
	}
	before, now, keyed := strings.Cut(prompt[at:], "\n"+resultKey)
	_, behind, _ := strings.Cut(now, "\n")
	if !keyed {
		return quoteOtherForm(prompt, block)
	}
	body := strings.TrimPrefix(prompt[:at], prefixOf(role, asksBlock).text)
	return prefixOf(role, block).text + quoteOtherForm(body, block) + before + "\n" + resultKey + key + "\n" + behind
}

// showsHeader reports whether a line belongs to a template for headers.
func showsHeader(line string) bool {
	name, value, found := strings.Cut(strings.TrimSpace(line), ":")
	return found && slices.Contains([]string{"role", "task_id", "key", "status", "git_range", "issues"}, name) &&
		strings.HasPrefix(strings.TrimSpace(value), "<")
}

// quoteOtherForm marks the lines of a text that show headers, if a block is asked for, or otherwise the markers of a block.
func quoteOtherForm(text string, block bool) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		marker := strings.Contains(line, sanitize.MarkerBegin) || strings.Contains(line, sanitize.MarkerEnd)
		if !strings.HasPrefix(line, sanitize.QuoteMark) && (block && showsHeader(line) || !block && marker) {
			lines[i] = sanitize.QuoteMark + line
		}
	}
	return strings.Join(lines, "\n")
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
