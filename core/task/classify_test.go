package task_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/coretest"
	"waybill/core/task"
	"waybill/test/golden"
)

func named(name string) task.Failure   { return task.Failure{Name: name} }
func saying(text string) task.Failure  { return task.Failure{Message: text} }
func answered(status int) task.Failure { return task.Failure{HTTP: status} }

// sample returns a failure that fits one word of a rule and nothing else.
func sample(rule task.ClassRule, word string) task.Failure {
	if rule.Of == "name" {
		return named(word)
	}
	return saying("Sorry: " + strings.ToUpper(strings.ReplaceAll(word, "+", "... ")) + "; bye")
}

// Each word and each code of the table has the class of its row.
func TestEveryWordOfTheTableIsRecognised(t *testing.T) {
	for i, rule := range task.ClassRules() {
		require.NotEmpty(t, rule.Why)
		require.Contains(t, task.Classes(), rule.Class)
		require.Equal(t, rule.Of == "status", len(rule.Codes) > 0, "row %d", i)
		require.Equal(t, rule.Of != "status", len(rule.Words) > 0, "row %d", i)
		for _, word := range rule.Words {
			require.Equal(t, strings.ToLower(word), word, "it is compared in lower case")
			require.Equal(t, string(rule.Class), string(task.Classify(sample(rule, word)).Class), "row %d: %q", i, word)
		}
		for _, code := range rule.Codes {
			require.Equal(t, string(rule.Class), string(task.Classify(answered(code)).Class), "row %d: %d", i, code)
		}
	}
}

// These are messages of real hosts and providers.
func TestKnownFailuresHaveTheirClass(t *testing.T) {
	for class, failures := range map[task.Class][]task.Failure{
		task.ClassTerminal: {{}, saying("it broke"), named("SomethingNew"), answered(418)},
		task.ClassProvider: {
			named(" authenticationerror\n"),
			saying("Quota exceeded for this project"), saying("Your quota will reset after 5h"),
			saying("You have reached your billing limit"), saying("monthly usage limit reached"), saying("Daily limit hit"),
			saying("You hit your plan's limit"), saying("Subscription limit reached"), saying("free-usage limit"),
			saying("Your credits are exhausted"), saying("out of credits"), saying("Insufficient credit"),
			saying("insufficient account balance"), saying("Account balance exhausted"), saying("balance is too low"),
			saying("Payment required"), saying("Capacity for your account exhausted"), saying("account in arrears"),
			saying("blocked by the fair use policy"), saying("已达到使用上限"), saying("额度不足"), saying("账户余额不足"), saying("资源已耗尽"),
			saying("insufficient_quota"),
			saying("Rate limit reached"), saying("rate_limit_error"), saying("usage limit reached"), saying("Too many requests"),
			saying("No provider configured"), saying("Provider not available"), saying("provider not found"),
			saying("Provider not configured"), saying("The selected provider is forbidden"), saying("Unknown provider: acme"),
			saying("Model not supported"), saying("model_not_supported"), saying("model-not-supported"), saying("ModelNotSupported"),
			saying("Model not found: x"), saying("model_not_found"), saying("model-not-found"), saying("ModelNotFoundError"),
			saying("API key missing"), saying("missing API_KEY"), saying("Auth key not configured"), saying("no auth-key"),
			saying("apiKey is required"), saying("No models available"), saying("There are no connected providers"),
			saying("all providers are unavailable"), saying("All providers disconnected"), saying("all providers exhausted"),
			saying("The model is currently unavailable"), saying("频率限制"), saying("请求过于频繁"),
			saying("a quota of one"), saying("check your credit"), saying("balance?"), saying("Not Found"), saying("Bad Request"),
		},
		task.ClassTransient: {
			saying("Retrying in 5s: rate limit"), saying("retrying in 3 seconds (cool-down)"), saying("Retrying in 1m, credentials are refreshed"),
			saying("Overloaded"), saying("temporarily unavailable"), saying("Service Unavailable"), saying("Bad gateway"),
			saying("network error"), saying("Connection error."), saying("Internal server error"), saying("Request timeout"),
			saying("read: ETIMEDOUT"), saying("socket hang up"), saying("please try again"), saying("status 429"), saying("HTTP 502"),
			saying("503"), saying("error=504"), saying("code:529"), saying("JavaScript heap out of memory"),
			saying("暂时不可用"), saying("服务不可用"), saying("请稍后重试"), saying("httpx.ReadTimeout"),
		},
	} {
		for _, f := range failures {
			require.Equal(t, string(class), string(task.Classify(f).Class), "%+v", f)
		}
	}
}

// A row further up the table beats one further down, and a class that the worker gives beats the table.
func TestOrderOfTheTable(t *testing.T) {
	for _, c := range []struct {
		failure task.Failure
		want    task.Class
	}{
		{task.Failure{Name: "AbortError", HTTP: 503, Message: "overloaded, quota exceeded"}, task.ClassUser},
		{task.Failure{HTTP: 400, Message: "API key not valid"}, task.ClassProvider},
		{task.Failure{HTTP: 400, Message: "model_not_supported"}, task.ClassProvider},
		{task.Failure{HTTP: 400, Message: "prompt is too long; timeout 3"}, task.ClassTerminal},
		{task.Failure{Class: task.ClassTransient, Name: "AbortError", HTTP: 503, Message: "quota exceeded"}, task.ClassTransient},
		{task.Failure{Class: task.ClassUser, Message: "overloaded"}, task.ClassUser},
	} {
		want := c.failure
		want.Class = c.want
		require.Equal(t, want, task.Classify(c.failure))
	}
}

// Only an unknown error of a session has another class there: the session may continue.
func TestUnknownErrorOfASessionDoesNotEndIt(t *testing.T) {
	for failure, want := range map[task.Failure]task.Class{
		saying("the frobnicator is out of tune"):              task.ClassTransient,
		saying("unknown provider"):                            task.ClassProvider,
		{Class: task.ClassUser, Message: "something unknown"}: task.ClassUser,
	} {
		require.Equal(t, want, task.ClassifySession(failure).Class, "%+v", failure)
	}
}

// A provider without credit once ended the task, although the chain named another provider.
func TestQuotaErrorGoesOnWithAnotherProvider(t *testing.T) {
	models := []task.Model{opus, sonnet, gpt, haiku}
	shared, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, models...), 0, coretest.CreatedAt)
	for want, failures := range map[task.Model][]task.Failure{
		gpt: {
			saying("429 Too many requests: monthly limit reached, please try again"),
			saying("rate limit: your credits are exhausted"),
			{HTTP: 429, Message: "You exceeded your current quota, please check your plan and billing details"},
			{HTTP: 400, Message: "Your credit balance is too low to access the API"},
			{HTTP: 503, Message: "额度不足，请稍后重试"},
			{Name: "insufficient_quota", Message: "insufficient_quota"},
			named("QuotaExceededError"), answered(402),
			{Class: task.ClassProvider, Message: "quota exceeded"},
			saying("You have hit your limit"), saying("You've reached your limit."), saying("out of extra usage"),
			saying("Usage limit reached, resets at 5pm"),
			saying("5-hour limit reached ∙ resets 3am"), saying("Opus weekly limit reached ∙ resets Oct 9"), saying("Session limit reached ∙ resets 4pm"),
			saying("Resource has been exhausted (e.g. check quota)."),
			{HTTP: 429, Message: "Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing."},
			{HTTP: 429, Message: "Your account is not active, please check your billing details on our website."},
			{HTTP: 403, Message: "This API method requires billing to be enabled. Please enable billing on project #123"},
			saying("This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford 1234."),
			{HTTP: 403, Message: "Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys"},
			{HTTP: 403, Message: "Your newly created teams doesn't have any credits yet."},
			{HTTP: 401, Message: "No payment method. Add a payment method here: https://opencode.ai/workspace/x/billing"},
			{HTTP: 400, Message: "Arrearage: Access denied, please make sure your account is in good standing."},
			{HTTP: 400, Message: "Budget has been exceeded! Current cost: 1.2, Max budget: 1.0"},
			saying("You've hit your free requests limit. Upgrade to Pro"), saying("You have exceeded your spending limit"),
			saying("You have exceeded your monthly included credits for Inference Providers."), saying("Not enough credits"),
			{HTTP: 429, Message: "您的账户已欠费,请充值后重试。"},
			saying("该令牌额度已用尽"),
			saying("Quota limit reached"), saying("your quota is used up"), saying("No quota left"), saying("You are out of quota."),
			saying("Credit limit reached"), saying("credit exhausted"), saying("Your credits are used up"), saying("your credit has run out"),
			saying("no credit left"),
			named("ProviderAuthError"), named("AuthenticationError"),
		},
		sonnet: {answered(429), saying("overloaded model not found"), {Class: task.ClassProvider, Message: "no key"}},
		{}:     {{Class: task.ClassUser, Message: "quota exceeded"}, {Class: task.ClassTerminal, Message: "quota exceeded"}},
	} {
		for _, why := range failures {
			next := lived(t, shared, claims, breaksWith(why))
			if want == (task.Model{}) {
				require.Equal(t, task.Errored{Reason: task.ReasonFailed}, next.Phase, "%+v", why)
				continue
			}
			require.Equal(t, want, next.Current.Model, "%+v", why)
		}
	}
	ours, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus, sonnet), 0, coretest.CreatedAt)
	over := lived(t, ours, claims, breaksWith(answered(402)))
	require.Equal(t, task.Errored{Reason: task.ReasonExhausted}, over.Phase)
	require.Contains(t, over.Explain(nil, nil).Because[0].Text, "the chain has no model of another provider")
}

func TestTimeoutIsTheReasonOfATimeout(t *testing.T) {
	for _, why := range []task.Failure{named("TimeoutError"), {HTTP: 504, Class: task.ClassTerminal}, {HTTP: 408, Class: task.ClassUser}} {
		require.Equal(t, task.Errored{Reason: task.ReasonTimeout}, lived(t, newTask(t, 0), claims, breaksWith(why)).Phase, "%+v", why)
	}
}

// A number or a short word inside another one says nothing.
func TestPartsOfWordsAndNumbersDoNotDecide(t *testing.T) {
	for _, text := range []string{
		"request 14290 broke", "line 5031", "id a429b", "explanation over the limit", "planner limit", "accredited",
		"rebalanced", "piano models", "context limit reached", "output token limit reached", "time limit exceeded",
	} {
		require.Equal(t, task.ClassTerminal, task.Classify(saying(text)).Class, text)
	}
}

// The table of the page is written from the table of the code.
func TestErrorClassesPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("| # | looked at | one of | class | why |\n|---|---|---|---|---|\n")
	for i, rule := range task.ClassRules() {
		mark := ""
		if rule.Guess {
			mark = " *"
		}
		if rule.Account {
			mark = " †"
		}
		fmt.Fprintf(&b, "| %d%s | %s | %s | `%s` | %s |\n", i+1, mark, rule.Of, alternatives(rule), rule.Class, rule.Why)
	}
	golden.Parts(t, "../../docs/error-classes.md", map[string]string{"rules": b.String()})
}

func alternatives(rule task.ClassRule) string {
	var all []string
	for _, word := range rule.Words {
		parts := strings.Split(word, "+")
		for i, part := range parts {
			trimmed := strings.TrimPrefix(part, " ")
			if trimmed != part {
				trimmed = "␣" + trimmed
			}
			if before, edge := strings.CutSuffix(trimmed, " "); edge {
				trimmed = before + "␣"
			}
			parts[i] = trimmed
		}
		all = append(all, "`"+strings.Join(parts, " + ")+"`")
	}
	for _, code := range rule.Codes {
		all = append(all, fmt.Sprint(code))
	}
	return strings.Join(all, ", ")
}
