package core_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
)

func named(name string) core.Failure   { return core.Failure{Name: name} }
func saying(text string) core.Failure  { return core.Failure{Message: text} }
func answered(status int) core.Failure { return core.Failure{HTTP: status} }

// sample is a failure of which nothing is known but that it fits one word of a rule.
func sample(rule core.ClassRule, word string) core.Failure {
	if rule.Of == "name" {
		return named(word)
	}
	return saying("Sorry: " + strings.ToUpper(strings.ReplaceAll(word, "+", "... ")) + "; bye")
}

// Each word and each code of the table decides, and does what its row says, unless a row further up
// knows the same and comes first on purpose.
func TestEveryWordOfTheTableIsRecognised(t *testing.T) {
	for i, rule := range core.ClassRules() {
		require.NotEmpty(t, rule.Why)
		require.Contains(t, core.Classes(), rule.Class)
		require.Equal(t, rule.Of == "status", len(rule.Codes) > 0, "row %d", i)
		require.Equal(t, rule.Of != "status", len(rule.Words) > 0, "row %d", i)
		for _, word := range rule.Words {
			require.Equal(t, strings.ToLower(word), word, "it is compared in lower case")
			require.Equal(t, string(rule.Class), string(core.Classify(sample(rule, word)).Class), "row %d: %q", i, word)
		}
		for _, code := range rule.Codes {
			require.Equal(t, string(rule.Class), string(core.Classify(answered(code)).Class), "row %d: %d", i, code)
		}
	}
}

// What hosts and providers are known to say.
func TestKnownFailuresHaveTheirClass(t *testing.T) {
	for class, failures := range map[core.Class][]core.Failure{
		core.ClassUser: {
			named("MessageAbortedError"), named("AbortError"), named("PermissionDeniedError"), named("UserError"),
			named("QuotaExceededError"), named("InsufficientCreditsError"), named("FreeUsageLimitError"), answered(402),
			saying("Quota exceeded for this project"), saying("Your quota will reset after 5h"),
			saying("You have reached your billing limit"), saying("monthly usage limit reached"), saying("Daily limit hit"),
			saying("You hit your plan's limit"), saying("Subscription limit reached"), saying("free-usage limit"),
			saying("Your credits are exhausted"), saying("out of credits"), saying("Insufficient credit"),
			saying("insufficient account balance"), saying("Account balance exhausted"), saying("balance is too low"),
			saying("Payment required"), saying("Capacity for your account exhausted"), saying("account in arrears"),
			saying("blocked by the fair use policy"), saying("已达到使用上限"), saying("额度不足"), saying("账户余额不足"), saying("资源已耗尽"),
		},
		core.ClassTerminal: {
			named("ContextLengthError"), named("TimeoutError"), named("ValidationError"), named("SyntaxError"),
			answered(400), answered(413), answered(422),
			{},
			saying("it broke"), named("SomethingNew"), answered(418),
		},
		core.ClassProvider: {
			named("RateLimitError"), named("ModelUnavailableError"), named("ProviderModelNotFoundError"),
			named("ProviderConnectionError"), named("AuthenticationError"), named(" authenticationerror\n"),
			answered(401), answered(403), answered(404), answered(429),
			saying("Rate limit reached"), saying("rate_limit_error"), saying("usage limit reached"), saying("Too many requests"),
			saying("No provider configured"), saying("Provider not available"), saying("provider not found"),
			saying("Provider not configured"), saying("The selected provider is forbidden"), saying("Unknown provider: acme"),
			saying("Model not supported"), saying("model_not_supported"), saying("model-not-supported"), saying("ModelNotSupported"),
			saying("Model not found: x"), saying("model_not_found"), saying("model-not-found"), saying("ModelNotFoundError"),
			saying("API key missing"), saying("missing API_KEY"), saying("Auth key not configured"), saying("no auth-key"),
			saying("apiKey is required"), saying("No models available"), saying("There are no connected providers"),
			saying("all providers are unavailable"), saying("All providers disconnected"), saying("all providers exhausted"),
			saying("The model is currently unavailable"), saying("频率限制"), saying("请求过于频繁"),
			saying("insufficient_quota"), saying("check your credit"), saying("balance?"), saying("Not Found"), saying("Bad Request"),
		},
		core.ClassTransient: {
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
			require.Equal(t, string(class), string(core.Classify(f).Class), "%+v", f)
		}
	}
}

// What needs a person must not be drowned by a word that says try again.
func TestStopBeatsTryAgain(t *testing.T) {
	for _, f := range []core.Failure{
		saying("429 Too many requests: monthly limit reached, please try again"),
		saying("rate limit: your credits are exhausted"),
		{HTTP: 429, Message: "You exceeded your current quota, please check your plan and billing details"},
		{Name: "RateLimitError", HTTP: 429, Message: "x"},
		{HTTP: 503, Message: "额度不足，请稍后重试"},
		{Name: "AbortError", HTTP: 503, Message: "overloaded"},
	} {
		want := core.ClassUser
		if f.Name == "RateLimitError" {
			want = core.ClassProvider // a name of its own comes before every message
		}
		require.Equal(t, string(want), string(core.Classify(f).Class), "%+v", f)
	}
}

// A bad request is hopeless only if nothing says that it is this provider's problem.
func TestBadRequestAboutAKeyOrAModelIsTheProviders(t *testing.T) {
	require.Equal(t, core.ClassProvider, core.Classify(core.Failure{HTTP: 400, Message: "API key not valid"}).Class)
	require.Equal(t, core.ClassProvider, core.Classify(core.Failure{HTTP: 400, Message: "model_not_supported"}).Class)
	require.Equal(t, core.ClassTerminal, core.Classify(core.Failure{HTTP: 400, Message: "prompt is too long; timeout 3"}).Class)
}

// A number or a short word inside another one says nothing.
func TestPartsOfWordsAndNumbersDoNotDecide(t *testing.T) {
	for _, text := range []string{
		"request 14290 broke", "line 5031", "id a429b", "explanation over the limit", "planner limit", "accredited",
		"rebalanced", "piano models",
	} {
		require.Equal(t, string(core.ClassTerminal), string(core.Classify(saying(text)).Class), text)
	}
}

func TestGivenClassStays(t *testing.T) {
	for _, class := range core.Classes() {
		f := core.Failure{Class: class, Name: "AbortError", HTTP: 503, Message: "quota exceeded"}
		require.Equal(t, f, core.Classify(f))
	}
}

func TestClassifyAddsAClassAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := core.Failure{
			Name: rapid.String().Draw(t, "name"), HTTP: rapid.IntRange(0, 600).Draw(t, "status"),
			Message: rapid.String().Draw(t, "message"),
		}
		got := core.Classify(f)
		require.Contains(t, core.Classes(), got.Class)
		got.Class = ""
		require.Equal(t, f, got)
	})
}

func TestTimeoutIsTheReasonOfATimeout(t *testing.T) {
	fresh := lived(t, newTask(t, 0), claims)
	for name, f := range map[string]core.Failure{
		"by name":    {Name: "TimeoutError"},
		"by status":  {HTTP: 504, Class: core.ClassTerminal},
		"by another": {HTTP: 408, Class: core.ClassUser},
	} {
		e := report(fresh, 1000, core.AttemptError)
		e.Failure = core.Classify(f)
		next, _, err := fresh.Step(e)
		require.NoError(t, err)
		require.Equal(t, core.TaskErrored{Reason: core.ReasonTimeout}, next.Phase, name)
	}
}

// A session that says something nobody knows may go on; an attempt that ended with it is over.
func TestUnknownErrorOfASessionDoesNotEndIt(t *testing.T) {
	odd := core.Failure{Message: "the frobnicator is out of tune"}
	require.Equal(t, core.ClassTerminal, core.Classify(odd).Class)
	require.Equal(t, core.ClassTransient, core.ClassifySession(odd).Class)
	require.Equal(t, core.ClassProvider, core.ClassifySession(core.Failure{Message: "unknown provider"}).Class)
	odd.Class = core.ClassUser
	require.Equal(t, core.ClassUser, core.ClassifySession(odd).Class)
}
