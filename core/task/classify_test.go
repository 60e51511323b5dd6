package task_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core/coretest"
	"waybill/core/task"
)

func named(name string) task.Failure   { return task.Failure{Name: name} }
func saying(text string) task.Failure  { return task.Failure{Message: text} }
func answered(status int) task.Failure { return task.Failure{HTTP: status} }

// sample is a failure of which nothing is known but that it fits one word of a rule.
func sample(rule task.ClassRule, word string) task.Failure {
	if rule.Of == "name" {
		return named(word)
	}
	return saying("Sorry: " + strings.ToUpper(strings.ReplaceAll(word, "+", "... ")) + "; bye")
}

// Each word and each code of the table decides, and does what its row says, unless a row further up
// knows the same and comes first on purpose.
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

// What hosts and providers are known to say.
func TestKnownFailuresHaveTheirClass(t *testing.T) {
	for class, failures := range map[task.Class][]task.Failure{
		task.ClassUser: {
			named("MessageAbortedError"), named("AbortError"), named("PermissionDeniedError"), named("UserError"),
		},
		task.ClassTerminal: {
			named("ContextLengthError"), named("TimeoutError"), named("ValidationError"), named("SyntaxError"),
			answered(400), answered(413), answered(422),
			{},
			saying("it broke"), named("SomethingNew"), answered(418),
		},
		task.ClassProvider: {
			named("RateLimitError"), named("ModelUnavailableError"), named("ProviderModelNotFoundError"),
			named("ProviderConnectionError"), named("AuthenticationError"), named(" authenticationerror\n"),
			answered(401), answered(403), answered(404), answered(429),
			named("QuotaExceededError"), named("InsufficientCreditsError"), named("FreeUsageLimitError"), answered(402),
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
			answered(408), answered(500), answered(502), answered(503), answered(504), answered(529),
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

// What a person stopped must not be drowned by a word that says try again.
func TestStopBeatsTryAgain(t *testing.T) {
	require.Equal(t, task.ClassUser, task.Classify(task.Failure{Name: "AbortError", HTTP: 503, Message: "overloaded, quota exceeded"}).Class)
}

// Seen: a provider without credit ended the task, although the chain named another provider.
func TestQuotaErrorGoesOnWithAnotherProvider(t *testing.T) {
	quota := []task.Failure{
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
	}
	shared, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus, sonnet, gpt, haiku), 0, coretest.CreatedAt)
	for _, why := range quota {
		next := lived(t, shared, claims, breaksWith(why))
		require.Equal(t, gpt, next.Current.Model, "%+v", why)
	}
	for _, why := range []task.Failure{answered(429), saying("overloaded model not found"), {Class: task.ClassProvider, Message: "no key"}} {
		require.Equal(t, sonnet, lived(t, shared, claims, breaksWith(why)).Current.Model, "%+v", why)
	}
	for _, class := range []task.Class{task.ClassUser, task.ClassTerminal} { // the worker knows better
		said := task.Failure{Class: class, Message: "quota exceeded"}
		require.Equal(t, task.Errored{Reason: task.ReasonFailed}, lived(t, shared, claims, breaksWith(said)).Phase)
	}
}

// Seen: the error of a host whose key was wrong counted as a hiccup of the session, and the task stayed RUNNING.
func TestWrongCredentialsGoOnWithAnotherProvider(t *testing.T) {
	shared, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus, sonnet, gpt, haiku), 0, coretest.CreatedAt)
	for _, name := range []string{"ProviderAuthError", "AuthenticationError"} {
		why := task.ClassifySession(task.Failure{Name: name, Message: "bad key"})
		require.Equal(t, string(task.ClassProvider), string(why.Class), name)
		require.Equal(t, gpt, lived(t, shared, claims, breaksWith(why)).Current.Model, name)
	}
}

func TestQuotaErrorStopsWhereTheChainHasNoOtherProvider(t *testing.T) {
	ours, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus, sonnet), 0, coretest.CreatedAt)
	over := lived(t, ours, claims, breaksWith(answered(402)))
	require.Equal(t, task.Errored{Reason: task.ReasonExhausted}, over.Phase)
	require.Contains(t, over.Explain(nil, nil).Because[0].Text, "the chain has no model of another provider")
	bare, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4), 0, coretest.CreatedAt)
	require.Equal(t, task.Errored{Reason: task.ReasonExhausted}, lived(t, bare, claims, breaksWith(answered(402))).Phase)
}

// The account is as empty after a pause, and each task goes on elsewhere by itself.
func TestQuotaErrorHoldsNoOtherTaskBack(t *testing.T) {
	b := task.Breaker{Key: opus.Key()}
	for n := range 20 {
		task := lived(t, newTask(t, 0), claims)
		task.Current.ID = attemptID(n)
		_, effects, err := task.Step(breaksWith(answered(402))(task, 500))
		require.NoError(t, err)
		b, _ = b.Note(kept(effects)[0])
	}
	require.Equal(t, task.Breaker{Key: opus.Key()}, b)
}

// A bad request is hopeless only if nothing says that it is this provider's problem.
func TestBadRequestAboutAKeyOrAModelIsTheProviders(t *testing.T) {
	require.Equal(t, task.ClassProvider, task.Classify(task.Failure{HTTP: 400, Message: "API key not valid"}).Class)
	require.Equal(t, task.ClassProvider, task.Classify(task.Failure{HTTP: 400, Message: "model_not_supported"}).Class)
	require.Equal(t, task.ClassTerminal, task.Classify(task.Failure{HTTP: 400, Message: "prompt is too long; timeout 3"}).Class)
}

// A number or a short word inside another one says nothing.
func TestPartsOfWordsAndNumbersDoNotDecide(t *testing.T) {
	for _, text := range []string{
		"request 14290 broke", "line 5031", "id a429b", "explanation over the limit", "planner limit", "accredited",
		"rebalanced", "piano models", "context limit reached", "output token limit reached", "time limit exceeded",
	} {
		require.Equal(t, string(task.ClassTerminal), string(task.Classify(saying(text)).Class), text)
	}
}

func TestGivenClassStays(t *testing.T) {
	for _, class := range task.Classes() {
		f := task.Failure{Class: class, Name: "AbortError", HTTP: 503, Message: "quota exceeded"}
		require.Equal(t, f, task.Classify(f))
	}
}

func TestClassifyAddsAClassAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := task.Failure{
			Name: rapid.String().Draw(t, "name"), HTTP: rapid.IntRange(0, 600).Draw(t, "status"),
			Message: rapid.String().Draw(t, "message"),
		}
		got := task.Classify(f)
		require.Contains(t, task.Classes(), got.Class)
		got.Class = ""
		require.Equal(t, f, got)
	})
}

func TestTimeoutIsTheReasonOfATimeout(t *testing.T) {
	fresh := lived(t, newTask(t, 0), claims)
	for name, f := range map[string]task.Failure{
		"by name":    {Name: "TimeoutError"},
		"by status":  {HTTP: 504, Class: task.ClassTerminal},
		"by another": {HTTP: 408, Class: task.ClassUser},
	} {
		e := report(fresh, 1000, task.AttemptError)
		e.Failure = task.Classify(f)
		next, _, err := fresh.Step(e)
		require.NoError(t, err)
		require.Equal(t, task.Errored{Reason: task.ReasonTimeout}, next.Phase, name)
	}
}

// A session with an unknown error may continue; an attempt that ended with it is over.
func TestUnknownErrorOfASessionDoesNotEndIt(t *testing.T) {
	odd := task.Failure{Message: "the frobnicator is out of tune"}
	require.Equal(t, task.ClassTerminal, task.Classify(odd).Class)
	require.Equal(t, task.ClassTransient, task.ClassifySession(odd).Class)
	require.Equal(t, task.ClassProvider, task.ClassifySession(task.Failure{Message: "unknown provider"}).Class)
	odd.Class = task.ClassUser
	require.Equal(t, task.ClassUser, task.ClassifySession(odd).Class)
}
