package web

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"waybill/meter"
)

// An exposition holds metrics in the text format of Prometheus, version 0.0.4.
//
// This package writes the format itself because other packages, which know no metrics library, keep the counts.
// github.com/VictoriaMetrics/metrics cannot export counted buckets and writes no HELP. The client of Prometheus can, but
// adds 3 MB and nine modules to the binary.
type exposition struct{ bytes.Buffer }

// These are the kinds of metrics.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

// family writes the header of a metric. All names except those of the runtime begin with waybill_.
func (x *exposition) family(name, kind, help string) {
	x.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
}

// sample writes one value. labels are pairs of name and value.
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

// one writes a metric with one sample.
func (x *exposition) one(name, kind, help string, value float64) {
	x.family(name, kind, help)
	x.sample(name, value)
}

// perLabel writes a metric with a sample for each value of a label, which must have few values.
func perLabel[K ~string, N int | int64](x *exposition, name, kind, help, label string, values map[K]N) {
	x.family(name, kind, help)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		x.sample(name, float64(values[key]), label, string(key))
	}
}

// histogramSamples writes the samples of a histogram in the given unit.
func histogramSamples[N ~int64](x *exposition, name string, s meter.Spread[N], unit N, labels ...string) {
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

// oneHistogram writes a metric with one histogram.
func oneHistogram[N ~int64](x *exposition, name, help string, s meter.Spread[N], unit N) {
	x.family(name, histogram, help)
	histogramSamples(x, name, s, unit)
}
