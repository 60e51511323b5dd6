package ledger

import "strconv"

// TaskFacts writes a ledger as facts, without RunID and ItemID, which say
// whose facts they are, and with them the facts that other tools look for.
// RenewTask puts them in the place of older ones.
func TaskFacts(t TaskLedger) []Fact {
	facts := make([]Fact, 0, 25)
	facts = appendTaskFacts(facts, &t)
	facts = append(facts, Fact{factReviews, compact(reviewsOf(&t))})
	if said := originsOf(t.Origins); said != (originsFact{}) {
		facts = append(facts, Fact{factOrigins, compact(said)})
	}
	return appendForeignTask(facts, &t)
}

// appendTaskFacts leaves out what only storage needs.
func appendTaskFacts(facts []Fact, t *TaskLedger) []Fact {
	facts = append(facts,
		Fact{factPlanVersion, strconv.Itoa(t.PlanVersion)},
		Fact{factSummary, t.Summary},
		Fact{factAssessment, t.ReviewerAssessment},
		Fact{factIssues, list(issuesOf(t.openIssues()))},
		Fact{factBlockers, list(t.Blockers)},
		Fact{factFixes, list(t.openFixes())},
		Fact{factStalled, compact(stalledFact(t.Stalled))},
		Fact{factReviewLoop, compact(reviewLoopFact(t.ReviewLoop))},
		Fact{factRejections, strconv.Itoa(t.Rejections)},
		Fact{factReplanHint, t.ReplanHint},
		Fact{factAttempts, strconv.Itoa(t.Attempts)},
		Fact{factPlanSummary, t.PlanSummary},
		Fact{factPlanItems, list(t.PlanItems)},
		Fact{factFilesChanged, list(t.FilesChanged)},
		Fact{factGitRange, t.GitRange},
	)
	if n := t.ReviewAttempts; n != [2]int{} {
		facts = append(facts, Fact{factReviewAttempts, compact(reviewAttemptsFact{n[0], n[1]})})
	}
	return facts
}

func originsOf(o Origins) originsFact {
	return originsFact{originFact(o.Summary), originFact(o.Reviews[0]), originFact(o.Reviews[1])}
}

// origins reads them back.
func (f originsFact) origins() Origins {
	return Origins{Origin(f.Summary), [2]Origin{Origin(f.Spec), Origin(f.Quality)}}
}

func issuesOf(issues []ReviewIssue) []issueFact {
	facts := make([]issueFact, len(issues))
	for i, issue := range issues {
		facts[i] = issueFact(issue)
	}
	return facts
}

func reviewsOf(t *TaskLedger) reviewsFact {
	one := func(r *Review) *reviewFact {
		if r.Assessment == "" {
			return nil
		}
		return &reviewFact{r.Assessment, issuesOf(r.Issues), r.RequiredFixes, r.LostIssues, r.LostFixes}
	}
	return reviewsFact{Spec: one(&t.Reviews[0]), Quality: one(&t.Reviews[1]), LostBlockers: t.LostBlockers}
}

// review reads the review back.
func (f *reviewFact) review() Review {
	if f == nil {
		return Review{}
	}
	r := Review{Assessment: f.Assessment, RequiredFixes: cloned(f.RequiredFixes), LostIssues: f.LostIssues, LostFixes: f.LostFixes}
	for _, issue := range f.Issues {
		r.Issues = append(r.Issues, ReviewIssue(issue))
	}
	return r
}

// ParseTaskFacts reads what TaskFacts wrote, now or before it knew all the keys
// of today. Other keys are ignored, and of one key the last value counts. A
// *FactError names the first key that cannot be read, or is missing although it
// was always written: a damaged ledger never looks like an empty one.
func ParseTaskFacts(runID, itemID string, facts []Fact) (TaskLedger, error) {
	r := newFactReader(facts)
	var (
		stalled stalledFact
		loop    reviewLoopFact
		reviews reviewsFact
		turns   reviewAttemptsFact
		origins originsFact
		before  = reviewFact{Assessment: r.text(factAssessment)}
	)
	t := TaskLedger{
		RunID: runID, ItemID: itemID,
		PlanVersion:        r.number(factPlanVersion),
		PlanSummary:        r.values[factPlanSummary],
		Summary:            r.text(factSummary),
		ReviewerAssessment: before.Assessment,
		Rejections:         r.number(factRejections),
		ReplanHint:         r.text(factReplanHint),
		Attempts:           r.number(factAttempts),
		GitRange:           r.values[factGitRange],
	}
	r.json(factIssues, &before.Issues)
	r.json(factFixes, &before.RequiredFixes)
	r.json(factBlockers, &t.Blockers)
	r.json(factStalled, &stalled)
	r.json(factReviewLoop, &loop)
	r.jsonIfAny(factPlanItems, &t.PlanItems)
	r.jsonIfAny(factFilesChanged, &t.FilesChanged)
	r.jsonIfAny(factReviewAttempts, &turns)
	r.jsonIfAny(factOrigins, &origins)
	if !r.jsonIfAny(factReviews, &reviews) {
		reviews.Spec = before.whole()
	}
	if r.err != nil {
		return TaskLedger{}, r.err
	}
	t.Stalled, t.ReviewLoop = Stalled(stalled), ReviewLoop(loop)
	t.Reviews = [2]Review{reviews.Spec.review(), reviews.Quality.review()}
	t.LostBlockers = reviews.LostBlockers
	t.ReviewAttempts, t.Origins = [2]int{turns.Spec, turns.Quality}, origins.origins()
	return t.clone(), nil // which makes empty lists nil
}

// whole gives the one review that was kept when nobody told reviewers apart, or nil if there was none. What
// it demands must not get lost, so it counts as the spec reviewer's.
func (f *reviewFact) whole() *reviewFact {
	if len(f.Issues)+len(f.RequiredFixes) > 0 && f.Assessment == "" {
		f.Assessment = assessedChanges
	}
	if f.Assessment == "" {
		return nil
	}
	return f
}
