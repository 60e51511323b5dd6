package task_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
)

func TestOffersAreRefusedWithTheOptionAtFault(t *testing.T) {
	two := []task.Option{{Label: "keep"}, {Label: "drop"}}
	many := make([]task.Option, task.MaxOptions+1)
	for _, c := range []struct {
		options      []task.Option
		closed       bool
		def          string
		after        int64
		at, contains string
	}{
		{many, false, "", 0, "/options", "at most 20"},
		{[]task.Option{{Label: "keep"}, {Label: " "}}, false, "", 0, "/options/1/label", "empty"},
		{[]task.Option{{Label: "keep"}, {Label: "\u200b"}}, false, "", 0, "/options/1/label", "visible"},
		{[]task.Option{{Label: "keep"}, {Label: "\u2800"}}, false, "", 0, "/options/1/label", "visible"},
		{[]task.Option{{Label: "keep\nthe data"}}, false, "", 0, "/options/0/label", "one line"},
		{[]task.Option{{Label: "\x1b[2Jkeep"}}, false, "", 0, "/options/0/label", "control"},
		{[]task.Option{{Label: "ke\u202eep"}}, false, "", 0, "/options/0/label", "invisible"},
		{[]task.Option{{Label: strings.Repeat("ä", task.MaxLabelRunes+1)}}, false, "", 0, "/options/0/label", "at most 200"},
		{[]task.Option{{Label: "keep", Detail: strings.Repeat("x", task.MaxDetailBytes+1)}}, false, "", 0, "/options/0/detail", "at most 4096"},
		{[]task.Option{{Label: "keep"}, {Label: "drop"}, {Label: " Keep "}}, false, "", 0, "/options/2/label", "the same as the label of /options/0"},
		{two, false, "burn", 0, "/default", `"keep", "drop"`},
		{two, false, "", 60_000_000, "/default_after_ms", "needs a default"},
		{two, false, "keep", 1000, "/default_after_ms", "between 1000 and"},
		{two, false, "keep", task.MaxDefaultAfter + 1, "/default_after_ms", "and 2592000000"},
		{nil, true, "", 0, "/allow_text", "could not be answered"},
		{nil, false, "keep", 0, "/default", "needs options"},
		{nil, false, "", 60_000_000, "/default_after_ms", "needs options"},
	} {
		_, err := task.NewOffer(c.options, c.closed, c.def, c.after)
		fault, ok := errors.AsType[*task.OfferError](err)
		require.True(t, ok, "%v: %v", c, err)
		require.Equal(t, c.at, fault.Pointer)
		require.Contains(t, fault.Error(), c.contains)
	}
}

func TestAnOfferComesBackAsItWasMade(t *testing.T) {
	o, err := task.NewOffer([]task.Option{{Label: " keep ", Detail: "costs 2 GB\nof disk"}, {Label: "<b>drop</b>"}}, true, "keep", 60_000_000)
	require.NoError(t, err)
	require.Equal(t, []task.Option{{Label: "keep", Detail: "costs 2 GB\nof disk"}, {Label: "<b>drop</b>"}}, o.Terms().Options)
	back, err := task.ParseOffer(o.String())
	require.NoError(t, err)
	require.Equal(t, o, back)
	terms := back.Terms()
	require.True(t, terms.Closed)
	require.Equal(t, "keep", terms.Default)
	require.Equal(t, int64(60_000_000), terms.After)

	other, err := task.NewOffer(o.Terms().Options, true, "KEEP", 60_000_000)
	require.NoError(t, err)
	require.Equal(t, o, other, "the default is spelled as the label")

	none, err := task.NewOffer(nil, false, "", 0)
	require.NoError(t, err)
	require.Equal(t, task.Offer{}, none)
	for _, text := range []string{"x", "{}", `{"options":"keep"}`} {
		_, err := task.ParseOffer(text)
		require.Error(t, err, text)
	}
}

// A bound may get tighter. The questions that were asked before stay readable.
func TestAStoredOfferIsNotJudgedAgain(t *testing.T) {
	for _, text := range []string{
		`{"options":[{"label":"a"},{"label":"A"}]}`,
		`{"options":[{"label":"` + strings.Repeat("x", task.MaxLabelRunes+1) + `"}],"default":"b","after":1}`,
	} {
		o, err := task.ParseOffer(text)
		require.NoError(t, err)
		require.Equal(t, text, o.String())
		require.NotEmpty(t, o.Terms().Options)
	}
}
