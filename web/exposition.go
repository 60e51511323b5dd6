package web

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"waybill/meter"
)

// An exposition is metrics in the text format of Prometheus, version 0.0.4.
//
// It is written here because what is shown was counted elsewhere, by packages that know no library for metrics, and has
// to be shown as it was counted. github.com/VictoriaMetrics/metrics, the small one among those that are well kept,
// cannot do that. Its HELP is empty whatever one does, and whether there is HELP and TYPE at all is a switch of the whole
// process. The histograms of version 1.35 have no bounds but ranges of their own, which Prometheus does not read; those
// with fixed bounds, of later versions, are filled one value at a time and never from buckets that were counted, and
// one without a value is left out. Prometheus' own client can do all of it, for 3 MB and nine modules in the binary.
type exposition struct{ bytes.Buffer }

// The kinds of metrics.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

// family begins the samples of a metric. Every name but those of the runtime begins with waybill_.
func (x *exposition) family(name, kind, help string) {
	x.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
}

// sample writes one value, with labels in pairs of name and value.
func (x *exposition) sample(name string, value float64, labels ...string) {
	x.WriteString(name)
	for i := 0; i < len(labels); i += 2 {
		x.WriteByte("{,"[min(i, 1)])
		x.WriteString(labels[i] + `="` + escaped.Replace(strings.ToValidUTF8(labels[i+1], "?")) + `"`)
	}
	if len(labels) > 0 {
		x.WriteByte('}')
	}
	x.WriteString(" " + number(value) + "\n")
}

var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func number(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// one writes a metric that has one sample.
func (x *exposition) one(name, kind, help string, value float64) {
	x.family(name, kind, help)
	x.sample(name, value)
}

// by writes a metric with a sample for each value of a label, which must be one of few.
func by[K ~string, N int | int64](x *exposition, name, kind, help, label string, values map[K]N) {
	x.family(name, kind, help)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		x.sample(name, float64(values[key]), label, string(key))
	}
}

// spread writes the samples of a histogram, in the given unit.
func spread[N ~int64](x *exposition, name string, s meter.Spread[N], unit N, labels ...string) {
	in := func(n N) float64 { return float64(n) / float64(unit) }
	bucket := func(n int64, le string) {
		x.sample(name+"_bucket", float64(n), append(slices.Clone(labels), "le", le)...)
	}
	sum := int64(0)
	for i, bound := range s.Bounds {
		sum += s.Within[i]
		bucket(sum, number(in(bound)))
	}
	bucket(s.Count, "+Inf")
	x.sample(name+"_sum", in(s.Sum), labels...)
	x.sample(name+"_count", float64(s.Count), labels...)
}

// oneSpread writes a metric that is one histogram.
func oneSpread[N ~int64](x *exposition, name, help string, s meter.Spread[N], unit N) {
	x.family(name, histogram, help)
	spread(x, name, s, unit)
}
