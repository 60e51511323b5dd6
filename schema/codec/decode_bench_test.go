package codec_test

import (
	jsonv1 "encoding/json"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/schema/codec"
)

// call is a usual call: 300 bytes, with every kind of member.
const call = `{"session_id":"ses_01","content":"Run the whole test suite again and report which tests fail, ` +
	`then stop and wait for the review of the change to the parser.","priority":true,"max_retries":5,` +
	`"ack_on":{"event_type":"command.finished","match":{"command":"make check","exit_code":0}},` +
	`"idempotency_key":"k-0001"}`

// BenchmarkDecode compares strict decoding with the plain decoders of the same params, in one run.
func BenchmarkDecode(b *testing.B) {
	raw, decoder := []byte(call), codec.NewDecoder[schema.QueueInstructionWithAckParams]()
	for name, decode := range map[string]func(*schema.QueueInstructionWithAckParams) error{
		"strict": func(p *schema.QueueInstructionWithAckParams) error {
			if err := decoder.Decode(raw, p); err != nil {
				return err
			}
			return nil
		},
		"encoding-json":   func(p *schema.QueueInstructionWithAckParams) error { return jsonv1.Unmarshal(raw, p) },
		"json-experiment": func(p *schema.QueueInstructionWithAckParams) error { return jsonv2.Unmarshal(raw, p) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				var p schema.QueueInstructionWithAckParams
				require.NoError(b, decode(&p))
			}
		})
	}
}
