package core

import (
	"slices"
	"strings"
	"unicode"
)

// A ClassRule is one row of the table that tells the class of a failure that comes without one.
type ClassRule struct {
	Class Class
	Of    string // "name", "message" or "status": what is looked at
	// Words are, of a name, what it may be in full. Of a message they are what it may hold: all parts of
	// one of them, where + parts the parts, in any order. A space at an end of a part is the edge of a word.
	Words []string
	Codes []int  // of a status: one of them
	Why   string // for the reader of the table
	// Guess marks a row that knows too little to say anything against a model: it chooses the next
	// one, and no Breaker counts it.
	Guess bool
}

// ClassRules gives the table. The first row that fits decides, so that what says stop beats what says
// try again. Names and messages are compared without regard to case, and messages without regard to
// what stands between their words: "model_not_found" and "Model not found!" read alike.
func ClassRules() []ClassRule {
	return []ClassRule{
		{ClassUser, "name", []string{"messageabortederror", "aborterror", "permissiondeniederror", "usererror"}, nil, "a person stopped it or has to allow it", false},
		{ClassTerminal, "name", []string{"contextlengtherror", "timeouterror", "validationerror", "syntaxerror"}, nil, "the same request fails everywhere", false},
		{ClassUser, "name", []string{"quotaexceedederror", "insufficientcreditserror", "freeusagelimiterror"}, nil, "a person has to pay or to wait", false},
		{ClassProvider, "name", []string{"ratelimiterror", "modelunavailableerror", "providermodelnotfounderror", "providerconnectionerror", "authenticationerror"}, nil, "another provider may have it", false},
		{ClassUser, "message", []string{
			"quota+exceeded", "quota+reset", "billing+limit", "monthly+limit", "daily+limit", " plan +limit",
			"subscription+limit", "free usage+limit", "credits+exhausted", "out of credits", " no credits",
			"insufficient+credit", "insufficient+balance", "balance+exhausted", "balance+too low",
			"payment required", "capacity+exhausted", " arrears", "fair use", "使用上限", "额度不足", "余额不足", "已耗尽",
		}, nil, "a person has to pay or to wait", false},
		{ClassTransient, "message", []string{"retrying in+rate limit", "retrying in+cool", "retrying in+credential"}, nil, "the provider tries again by itself", false},
		{ClassUser, "status", nil, []int{402}, "payment required", false},
		{ClassProvider, "status", nil, []int{401, 403, 404, 429}, "another provider may have it", false},
		{ClassTransient, "status", nil, []int{408, 500, 502, 503, 504, 529}, "the provider is busy or ails", false},
		{ClassProvider, "message", []string{
			"rate limit", "usage limit", "too many requests", "unknown provider", "provider not found",
			"provider not available", "provider not configured", "provider+forbidden", " no provider",
			"model not found", "modelnotfound", "model not supported", "modelnotsupported",
			"model+not available", "model+unavailable", " no models", "api key", "apikey", "auth key",
			"authentication", "unauthorized", " no connected providers", "all providers+unavailable",
			"all providers+disconnected", "all providers+exhausted", "频率限制", "请求过于频繁",
		}, nil, "another provider may have it", false},
		{ClassTerminal, "status", nil, []int{400, 413, 422}, "the same request fails everywhere", false},
		{ClassTransient, "message", []string{
			"overloaded", "unavailable", "bad gateway", "gateway timeout", "network error", "connection error",
			"connection reset", "connection refused", "socket hang up", "econnreset", "econnrefused",
			"etimedout", "internal server error", "timeout", "timed out", "try again", "out of memory",
			" 429 ", " 502 ", " 503 ", " 504 ", " 529 ", "暂时不可用", "服务不可用", "请稍后重试",
		}, nil, "the same again may succeed", false},
		{ClassProvider, "message", []string{
			"quota", " credit", " balance ", "insufficient", "not found", "bad request",
		}, nil, "nothing more is known, and another provider may see it differently", true},
	}
}

// Classify gives the failure the class that the table tells, if it has none. What no row knows is
// terminal: nothing says that trying again would help.
func Classify(f Failure) Failure { return classified(f, ClassTerminal) }

// ClassifySession is Classify for an error that was seen in a session which may be alive all the same.
// What no row knows is transient there: nothing says that the session has come to its end.
func ClassifySession(f Failure) Failure { return classified(f, ClassTransient) }

func classified(f Failure, unknown Class) Failure {
	if f.Class != "" {
		return f
	}
	f.Class = unknown
	if rule, known := f.rule(); known {
		f.Class = rule.Class
	}
	return f
}

// rule gives the first row of the table that fits.
func (f Failure) rule() (rule ClassRule, known bool) {
	rules := ClassRules()
	if i := slices.IndexFunc(rules, func(r ClassRule) bool { return r.fits(f) }); i >= 0 {
		return rules[i], true
	}
	return ClassRule{}, false
}

// guessed reports whether what the failure says of itself speaks for its class no louder than a guess. One
// to which the worker gave that class by the same words is taken for one too: "file not found" in five
// tasks must not shut a model, whoever classed it.
func (f Failure) guessed() bool {
	rule, known := f.rule()
	return known && rule.Guess && rule.Class == f.Class
}

func (r ClassRule) fits(f Failure) bool {
	switch r.Of {
	case "name":
		return slices.Contains(r.Words, strings.ToLower(strings.TrimSpace(f.Name)))
	case "message":
		message := spaced(f.Message)
		return slices.ContainsFunc(r.Words, func(word string) bool { return hasAll(message, strings.Split(word, "+")) })
	case "status":
		return slices.Contains(r.Codes, f.HTTP)
	}
	panic("core: a class rule looks at " + r.Of)
}

// spaced gives the words of a text in lower case, with one space around each.
func spaced(text string) string {
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), between), " ") + " "
}

func hasAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// timedOut reports whether the failure says that somebody gave up waiting.
func timedOut(f Failure) bool {
	return strings.EqualFold(strings.TrimSpace(f.Name), "timeouterror") || f.HTTP == 408 || f.HTTP == 504
}
