package transfer

import (
	"waybill/core"
	"waybill/core/task"
	"waybill/store"
)

type breaker struct {
	Key      text         `json:"key"`
	Failures int          `json:"failures"`
	Opened   int          `json:"opened,omitempty"`
	Until    core.Instant `json:"until,omitempty"`
	Probe    text         `json:"probe,omitempty"`
	ProbedAt core.Instant `json:"probed_at,omitempty"`
}

func breakerOf(b task.Breaker) *breaker {
	return &breaker{text(b.Key), b.Failures, b.Opened, b.Until, text(b.Probe), b.ProbedAt}
}

func (b *breaker) kind() string { return "breaker" }
func (b *breaker) name() string { return "breaker of model " + string(b.Key) }
func (b *breaker) key() key     { return key{text: string(b.Key)} }

func (b *breaker) put(to *filler) error {
	return to.tx.PutBreaker(task.Breaker{
		Key: string(b.Key), Failures: b.Failures, Opened: b.Opened, Until: b.Until, Probe: string(b.Probe), ProbedAt: b.ProbedAt,
	})
}

type notice struct {
	ID         text         `json:"id"`
	Position   int64        `json:"position"`
	Notice     text         `json:"notice"` // its kind
	Session    text         `json:"session,omitempty"`
	Subject    text         `json:"subject"`
	Text       text         `json:"text"`
	Data       text         `json:"data"`
	CreatedAt  core.Instant `json:"created_at"`
	Deliveries int          `json:"deliveries,omitempty"`
}

func noticeOf(n store.Notice) *notice {
	return &notice{
		text(n.ID), n.Position, text(n.Kind), text(n.Session), text(n.Subject), text(n.Text), text(n.Data), n.CreatedAt, n.Deliveries,
	}
}

func (n *notice) kind() string { return "notice" }
func (n *notice) name() string { return "notice " + string(n.ID) }
func (n *notice) key() key     { return key{number: n.Position} }

func (n *notice) put(to *filler) error {
	if _, twice, err := to.tx.Notice(string(n.ID)); err != nil || twice {
		return orTwice(err)
	}
	return to.tx.PutNotice(store.Notice{
		ID: string(n.ID), Position: n.Position, Kind: core.NoticeKind(n.Notice), Session: string(n.Session),
		Subject: string(n.Subject), Text: string(n.Text), Data: string(n.Data), CreatedAt: n.CreatedAt, Deliveries: n.Deliveries,
	})
}

type answer struct {
	Key         text         `json:"key"`
	Fingerprint text         `json:"fingerprint"`
	Result      text         `json:"result"`
	At          core.Instant `json:"at"`
}

func answerOf(a store.Answer) *answer {
	return &answer{text(a.Key), text(a.Fingerprint), text(a.Result), a.At}
}

func (a *answer) kind() string { return "answer" }
func (a *answer) name() string { return "the answer for the key " + string(a.Key) }
func (a *answer) key() key     { return key{text: string(a.Key)} }

func (a *answer) put(to *filler) error {
	return to.tx.PutAnswer(store.Answer{
		Key: string(a.Key), Fingerprint: string(a.Fingerprint), Result: string(a.Result), At: a.At,
	})
}
