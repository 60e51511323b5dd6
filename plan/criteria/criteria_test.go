package criteria_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"waybill/plan/criteria"
	"waybill/test/slow"
)

func TestAcceptanceCriteria(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "WHEN it rains THEN the siren SHALL sound", "1 WHEN it rains THEN the siren SHALL sound"},
		{
			"markers", "- WHEN a SHALL b\n* IF c SHALL d\n+ WHEN e SHALL f\n1. WHEN g SHALL h\n2) IF i SHALL j\n3.4 WHEN k SHALL l\n> WHEN m SHALL n\n- [ ] WHEN o SHALL p\n1: IF q SHALL r",
			"1 WHEN a SHALL b|2 IF c SHALL d|3 WHEN e SHALL f|4 WHEN g SHALL h|5 IF i SHALL j|6 WHEN k SHALL l|7 WHEN m SHALL n|8 WHEN o SHALL p|9 IF q SHALL r",
		},
		{
			"bold", "**WHEN** a **THEN** b **SHALL** c\n- **1.2** WHEN d SHALL e\n__IF__ f __SHALL NOT__ g\n**WHEN h SHALL i**\n**1.** **IF** j SHALL k",
			"1 WHEN a THEN b SHALL c|2 WHEN d SHALL e|3 IF f SHALL NOT g|4 WHEN h SHALL i|5 IF j SHALL k",
		},
		{"other cases", "when a SHALL b\nWhen c SHALL d\n\nWHEN e shall f\n\nIf g SHALL h", ""},
		{"parts of words", "WHENEVER a SHALL b\n\nIFF c SHALL d\n\nWHEN e SHALLOW f\n\nWHEN g MARSHALL h\n\nWHENÉ i SHALL j", ""},
		{"SHALL behind a mark", "IF a, it `SHALL` b\n\nWHEN c (SHALL) d\n\nWHEN e it SHALL, f", "1 IF a, it `SHALL` b|3 WHEN c (SHALL) d|5 WHEN e it SHALL, f"},
		{"the second SHALL is one", "WHEN SHALLOW water comes the gate SHALL close", "1 WHEN SHALLOW water comes the gate SHALL close"},
		{"not at the beginning", "The siren SHALL sound WHEN it rains\n", ""},
		{"further lines", "- WHEN a\n  THEN b\nSHALL c\n\nd\n", "1 WHEN a THEN b SHALL c"},
		{"further lines that begin with a number", "WHEN a it SHALL wait\n3 seconds or\n1.5 minutes", "1 WHEN a it SHALL wait 3 seconds or 1.5 minutes"},
		{"further lines that begin like a number", "WHEN a it SHALL begin at\n10:30 or\n-5 degrees", "1 WHEN a it SHALL begin at 10:30 or -5 degrees"},
		{"a list item ends it", "WHEN a\n- it SHALL b\n1. it SHALL c\nIF d SHALL e\n- more", "4 IF d SHALL e"},
		{"a heading ends it", "WHEN a\n# SHALL\nWHEN b SHALL c\n## d", "3 WHEN b SHALL c"},
		{"the next one ends it", "WHEN a SHALL b\nIF c\nSHALL d\nWHEN e SHALL f", "1 WHEN a SHALL b|2 IF c SHALL d|4 WHEN e SHALL f"},
		{"conditions of one", "WHEN a\nIF b THEN c SHALL d", "1 WHEN a IF b THEN c SHALL d"},
		{"fences", "```\nWHEN a SHALL b\n```\nWHEN c SHALL d\n~~~~ md\n~~~\nWHEN e SHALL f\n~~~~\nIF g SHALL h\n```", "4 WHEN c SHALL d|9 IF g SHALL h"},
		{"a fence ends it", "WHEN a\n```\n```\nSHALL b", ""},
		{"line ends", "\ufeffWHEN a\r\n  SHALL b  \r\n\r\n\rIF c SHALL d\r", "1 WHEN a SHALL b|5 IF c SHALL d"},
		{"no text", "WHEN a\xff SHALL b", "1 WHEN a\ufffd SHALL b"},
		{
			"between marks", "- one\n<!-- AC:BEGIN -->\n- [x] #1 thinner than\n  paper\n- [ ] #2 no burr\n<!-- AC:END -->\n- [ ] #3 a note\n<!-- DOD:BEGIN -->\n- [ ] #1 swept\n<!-- DOD:END -->",
			"3 thinner than paper|5 no burr",
		},
		{"comments", "<!--\n1. WHEN old SHALL go\n-->\n1. WHEN a SHALL b\n<!-- IF c SHALL d --> IF e <!-- f -->SHALL g\n<!-- \n--> <!-- h\n--> WHEN i SHALL j", "4 WHEN a SHALL b|5 IF e SHALL g|8 WHEN i SHALL j"},
		{"a comment within", "- WHEN a\n  <!-- b\n  c -->\n  SHALL d", "1 WHEN a SHALL d"},
		{"empty comments", "<!--> WHEN a SHALL b\n<!---> WHEN c SHALL d\n<!-- -- > -->\nIF e SHALL f", "1 WHEN a SHALL b|2 WHEN c SHALL d|4 IF e SHALL f"},
		{"no comment that nothing ends", "WHEN a --> b SHALL c\n\nWHEN <!-- d SHALL e\nWHEN f SHALL g\n<!--", "1 WHEN a --> b SHALL c|3 WHEN <!-- d SHALL e|4 WHEN f SHALL g <!--"},
		{"no comment in code", "WHEN `<!--` a SHALL b\nWHEN c SHALL `-->`\n```\n<!--\n```\nIF d SHALL e\n-->", "1 WHEN `<!--` a SHALL b|2 WHEN c SHALL `-->`|6 IF d SHALL e -->"},
		{"marks in a comment", "<!--\n<!-- AC:BEGIN -->\n- old\n", ""},
		{"struck out", "1. ~~WHEN a SHALL b~~\n~~2. WHEN c SHALL d~~\n3. WHEN ~~e~~ f SHALL g\n# Acceptance criteria\n- ~~h~~\n  - i\n- ~~j\n  k~~\n- l ~~m~~\n~~n~~", "3 WHEN ~~e~~ f SHALL g|9 l ~~m~~ ~~n~~"},
		{"nothing", "", ""},
		{"marks only", "- \n*\n1.\n**\n__\n>\n[\n[ ]\n- - -\nWHEN\nIF", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, criterion := range criteria.Read([]byte(c.text)) {
				got = append(got, fmt.Sprintf("%d %s", criterion.Line, criterion.Text))
			}
			require.Equal(t, c.want, strings.Join(got, "|"))
		})
	}
}

func TestAcceptanceCriteriaAreBounded(t *testing.T) {
	found := criteria.Read([]byte(strings.Repeat("- WHEN a SHALL b\n", 1001)))
	require.Len(t, found, 1000)
	require.Equal(t, 1000, found[999].Line, "the first ones are given")
}

// Lines that look like ever more of the same would take minutes if each part were looked at again for each.
func TestAcceptanceCriteriaCostInProportion(t *testing.T) {
	for _, part := range []string{"**- ", "> ", "1.", "1. ", "__", "`", "WHEN a\n", "IF SHALL ", "- WHEN\r", "[ ] ", "<!--", "-->", "<!-->", "<!-- -->\n", "`<!--", "~~", "# 1 a\n"} {
		for _, end := range []string{"", "WHEN a SHALL b"} {
			require.LessOrEqual(t, len(criteria.Read([]byte(strings.Repeat(part, 1<<18)+end))), 1)
		}
	}
}

func FuzzAcceptanceCriteria(f *testing.F) {
	for _, seed := range []string{
		"", "- WHEN a\n  SHALL b\n```\nIF c SHALL d\n```\n", "1. **IF** a **SHALL** b\r\n", "> > - [x] 1.2) WHEN SHALL", "**1.1**** WHEN__ SHALL",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		slow.InTime(t)
		found, last := criteria.Read(text), 0
		require.LessOrEqual(t, len(found), 1000)
		for _, c := range found {
			require.Greater(t, c.Line, last)
			last = c.Line
			require.True(t, strings.HasPrefix(c.Text, "WHEN") || strings.HasPrefix(c.Text, "IF"), "%q", c.Text)
			require.Contains(t, c.Text, "SHALL")
			require.NotContains(t, c.Text, "\n")
			require.True(t, utf8.ValidString(c.Text))
			require.Equal(t, strings.TrimSpace(c.Text), c.Text)
		}
		windows := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r", "\n"), "\n", "\r\n")
		require.Equal(t, criteria.Read([]byte(strings.ReplaceAll(string(text), "\r", "\n"))), criteria.Read([]byte(windows)))
	})
}
