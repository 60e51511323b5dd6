package api

import (
	"context"
	"errors"
	"strings"
	"time"

	"waybill/engine"
	"waybill/ledger"
	"waybill/prompt"
	"waybill/schema"
	"waybill/store"
)

// tallyPrompt counts a compiled prompt, or one that exceeds its budget.
func tallyPrompt(e *engine.Engine, now time.Time, view engine.RunView, c prompt.Compiled, err error) {
	if _, over := errors.AsType[*prompt.OverflowError](err); over {
		e.Tally(view.Run.ID, store.Tally{Name: engine.TallyOverflows, N: 1})
	}
	if err != nil {
		return
	}
	counts := []store.Tally{
		{Name: engine.TallyPrompts, N: 1},
		{Name: engine.TallyBefore, N: int64(c.TokensBefore)},
		{Name: engine.TallyAfter, N: int64(c.TokensAfter)},
		{Name: engine.TallyStage + string(c.Stage()), N: 1},
		{Name: engine.TallyMode + ledgerMode(view), N: 1},
		{Name: engine.TallySent, N: int64(c.Estimate)},
		{Name: engine.TallyResend, N: int64(c.Resend)},
		{Name: engine.TallyPacket + string(c.Packet.Mode), N: 1},
		{Name: engine.TallyVersion + prompt.PromptVersion, N: 1},
	}
	if why := c.Packet.WhyFull; why != "" {
		counts = append(counts, store.Tally{Name: engine.TallyWhyFull + string(why), N: 1})
	}
	for _, what := range c.Cut {
		counts = append(counts, store.Tally{Name: engine.TallyCut + what, N: 1})
	}
	if view.Rebuilt {
		counts = append(counts, store.Tally{Name: engine.TallyRebuilds, N: 1})
	}
	if view.Fallback != "" {
		age := max(0, now.Sub(view.Since).Milliseconds())
		counts = append(counts, store.Tally{Name: engine.TallyFallback + view.Fallback, N: 1}, store.Tally{Name: engine.TallyFallbackMs, N: age})
	}
	e.Tally(view.Run.ID, counts...)
}

func (s *Service) getTelemetry(ctx context.Context, p *schema.TelemetryParams) (*schema.Telemetry, error) {
	e, _, err := s.backend()
	if err != nil {
		return nil, err
	}
	counts, err := e.Tallies(ctx, p.RunID)
	if err != nil {
		return nil, err
	}
	behind := func(prefix string) map[string]int64 {
		found := map[string]int64{}
		for name, n := range counts {
			if rest, ok := strings.CutPrefix(name, prefix); ok {
				found[rest] = n
			}
		}
		return found
	}
	return &schema.Telemetry{
		Dispatch: schema.DispatchCounts{
			Prompts: counts[engine.TallyPrompts], Overflows: counts[engine.TallyOverflows], Results: counts[engine.TallyResults],
			RetryPrompts: counts[engine.TallyRetryPrompts], ReviewRejections: counts[engine.TallyRejections],
		},
		Tokens: schema.TokenCounts{
			PromptsBefore: counts[engine.TallyBefore], PromptsAfter: counts[engine.TallyAfter], Results: counts[engine.TallyResultTokens],
			Sent: counts[engine.TallySent], Resend: counts[engine.TallyResend], Saved: counts[engine.TallyResend] - counts[engine.TallySent],
		},
		Packets: schema.PacketCounts{
			Full: counts[engine.TallyPacket+string(ledger.PacketFull)], Delta: counts[engine.TallyPacket+string(ledger.PacketDelta)],
			WhyFull: behind(engine.TallyWhyFull),
		},
		PromptVersions: behind(engine.TallyVersion), Cut: behind(engine.TallyCut),
		CompactionStages: behind(engine.TallyStage), LedgerModes: behind(engine.TallyMode),
		Rebuilds: schema.RebuildCounts{
			Total: counts[engine.TallyRebuilds], Fallbacks: behind(engine.TallyFallback), FallbackMS: counts[engine.TallyFallbackMs],
		},
		Verdicts: behind(engine.TallyVerdict), Grammars: behind(engine.TallyGrammar),
		Errors: behind(engine.TallyError), NextActions: behind(engine.TallyNext),
	}, nil
}
