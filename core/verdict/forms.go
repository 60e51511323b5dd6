package verdict

import (
	"slices"
	"strings"
)

// A form is a part of a text that is written as a result: a result block or a group of v2 headers. Agents draft,
// repeat themselves and quote, so a text may have several. These rules decide which one counts:
//
//   - Forms with the right key count, and others are quotations. Headers at the very beginning count as well.
//     Beside a pass, so does every rejection that has no key and is not marked as a quotation.
//   - Without the right key, every form counts, and so does every clear statement.
//   - The forms that count must agree. Of these, the headers at the very beginning are read, else the last block,
//     else the last headers.
type form struct {
	at, end int
	block   int  // index among the blocks; -1 for headers
	quoted  bool // it may be quoted from elsewhere
	place        // of headers only
	claim
}

// formsOf lists the forms of a text in their order.
func formsOf(n *notes, found blocks, a surroundings) []form {
	var forms []form
	for i, b := range found.all {
		forms = append(forms, form{at: b.begin, end: b.end, block: i, claim: b.claim(n.asked)})
	}
	for h := range headerBlocks(n.text, n.asked) {
		forms = append(forms, form{at: h.at, end: h.end, block: -1, claim: h.claim(), place: h.place})
	}
	slices.SortStableFunc(forms, func(a, b form) int { return a.at - b.at })
	seen, line := 0, 0 // up to seen, the text was searched for the start of the form's line
	for i := range forms {
		f := &forms[i]
		if start := strings.LastIndexByte(n.text[seen:f.at], '\n'); start >= 0 {
			line = seen + start + 1
		}
		seen = f.at
		f.quoted = a.indented(line, f.end) || a.fenced(f.at, f.end) || a.enclosed(f.at) || f.block >= 0 && found.all[f.block].amid
	}
	return forms
}

// filled returns the forms without templates, or all forms if there is nothing else.
func filled(forms []form) []form {
	kept := slices.DeleteFunc(slices.Clone(forms), func(f form) bool { return f.blank })
	if len(kept) == 0 {
		return forms
	}
	return kept
}

// judgeForms judges a text that has at least one form.
func judgeForms(n *notes, found blocks, forms []form, a surroundings) Judgement {
	all := forms
	forms = filled(all)
	if keyed := withKey(forms, n.asked); keyed != nil {
		n.checkCutOff(found, a, keyed[len(keyed)-1].at)
		n.key = keyed[len(keyed)-1].key
		if quoted := len(forms) - len(keyed); quoted > 0 {
			n.warn(quotations, keyed[0].at, "results without the key were taken for quotations: %d", quoted)
		}
		count := chosen(keyed)
		said := slices.DeleteFunc(slices.Clone(forms), func(f form) bool { return !f.countsBeside(count, n.asked) })
		n.checkAgreement(said)
		if a.forms = all; count.verdict == Pass {
			n.checkStatements(keyed, a)
		}
		return n.judgeForm(count, found)
	}
	n.checkCutOff(found, a, -1)
	n.checkAgreement(forms)
	a.forms = all
	n.checkStatements(forms, a)
	count := chosen(forms)
	if count.quoted {
		n.fault(Quoted, "result", count.at, "the result by itself, outside code fences and not indented", lineAt(n.text, count.at).text,
			"the result has no key and may be quoted from elsewhere")
	}
	if i := slices.IndexFunc(forms, func(f form) bool { return f.key != "" }); i >= 0 && len(n.asked.Keys) > 0 {
		n.fault(KeyMismatch, "key", forms[i].at, keyWanted, forms[i].key, keyOfAnother)
	} else {
		n.checkMisplacedKey()
	}
	if len(forms) > 1 {
		n.warn(furtherResult, count.at, "of %d results in the text this one was read", len(forms))
	}
	return n.judgeForm(count, found)
}

// countsBeside reports whether a form counts in addition to the chosen one, which has the right key. A quotation may
// weaken a pass and never a rejection, so a rejection without any key counts in addition to a pass.
func (f form) countsBeside(chosen form, asked Asked) bool {
	if slices.Contains(asked.Keys, f.key) || f.first && !f.quoted {
		return true
	}
	return chosen.verdict == Pass && f.verdict != Pass && f.key == "" && !f.quoted && f.roles&chosen.roles != 0
}

// checkMisplacedKey notes an error if the right key is in the text outside any form. The text with the key is the
// answer of the agent, so no form without it can be.
func (n *notes) checkMisplacedKey() {
	for _, key := range n.asked.Keys {
		if at := strings.Index(n.text, key); at >= 0 {
			n.fault(KeyMisplaced, "key", at, "the key in the form that the prompt asks for", lineAt(n.text, at).text,
				"the key stands outside any result that can be read")
			return
		}
	}
}

func withKey(forms []form, asked Asked) (keyed []form) {
	for _, f := range forms {
		if f.key != "" && slices.Contains(asked.Keys, f.key) {
			keyed = append(keyed, f)
		}
	}
	return keyed
}

// chosen returns the form that is read.
func chosen(forms []form) form {
	if forms[0].first {
		return forms[0]
	}
	for _, f := range slices.Backward(forms) {
		if f.block >= 0 {
			return f
		}
	}
	return forms[len(forms)-1]
}

func (n *notes) judgeForm(f form, found blocks) Judgement {
	if f.block >= 0 {
		return judgeBlock(found.all[f.block], n)
	}
	h := readHeaders(n.text, f.at)
	h.place = f.place
	return h.judge(n)
}

// checkAgreement notes an error if two forms differ.
func (n *notes) checkAgreement(forms []form) {
	said := forms[0].claim
	for _, f := range forms[1:] {
		if field := said.differs(f.claim, n.asked); field != "" {
			n.contradiction(field, said.shown(field)+" and "+f.shown(field), f.at)
			return
		}
		said = said.and(f.claim)
	}
}

func (n *notes) contradiction(field, found string, at int) {
	n.fault(Contradictory, field, at, "one result", found, "the text has two results that say different things")
}

// checkStatements notes an error if a clear statement outside the forms contradicts them.
func (n *notes) checkStatements(forms []form, a surroundings) {
	passes := forms[0].verdict == Pass
	for s := range statements(n.text, n.asked.Role, a) {
		if s.clear && (s.verdict == Pass) != passes && !a.inForm(s.at) {
			n.contradiction("result", forms[0].shown("status")+" and "+show(s.text), s.at)
			return
		}
	}
}

// checkCutOff notes an error if a result block after an offset is broken, because its content is unknown. In a text
// with a key, a broken block that may be quoted is passed over unless it has the key itself.
func (n *notes) checkCutOff(found blocks, a surroundings, behind int) {
	for _, f := range found.broken {
		if n.holdsKey(f) {
			n.broken(f)
			return
		}
		if behind >= 0 && (f.begin < behind || a.fenced(f.begin, f.at) || a.commented(f.begin) || a.deeper(f.line, 1)) {
			n.warn(brokenBlock, f.begin, "a result block that is not well-formed was passed over")
			continue
		}
		n.broken(f)
		return
	}
}

// holdsKey reports whether a broken block has the right key before the position of the error.
func (n *notes) holdsKey(f brokenBlockAt) bool {
	return slices.ContainsFunc(n.asked.Keys, func(key string) bool { return strings.Contains(n.text[f.begin:f.at], key) })
}
