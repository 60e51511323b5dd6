package shape_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema/shape"
)

// A declaration that the decoder could not hold to must not get as far as a host.
func TestNonsenseDeclarationsAreRefused(t *testing.T) {
	type inner struct {
		A string `json:"a,omitzero"`
	}
	type loop struct {
		Next []loop `json:"next,omitzero"`
	}
	for want, params := range map[string]any{
		`schema: there is no rule "mni=1"`: new(struct {
			A int `json:"a,omitzero" schema:"mni=1"`
		}),
		`schema: strconv.ParseInt: parsing "one": invalid syntax`: new(struct {
			A int `json:"a,omitzero" schema:"min=one"`
		}),
		`schema: A (): has no name`: new(struct{ A string }),
		`schema: A (a): is required and omitzero`: new(struct {
			A string `json:"a,omitzero" schema:"required"`
		}),
		`schema: A (a): is required and not a pointer`: new(struct {
			A int `json:"a" schema:"required"`
		}),
		`schema: A (a): is omitzero and not a pointer`: new(struct {
			A inner `json:"a,omitzero"`
		}),
		`schema: A (a): is not a pointer and its bounds leave out 0`: new(struct {
			A int `json:"a,omitzero" schema:"min=1"`
		}),
		`schema: float64 has no place on the wire`: new(struct {
			A float64 `json:"a,omitzero"`
		}),
		`schema:  is open and so must be what is in it: a`: new(struct {
			_ struct{} `schema:"open"`
			A []inner  `json:"a,omitzero"`
		}),
		`schema: shape_test.loop contains itself`: new(loop),
	} {
		require.PanicsWithValue(t, want, func() { _ = shape.Of(reflect.TypeOf(params)) })
	}
}
