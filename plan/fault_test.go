package plan_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/test/slow"
)

func parse(t *testing.T, text string) *plan.Reading {
	t.Helper()
	r, err := plan.Parse([]byte(text))
	require.NoError(t, err)
	return r
}

func item(t *testing.T, r *plan.Reading, id string) plan.Item {
	t.Helper()
	it, ok := r.Item(id)
	require.True(t, ok, "no item %s", id)
	return it
}

func diagnostics(r *plan.Reading, code string) []plan.Diagnostic {
	var found []plan.Diagnostic
	for _, d := range r.Diagnostics {
		if d.Code == code {
			found = append(found, d)
		}
	}
	return found
}

func utf16Text(order binary.ByteOrder, text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b = append(b, 0, 0)
		order.PutUint16(b[len(b)-2:], unit)
	}
	return string(b)
}

// Bytes that are no UTF-8 text are refused with the place and the remedy, and
// never read as a plan with strange tasks.
func TestFaultF6_WhatIsNoTextIsRefusedWithItsPlace(t *testing.T) {
	const p = "- [ ] 1. one\n- [ ] 2. two\n"
	for _, c := range []struct {
		name, src, reason string
		line, offset      int
		says              string
	}{
		{"nul", "- [ ] 1. one\n- [ ] 2\x00\n", plan.ReasonNotText, 2, 20, "NUL byte at offset 20, line 2"},
		{"nul after lone cr", "a\rb\rc\x00", plan.ReasonNotText, 3, 5, "line 3"},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00", plan.ReasonNotText, 1, 7, "binary"},
		{"invalid byte", "- [ ] 1. one\r\n- [ ] 2. t\xe9\n", plan.ReasonInvalidUTF8, 2, 24, "byte 0xe9 at offset 24, line 2"},
		{"cut character", "- [ ] 1. \xe2\x82", plan.ReasonInvalidUTF8, 1, 9, "0xe2"},
		{"utf-16 little-endian", utf16Text(binary.LittleEndian, p), plan.ReasonNotText, 1, 0, "UTF-16 little-endian text: save it as UTF-8"},
		{"utf-16 big-endian", utf16Text(binary.BigEndian, p), plan.ReasonNotText, 1, 0, "UTF-16 big-endian text: save it as UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := plan.Parse([]byte(c.src))
			require.Nil(t, r)
			var refusal *plan.ParseError
			require.True(t, errors.As(err, &refusal))
			require.Equal(t, "progress_ledger_parse_failed", refusal.Code())
			require.Equal(t, c.reason, refusal.Reason)
			require.Equal(t, c.line, refusal.Line)
			require.Equal(t, c.offset, refusal.Offset)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// Ids are text, levels are many, and the size of a plan costs in proportion:
// each shape would take minutes here if anything in it were looked at again
// for each task.
func TestFaultF21_LargeAndDeepPlansCostInProportion(t *testing.T) {
	slow.Test(t)
	many := slow.Size(100_000)
	each := func(line func(i int) string) string {
		var b strings.Builder
		for i := range many {
			b.WriteString(line(i))
			b.WriteByte('\n')
		}
		return b.String()
	}
	for _, c := range []struct{ name, text string }{
		{"tasks", each(func(i int) string { return fmt.Sprintf("- [ ] %d.%d x\n  - _Requirements: 1, 2_", i/100+1, i%100) })},
		{"one id", each(func(int) string { return "- [ ] 1 x" })},
		{"nested", each(func(i int) string { return strings.Repeat(" ", i/1000) + fmt.Sprintf("- [ ] %d x", i) })},
		{"waits for the next", each(func(i int) string { return fmt.Sprintf("- [ ] %d x\n  _Depends: %d_", i, i+1) })},
		{"circle", each(func(i int) string { return fmt.Sprintf("- [ ] %d x\n  _Depends: %d_", i, (i+1)%many) })},
		{"waits for a wide range", each(func(i int) string { return fmt.Sprintf("- [ ] %d x\n  _Depends: 1-256_", i) })},
		{"fences that never end", each(func(i int) string { return strings.Repeat("`", 3+i%40) + "go\n- [ ] 1 x" })},
		{"comments that never end", each(func(int) string { return "<!--\n- [ ] 1 x" })},
		{"boxes without id", each(func(int) string { return "- [ ] x" }) + "- [ ] 1 x"},
		{"one long detail", "- [ ] 1 x\n  - a\n" + each(func(int) string { return "    b" })},
		{"one long prompt", "- [ ] 1 x\n  _Prompt: |\n" + each(func(int) string { return "    b" })},
		{"fields in a line", "- [ ] 1 x\n" + each(func(int) string { return "  _Depends: 1_ " })[:many] + strings.Repeat(" _Leverage: a", many)},
		{"underscores", "- [ ] 1 x " + strings.Repeat("_", many) + strings.Repeat(" _", many)},
		{"a long id", "- [ ] 1 x\n- [ ] " + strings.Repeat("1.", many)},
		{"quotes", "- [ ] 1 x\n" + strings.Repeat(">", many) + "- [ ] 2 x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := plan.Parse([]byte(c.text))
			require.NoError(t, err)
			require.Equal(t, r.Checkboxes, r.Len()+countNotTasks(r.Diagnostics))
			require.Len(t, r.Items(), r.Len())
			more, err := plan.Parse([]byte(c.text + "\n- [ ] 9999999 the last"))
			require.NoError(t, err)
			require.NotEmpty(t, plan.Diff(r, more))
		})
	}
}
