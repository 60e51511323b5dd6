package api

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"waybill/schema"
	"waybill/store"
)

const (
	// minShortID is the least length of a shortened id without its prefix.
	minShortID = 4
	// maxCandidates bounds the ids that MatchIDs returns.
	maxCandidates = 5
)

// idBeginnings are the prefixes of ids. Session ids have none, because hosts choose them.
var idBeginnings = map[store.IDKind]string{
	store.TaskID: "tsk_", store.AttemptID: "att_", store.RunID: "run_", store.InstructionID: "ins_", store.NoticeID: "ntc_",
}

// MatchIDs returns at most five ids of some kinds that a shortened id may stand for, and whether there are more. A
// complete id is returned alone. Other texts match the end of an id, or its beginning with or without the prefix. An
// invalid id matches none.
func (s *Service) MatchIDs(ctx context.Context, short string, kinds ...store.IDKind) (ids []string, more bool, err error) {
	if !schema.IsID(short) {
		return nil, false, nil
	}
	e, _, err := s.backend()
	if err != nil {
		return nil, false, Fault(err)
	}
	err = e.View(ctx, func(tx store.Tx) error {
		ids, err = matchIDs(tx, short, kinds)
		return err
	})
	if err != nil {
		return nil, false, Fault(err)
	}
	return ids[:min(len(ids), maxCandidates)], len(ids) > maxCandidates, nil
}

func matchIDs(tx store.Whole, short string, kinds []store.IDKind) (found []string, err error) {
	bare := short
	for _, kind := range kinds {
		first, err := tx.IDs(store.IDQuery{Kind: kind, Prefix: short, Limit: 1})
		if err != nil {
			return nil, err
		}
		if slices.Contains(first, short) { // a complete id sorts first
			return first, nil
		}
	}
	for _, beginning := range idBeginnings {
		bare = strings.TrimPrefix(bare, beginning)
	}
	if utf8.RuneCountInString(bare) < minShortID {
		return nil, nil
	}
	for _, kind := range kinds {
		queries := []store.IDQuery{{Prefix: short}, {Suffix: short}}
		if beginning := idBeginnings[kind]; beginning != "" {
			queries = append(queries, store.IDQuery{Prefix: beginning + short})
		}
		for _, q := range queries {
			q.Kind, q.Limit = kind, maxCandidates+1
			ids, err := tx.IDs(q)
			if err != nil {
				return nil, err
			}
			found = append(found, ids...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}
