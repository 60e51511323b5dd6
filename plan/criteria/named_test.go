package criteria_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan/criteria"
	"waybill/test/slow"
)

// kiroRain numbers its criteria below the headings of requirements.
const kiroRain = `# Requirements

## Introduction
The station SHALL be cheap.

### Requirement 1: Rain gauge
**User Story:** As a farmer, I want to know how much it rained.

#### Acceptance Criteria
1. WHEN it rains THEN the gauge SHALL count
   - each drop
   - in its hour
2. WHERE there is no mains the gauge runs
   on a battery
3. THE gauge SHALL be white

### Requirement 2
#### Acceptance Criteria
1. IF it is full THEN it SHALL say so
#### Notes
1. The paint is expensive
`

// dashed has ids of letters.
const dashed = `## Functional Requirements
- **FR-001**: System MUST keep what was measured
- **FR-002** (P1): System MUST answer within
  a second
* [ ] FR-010: System MUST be [NEEDS CLARIFICATION: quiet?]

**NFR-1**: it is small

### REQ-3: Siren
The siren SHALL sound
when it rains.

Nobody hears it.

**Acceptance Criteria:**
- AC-3.1: it is loud
- it is red
**Notes:**
- it is old

## Traceability
- FR-001: see T004
- FR-002 is what REQ-3 says: it MUST be quick
- UTF-8: an encoding
SC-1 is about money
`

// stories has scenarios.
const stories = `### User Story 1 - Read the gauge (Priority: P1)
**Acceptance Scenarios**:

1. **Given** rain, **When** I look, **Then** I see it
2. **Given** none, **When** I look, **Then** I see zero

### User Story 2 - Hear it
**Acceptance Scenarios**:
1. **Given** rain, **When** I sleep, **Then** I wake
`

// nested numbers its headings.
const nested = `## 1. Gauge
### 1.1 Glass
- WHEN it hails the glass SHALL hold
### 2 Stand
- 1.2.7 WHEN it blows the stand SHALL hold
1. IF it falls it MUST ring
## 2) Siren
#2 is loud and SHALL be
2. WHEN a SHALL b
2. WHEN c SHALL d
`

// oneStory numbers its criteria below no requirement.
const oneStory = `# Story 4
## Acceptance Criteria
1. three columns
2. no prices

## Tasks / Subtasks
- [ ] Task 1: Menu (AC: 1)
`

func said(criteria []criteria.Criterion) string {
	var b strings.Builder
	for _, c := range criteria {
		fmt.Fprintf(&b, "%d [%s] <%s> %s\n", c.Line, c.ID, c.Requirement, c.Text)
	}
	return b.String()
}

func TestCriteriaHaveTheIdsOfTheirFile(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"kiro": {kiroRain, `10 [1.1] <1> WHEN it rains THEN the gauge SHALL count - each drop - in its hour
13 [1.2] <1> WHERE there is no mains the gauge runs on a battery
15 [1.3] <1> THE gauge SHALL be white
19 [2.1] <2> IF it is full THEN it SHALL say so
`},
		"letters": {dashed, `2 [FR-001] <> System MUST keep what was measured
3 [FR-002] <> (P1): System MUST answer within a second
5 [FR-010] <> System MUST be [NEEDS CLARIFICATION: quiet?]
7 [NFR-1] <> it is small
10 [] <REQ-3> The siren SHALL sound when it rains.
16 [AC-3.1] <REQ-3> it is loud
17 [] <REQ-3> it is red
`},
		"stories": {stories, `4 [US1.1] <US1> Given rain, When I look, Then I see it
5 [US1.2] <US1> Given none, When I look, Then I see zero
9 [US2.1] <US2> Given rain, When I sleep, Then I wake
`},
		"nested": {nested, `3 [] <1.1> WHEN it hails the glass SHALL hold
5 [1.2.7] <1.2> WHEN it blows the stand SHALL hold
6 [1.2.1] <1.2> IF it falls it MUST ring
9 [2.2] <2> WHEN a SHALL b
10 [] <2> WHEN c SHALL d
`},
		"story": {oneStory, "3 [1] <> three columns\n4 [2] <> no prices\n"},
		"lists": {
			"1. WHEN a SHALL b\n2. WHEN c SHALL d\n\nThen:\n1. WHEN e SHALL f\n",
			"1 [] <> WHEN a SHALL b\n2 [2] <> WHEN c SHALL d\n5 [] <> WHEN e SHALL f\n",
		},
		"marks": {"<!-- AC:BEGIN -->\n- [x] #2 a\n- [ ] #1 b\n- \n<!-- AC:END -->\n", "2 [2] <> a\n3 [1] <> b\n"},
		"names": {
			"### Requirement REQ-7 - a\n- WHEN b SHALL c\n### Requirement: d\n- WHEN e SHALL f\n### Req #2\nWHEN g SHALL h\n### REQ-SEC-1\n- x SHALL y\n### us-1\n- x SHALL y",
			"2 [] <REQ-7> WHEN b SHALL c\n4 [] <> WHEN e SHALL f\n6 [] <2> WHEN g SHALL h\n8 [] <REQ-SEC-1> x SHALL y\n",
		},
		"chapters of a file that names its requirements": {
			"## 1. Introduction\nIt MUST be read\n### 1.2 Goals\nAll MUST be happy\n## 2. Requirements\n### Requirement 1: a\n1. WHEN a SHALL b\n2. WHEN c SHALL d\n" +
				"#### 1.3 Rain\n- IF e SHALL f\n#### 2.1 Sun\n3. IF g SHALL h\n## 3. Notes\nThey MUST go\n",
			"7 [1.1] <1> WHEN a SHALL b\n8 [1.2] <1> WHEN c SHALL d\n10 [] <1.3> IF e SHALL f\n12 [1.3] <1> IF g SHALL h\n",
		},
		"all have the number 1": {
			"### Requirement 1\n1. a SHALL b\n   1. c SHALL d\n\n1. e SHALL f\n   - g\n1. h SHALL i\n\n# Requirement 2\n1. j SHALL k\n\nMore:\n1. l SHALL m\n",
			"2 [1.1] <1> a SHALL b\n3 [] <1> c SHALL d\n5 [1.2] <1> e SHALL f\n7 [1.3] <1> h SHALL i\n10 [2.1] <2> j SHALL k\n13 [] <2> l SHALL m\n",
		},
		"a struck criterion keeps its place in the list": {"### Requirement 1\n1. ~~a SHALL b~~\n1. c SHALL d\n", "3 [1.2] <1> c SHALL d\n"},
		"a sentence in a paragraph":                      {"# 1 a\nNotes\nWHEN b SHALL c\n", "3 [] <1> WHEN b SHALL c\n"},
		"labels": {
			"Acceptance criteria:\n- a\n\n**b** and c\n- d\n\n**Acceptance Criteria**\n- e\n**with** f\n- g\n**h:**\n- i\n",
			"2 [] <> a\n8 [] <> e **with** f\n10 [] <> g\n",
		},
		"a definition of done":   {"## Definition of Done\n- swept\n", ""},
		"dashes":                 {"FR-1 – a\n\n**FR-2** — b\n\nFR-3 - c\n\nFR-4 d\n\n`FR-5`: e", "1 [FR-1] <> a\n3 [FR-2] <> b\n5 [FR-3] <> c\n9 [FR-5] <> e\n"},
		"ids in other spellings": {"- FR-1: a\n- FR-001: b\n- fr-2: c\n- FR-2x: d\n- FR-: e\n- FR: f\n- -1: g\n", "1 [FR-1] <> a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, said(criteria.Read([]byte(c.text))))
		})
	}
}

func TestItemsHaveTheCriteriaThatTheyName(t *testing.T) {
	for _, c := range []struct{ name, text, requirements, lines string }{
		{"one", kiroRain, "1.2", "13"},
		{"a whole requirement", kiroRain, "1", "10 13 15"},
		{"in the order of the file, once", kiroRain, "2.1|1.3|1.3|2", "15 19"},
		{"a range", kiroRain, "1.2-1.3", "13 15"},
		{"a short range", kiroRain, "1.1–2", "10 13"},
		{"a range of requirements", kiroRain, "1-2", "10 13 15 19"},
		{"a range in words", kiroRain, "Requirements 1.1 to 1.2", "10 13"},
		{"a range backwards", kiroRain, "1.3-1.1", ""},
		{"a range of two requirements", kiroRain, "1.1-2.1", ""},
		{"all", kiroRain, "All", "10 13 15 19"},
		{"with a word", kiroRain, "Requirement 1.1|Req 2", "10 19"},
		{"not there", kiroRain, "3|1.4|10|1.1.1", ""},
		{"no id", kiroRain, "rain|NFR||.|1.|-", "10 13 15"},
		{"nothing", kiroRain, "", ""},
		{"letters", dashed, "FR-1|fr-002", "2 3"},
		{"a heading of letters", dashed, "REQ-3", "10 16 17"},
		{"no other letters", dashed, "NFR-001|R-3|3|1", "7"},
		{"a range of letters", dashed, "FR-002-FR-010", "3 5"},
		{"a short range of letters", dashed, "FR-001..2", "2 3"},
		{"criteria with letters", dashed, "AC-3.1", "16"},
		{"a story", stories, "US1", "4 5"},
		{"a scenario", stories, "US-2.1", "9"},
		{"nested", nested, "1", "3 5 6"},
		{"a number that a list has twice", nested, "2.2", "9"},
		{"criteria of a story", oneStory, "AC 2", "4"},
		{"a range of them", oneStory, "AC 1-2", "3 4"},
		{"all of them", oneStory, "AC all", "3 4"},
		{"criteria of a requirement are none of a story", kiroRain, "AC 1", ""},
		{"with and", kiroRain, "1.1 and 1.2", "10 13"},
		{"with signs", kiroRain, "1.1; 1.3|2.1/9 & 7", "10 15 19"},
		{"a list and a range", kiroRain, "1.1-1.2, Requirement 2 and 7", "10 13 19"},
		{"with R", kiroRain, "R1.1|R2|REQ-1.2", "10 13 19"},
		{"with R where ids have it", dashed + "\n# 1 x\n1. WHEN a SHALL b\n", "REQ-1", ""},
		{"with a remark", kiroRain, "1.1 (partially)", "10"},
		{"a link", kiroRain, "[1.1](requirements.md#requirement-1)", "10"},
		{"all of them in words", kiroRain, "all requirements", "10 13 15 19"},
		{"a story with a hyphen", stories, "US-1", "4 5"},
		{"a heading of a story in short", "### US2 - x\n- a SHALL b\n", "US-2", "2"},
		{"none", kiroRain, "None|N/A|n/a|-", ""},
		{"criteria with letters are none without", dashed + "\n# x\n1. WHEN a SHALL b\n", "AC 1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lines []string
			for _, found := range named(strings.Split(c.requirements, "|"), criteria.Read([]byte(c.text))) {
				lines = append(lines, fmt.Sprint(found.Line))
			}
			require.Equal(t, c.lines, strings.Join(lines, " "))
		})
	}
	require.Nil(t, named([]string{"9"}, criteria.Read([]byte(kiroRain))))
	require.Nil(t, named(nil, criteria.Read([]byte(kiroRain))))
}

// The caller may do what it likes with the list.
func TestCriteriaOfSharesNoList(t *testing.T) {
	all := criteria.Read([]byte(kiroRain))
	for _, name := range []string{"All", "1"} {
		named([]string{name}, all)[0].Text = "smeared"
	}
	require.Equal(t, criteria.Read([]byte(kiroRain)), all)
}

func TestCriteriaOfCostsInProportion(t *testing.T) {
	all := criteria.Read([]byte(strings.Repeat("- 1.2.3.4.5.6 WHEN a SHALL b\n", 1000)))
	require.Len(t, all, 1000)
	for _, name := range []string{"1.2", "1.2-1.9", "7-9", strings.Repeat("-1", 1<<16), strings.Repeat("1.", 1<<16), strings.Repeat("a", 1<<16) + "-1", strings.Repeat("1;", 1<<8), strings.Repeat(" and ", 1<<8)} {
		names := make([]string, 1000)
		for i := range names {
			names[i] = name
		}
		require.LessOrEqual(t, len(named(names, all)), 1000)
	}
}

// What was in bold type began with a blank, and one of nothing but marks would be a criterion without a word.
func TestDefect_CriteriaInBoldTypeBeginWithTheirWords(t *testing.T) {
	const text = "### Requirement 1\n#### Acceptance Criteria\n1. ** rain,***\n2. ** WHEN it rains** THEN it SHALL ring\n"
	for _, c := range criteria.Read([]byte(text)) {
		require.Equal(t, strings.TrimSpace(c.Text), c.Text)
		require.NotEmpty(t, c.Text)
	}
}

func FuzzNamed(f *testing.F) {
	for _, text := range []string{kiroRain, dashed, stories, nested, oneStory} {
		for _, names := range []string{"1", "1.1-1.3", "FR-001 to 2|REQ-3", "AC 1|US1", "all"} {
			f.Add([]byte(text), names)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, names string) {
		slow.InTime(t)
		all, ids, last := criteria.Read(text), map[string]bool{}, 0
		for _, c := range all {
			require.Greater(t, c.Line, last)
			last = c.Line
			require.NotEmpty(t, c.Text)
			require.Equal(t, strings.TrimSpace(c.Text), c.Text)
			require.False(t, c.ID != "" && ids[c.ID], "two have id %s", c.ID)
			ids[c.ID] = true
			if c.ID != "" {
				require.Contains(t, named([]string{c.ID}, all), c)
			}
			if c.Requirement != "" {
				require.Contains(t, named([]string{c.Requirement}, all), c)
			}
		}
		rest := all
		for _, c := range named(strings.Split(names, "|"), all) {
			for rest[0] != c {
				rest = rest[1:]
			}
			rest = rest[1:]
		}
	})
}

func TestWordsThatNameNoCriteria(t *testing.T) {
	for names, none := range map[string]bool{
		"": true, "None": true, "N/A": true, "n/a|-": true, "(none)": true, "*Not applicable*": true, "–": true,
		"1": false, "None|1": false, "Nonesuch": false, "all": false,
	} {
		require.Equal(t, none, criteria.NamesNone(strings.Split(names, "|")), "%q", names)
	}
	require.True(t, criteria.NamesNone(nil))
}

func named(names []string, all []criteria.Criterion) []criteria.Criterion {
	list, _ := criteria.Named(names, all)
	return list
}

// An item that named one criterion that is there and one that is not had the first, and not a word about the other.
func TestDefect_NamesThatNothingHasAreSaid(t *testing.T) {
	all := criteria.Read([]byte(kiroRain))
	for names, want := range map[string][]string{
		"1.1": nil, "1": nil, "1|1.1": nil, "1.1|9.9": {"9.9"}, "1.1 and 9.9": {"9.9"}, "9.1-9.3|1.1": {"9.1-9.3"},
		"1.1|the tone of the house": {"the tone of the house"}, "All|9.9": nil, "None": nil, "REQ-77": {"REQ-77"},
	} {
		_, unmet := criteria.Named(strings.Split(names, "|"), all)
		require.Equal(t, want, unmet, names)
	}
}
