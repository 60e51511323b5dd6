package web_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A metric is one family as a strict reader has it: samples by their name and labels.
type metric struct {
	kind, help string
	samples    map[string]float64
	order      []string // the samples as they came
}

var (
	sampleLine = regexp.MustCompile(`^([a-z_]+)(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? (\S+)$`)
	helpLine   = regexp.MustCompile(`^# HELP ([a-z_]+) ([^\\]+)$`)
	typeLine   = regexp.MustCompile(`^# TYPE ([a-z_]+) (counter|gauge|histogram)$`)
	labelOf    = regexp.MustCompile(`([a-z]+)="([^"]*)"`)
	bucketLine = regexp.MustCompile(`^([a-z_]+)_bucket\{(.*,)?le="([^"]*)"\}$`)
)

// rounding is by how much sums of decimals may differ.
const rounding = 1e-9

// parse reads an exposition and refuses what Prometheus would, and what it only advises against: a family that comes
// twice or without its two lines, a sample that is of no family or comes twice, a counter that is called like none, and
// a histogram that does not add up.
func parse(t testing.TB, text string) map[string]*metric {
	t.Helper()
	require.True(t, strings.HasSuffix(text, "\n"))
	all := map[string]*metric{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	name := ""
	for i := 0; i < len(lines); i++ {
		if help := helpLine.FindStringSubmatch(lines[i]); help != nil {
			name = help[1]
			kind := typeLine.FindStringSubmatch(lines[i+1])
			require.NotNil(t, kind, lines[i+1])
			require.Equal(t, name, kind[1])
			require.Nil(t, all[name], "%s comes twice", name)
			require.Equal(t, kind[2] == "counter", strings.HasSuffix(name, "_total"), name)
			all[name] = &metric{kind: kind[2], help: help[2], samples: map[string]float64{}}
			i++
			continue
		}
		s := sampleLine.FindStringSubmatch(lines[i])
		require.NotNil(t, s, lines[i])
		require.Contains(t, all, name, "%s is of no family", lines[i])
		family := s[1]
		if all[name].kind == "histogram" {
			family = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(family, "_bucket"), "_sum"), "_count")
			require.NotEqual(t, family, s[1])
		}
		require.Equal(t, name, family, "a sample among those of another")
		value, err := strconv.ParseFloat(s[4], 64)
		require.NoError(t, err, lines[i])
		require.False(t, math.IsInf(value, 0) || math.IsNaN(value), lines[i])
		key := s[1] + s[2]
		require.NotContains(t, all[name].samples, key)
		require.GreaterOrEqual(t, value, 0.0, lines[i])
		all[name].samples[key] = value
		all[name].order = append(all[name].order, key)
	}
	for name, m := range all {
		if m.kind == "histogram" {
			m.addsUp(t, name)
		}
	}
	return all
}

// addsUp refuses histograms whose buckets do not ascend, do not have all that those before them have, or end without
// one of everything, and those whose sum no values could have that are in these buckets.
func (m *metric) addsUp(t testing.TB, name string) {
	t.Helper()
	type series struct{ bound, inside, least, most float64 }
	of := map[string]*series{} // by the labels but le
	for _, key := range m.order {
		found := bucketLine.FindStringSubmatch(key)
		if found == nil {
			continue
		}
		labels := strings.TrimSuffix(found[2], ",")
		if of[labels] == nil {
			of[labels] = &series{bound: math.Inf(-1)}
		}
		s := of[labels]
		bound, err := strconv.ParseFloat(found[3], 64)
		require.NoError(t, err, key)
		more := m.samples[key] - s.inside
		require.Greater(t, bound, s.bound, key)
		require.GreaterOrEqual(t, more, 0.0, key)
		if more > 0 {
			s.least += more * max(s.bound, 0)
			s.most += more * bound
		}
		s.bound, s.inside = bound, m.samples[key]
	}
	require.NotEmpty(t, of, name)
	for labels, s := range of {
		if labels != "" {
			labels = "{" + labels + "}"
		}
		require.True(t, math.IsInf(s.bound, 1), "%s%s has no bucket of everything", name, labels)
		require.Contains(t, m.samples, name+"_count"+labels)
		require.Contains(t, m.samples, name+"_sum"+labels)
		require.Equal(t, s.inside, m.samples[name+"_count"+labels], name+labels)
		sum := m.samples[name+"_sum"+labels]
		require.True(t, s.least-rounding <= sum && sum <= s.most+rounding, "%s_sum%s is %v, and must be from %v to %v", name, labels, sum, s.least, s.most)
	}
	require.Len(t, m.samples, len(m.order))
}

// familyOf gives the name of the metric that a sample is of.
func familyOf(sample string) string {
	name, _, _ := strings.Cut(sample, "{")
	for _, part := range []string{"_bucket", "_sum", "_count"} {
		name = strings.TrimSuffix(name, part)
	}
	return name
}

// labels gives the names of the labels that the samples of a metric have, without le.
func (m *metric) labels() map[string]bool {
	names := map[string]bool{}
	for sample := range m.samples {
		for _, label := range labelOf.FindAllStringSubmatch(sample, -1) {
			if label[1] != "le" {
				names[label[1]] = true
			}
		}
	}
	return names
}
