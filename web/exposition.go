package web

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"waybill/api"
)

// An exposition is metrics in the text format of Prometheus, version 0.0.4. It is written here and not by a library
// because it is three kinds of lines, of values that others have counted.
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
	x.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

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

// spread writes the samples of a histogram of how long calls took.
func (x *exposition) spread(name string, c api.Calls, labels ...string) {
	sum := int64(0)
	for i, bound := range api.CallBounds {
		sum += c.Within[i]
		le := strconv.FormatFloat(bound.Seconds(), 'g', -1, 64)
		x.sample(name+"_bucket", float64(sum), append(slices.Clone(labels), "le", le)...)
	}
	x.sample(name+"_bucket", float64(c.Count), append(slices.Clone(labels), "le", "+Inf")...)
	x.sample(name+"_sum", c.Total.Seconds(), labels...)
	x.sample(name+"_count", float64(c.Count), labels...)
}
