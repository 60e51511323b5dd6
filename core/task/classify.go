package task

import (
	"slices"
	"strings"
	"unicode"
)

// A ClassRule is one row of the table that classifies failures without a class.
type ClassRule struct {
	Class Class
	Of    string // "name", "message" or "status"
	// Words are the possible values. A name must equal one of them. A message must contain all parts of one of them,
	// in any order; + separates the parts. A space at an end of a part is the edge of a word.
	Words []string
	Codes []int  // possible statuses
	Why   string // reason, for the documentation
	// Guess marks a row that is no evidence against a model: the next model is tried, and no Breaker counts the
	// failure.
	Guess bool
	// Account marks a row about the account at the provider: it has no quota or credit left, or its credentials are
	// not accepted. All models of the provider share the account, so only a model of another provider may succeed.
	Account bool
}

// The reasons why a failed attempt is followed by one on another model.
const (
	noQuota   = "the provider wants payment or a pause; another provider may have it"
	noAccess  = "the provider does not accept the credentials; another provider has its own"
	elsewhere = "another provider may have it"
)

// ClassRules returns the table. The first row that fits decides, so that rows that stop come before rows that retry.
// Names and messages are compared without regard to case, and messages without regard to the marks between their
// words: "model_not_found" and "Model not found!" are equal.
func ClassRules() []ClassRule {
	return []ClassRule{
		{
			Class: ClassUser, Of: "name", Why: "a person stopped it or has to allow it",
			Words: []string{"messageabortederror", "aborterror", "permissiondeniederror", "usererror"},
		},
		{
			Class: ClassTerminal, Of: "name", Why: "the same request fails everywhere",
			Words: []string{"contextlengtherror", "timeouterror", "validationerror", "syntaxerror"},
		},
		{
			Class: ClassProvider, Of: "name", Why: noQuota, Account: true,
			Words: []string{"quotaexceedederror", "insufficientcreditserror", "freeusagelimiterror"},
		},
		{
			Class: ClassProvider, Of: "name", Why: noAccess, Account: true,
			Words: []string{"providerautherror", "authenticationerror"},
		},
		{
			Class: ClassProvider, Of: "name", Why: elsewhere,
			Words: []string{"ratelimiterror", "modelunavailableerror", "providermodelnotfounderror", "providerconnectionerror"},
		},
		{
			Class: ClassProvider, Of: "message", Why: noQuota, Account: true,
			Words: []string{
				"quota+exceeded", "quota+reset", "quota+exhausted", "quota+not enough", "quota+limit", "quota+reached", "quota+used up",
				"quota+depleted", " no quota", "out of quota", "billing+limit", "billing+enable",
				"billing details", "payment method", "payment required", "monthly+limit", "daily+limit", "weekly limit",
				" hour limit", "session limit", "limit reached resets", " plan +limit", "subscription+limit",
				"subscription+expired", "trial+ended", "trial+expired", "free tier+exhausted", "free requests limit",
				"premium request", "usage limit", "spending limit", "spend limit", "spending cap", "hit your limit",
				"reached your limit", "key limit exceeded", "budget has been exceeded", "over budget", "daily free allocation",
				" credit+exhausted", " credit+depleted", " credit+exceeded", " credit+limit", " credit+used up", " credit+run out",
				" credit+too low", "out of credit", "out of extra usage", " no credit", "any credits", "more credits", "not enough+credit", "not enough balance",
				"insufficient+credit", "insufficient+balance", "insufficient+quota", "insufficient funds",
				"balance+exhausted", "balance+too low", "balance+negative", "balance+overdue", "capacity+exhausted",
				" arrear", "good standing", "organization has been disabled", "fair use",
				"使用上限", "额度不足", "余额不足", "剩余额度", "已耗尽", "已用尽", "已用完", "欠费",
			},
		},
		{
			Class: ClassTransient, Of: "message", Why: "the provider tries again by itself",
			Words: []string{"retrying in+rate limit", "retrying in+cool", "retrying in+credential"},
		},
		{Class: ClassProvider, Of: "status", Why: noQuota, Account: true, Codes: []int{402}},
		{Class: ClassProvider, Of: "status", Why: elsewhere, Codes: []int{401, 403, 404, 429}},
		{Class: ClassTransient, Of: "status", Why: "the provider is busy or ails", Codes: []int{408, 500, 502, 503, 504, 529}},
		{
			Class: ClassProvider, Of: "message", Why: elsewhere,
			Words: []string{
				"rate limit", "too many requests", "unknown provider", "provider not found",
				"provider not available", "provider not configured", "provider+forbidden", " no provider",
				"model not found", "modelnotfound", "model not supported", "modelnotsupported",
				"model+not available", "model+unavailable", " no models", "api key", "apikey", "auth key",
				"authentication", "unauthorized", " no connected providers", "all providers+unavailable",
				"all providers+disconnected", "all providers+exhausted", "频率限制", "请求过于频繁",
			},
		},
		{Class: ClassTerminal, Of: "status", Why: "the same request fails everywhere", Codes: []int{400, 413, 422}},
		{
			Class: ClassTransient, Of: "message", Why: "the same again may succeed",
			Words: []string{
				"overloaded", "unavailable", "bad gateway", "gateway timeout", "network error", "connection error",
				"connection reset", "connection refused", "socket hang up", "econnreset", "econnrefused",
				"etimedout", "internal server error", "timeout", "timed out", "try again", "out of memory",
				" 429 ", " 502 ", " 503 ", " 504 ", " 529 ", "暂时不可用", "服务不可用", "请稍后重试",
			},
		},
		{
			Class: ClassProvider, Of: "message", Why: "nothing more is known, and another provider may see it differently", Guess: true,
			Words: []string{"quota", " credit", " balance ", "insufficient", "not found", "bad request"},
		},
	}
}

// Classify returns the failure with the class of the table, if it has none. A failure that fits no row is terminal.
func Classify(f Failure) Failure { return classified(f, ClassTerminal) }

// ClassifySession is Classify for an error in a session that may still be alive: a failure that fits no row is
// transient.
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

// rule returns the first row of the table that fits.
func (f Failure) rule() (rule ClassRule, known bool) {
	rules := ClassRules()
	if i := slices.IndexFunc(rules, func(r ClassRule) bool { return r.fits(f) }); i >= 0 {
		return rules[i], true
	}
	return ClassRule{}, false
}

// guessed reports whether only a row that is a guess supports the class of the failure. This holds for a class from the
// worker, too: "file not found" in five tasks must not open the breaker of a model.
func (f Failure) guessed() bool {
	rule, known := f.rule()
	return known && rule.Guess && rule.Class == f.Class
}

// ofAccount reports whether the failure says that the account cannot be used at its provider. A failure to which the
// worker gave another class than the table is taken at the worker's word.
func (f Failure) ofAccount() bool {
	rule, known := f.rule()
	return known && rule.Account && rule.Class == f.Class
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
	panic("task: a class rule looks at " + r.Of)
}

// spaced returns the words of a text in lower case, with one space around each.
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

// timedOut reports whether the failure is a timeout.
func timedOut(f Failure) bool {
	return strings.EqualFold(strings.TrimSpace(f.Name), "timeouterror") || f.HTTP == 408 || f.HTTP == 504
}
