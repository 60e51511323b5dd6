package ledger

import "strconv"

// TaskFacts returns a ledger as facts, including the copies for other tools. It omits RunID and ItemID, because the
// store keys the facts by them. RenewTask replaces older facts with the result.
func TaskFacts(t TaskLedger) []Fact {
	facts := make([]Fact, 0, 25)
	facts = AppendTaskFacts(facts, &t)
	facts = append(facts, Fact{factReviews, Encode(reviewsOf(&t))})
	if said := originsOf(t.Origins); said != (originsFact{}) {
		facts = append(facts, Fact{factOrigins, Encode(said)})
	}
	return appendForeignTask(facts, &t)
}

// AppendTaskFacts appends the facts that agents see. Facts that only storage needs are absent.
func AppendTaskFacts(facts []Fact, t *TaskLedger) []Fact {
	facts = append(facts,
		Fact{FactPlanVersion, strconv.Itoa(t.PlanVersion)},
		Fact{FactSummary, t.Summary},
		Fact{FactAssessment, t.ReviewerAssessment},
		Fact{FactIssues, EncodeList(issuesOf(t.OpenIssues()))},
		Fact{FactBlockers, EncodeList(t.Blockers)},
		Fact{FactFixes, EncodeList(t.OpenFixes())},
		Fact{FactStalled, Encode(stalledFact(t.Stalled))},
		Fact{FactReviewLoop, Encode(reviewLoopFact(t.ReviewLoop))},
		Fact{FactRejections, strconv.Itoa(t.Rejections)},
		Fact{FactReplanHint, t.ReplanHint},
		Fact{FactAttempts, strconv.Itoa(t.Attempts)},
		Fact{FactPlanSummary, t.PlanSummary},
		Fact{FactPlanItems, EncodeList(t.PlanItems)},
		Fact{FactFilesChanged, EncodeList(t.FilesChanged)},
		Fact{FactGitRange, t.GitRange},
	)
	if n := t.ReviewAttempts; n != [2]int{} {
		facts = append(facts, Fact{FactReviewAttempts, Encode(reviewAttemptsFact{n[0], n[1]})})
	}
	return facts
}

func originsOf(o Origins) originsFact {
	return originsFact{originFact(o.Summary), originFact(o.Reviews[0]), originFact(o.Reviews[1])}
}

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
	return reviewsFact{Spec: one(&t.Reviews[0]), Quality: one(&t.Reviews[1]), Checks: one(&t.Reviews[checks]), LostBlockers: t.LostBlockers}
}

// review returns the decoded review, or the zero Review for nil.
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

// ParseTaskFacts reads facts written by TaskFacts. It ignores other keys, and the last value of a key counts. A
// *FactError names the first missing or unreadable key, so that a damaged ledger never looks empty.
func ParseTaskFacts(runID, itemID string, facts []Fact) (TaskLedger, error) {
	r := newFactReader(facts)
	var (
		stalled stalledFact
		loop    reviewLoopFact
		reviews reviewsFact
		turns   reviewAttemptsFact
		origins originsFact
		issues  []issueFact // issues and fixes repeat the reviews; they are decoded only to detect damage
		fixes   []string
	)
	t := TaskLedger{
		RunID: runID, ItemID: itemID,
		Replan:             Replan{PlanVersion: r.number(FactPlanVersion), PlanSummary: r.text(FactPlanSummary)},
		Summary:            r.text(FactSummary),
		ReviewerAssessment: r.text(FactAssessment),
		Counts:             Counts{Rejections: r.number(FactRejections)},
		ReplanHint:         r.text(FactReplanHint),
		Attempts:           r.number(FactAttempts),
		GitRange:           r.text(FactGitRange),
	}
	r.json(FactIssues, &issues)
	r.json(FactFixes, &fixes)
	r.json(FactBlockers, &t.Blockers)
	r.json(FactStalled, &stalled)
	r.json(FactReviewLoop, &loop)
	r.json(FactPlanItems, &t.PlanItems)
	r.json(FactFilesChanged, &t.FilesChanged)
	r.json(factReviews, &reviews)
	r.jsonIfAny(FactReviewAttempts, &turns)
	r.jsonIfAny(factOrigins, &origins)
	if r.err != nil {
		return TaskLedger{}, r.err
	}
	t.Stalled, t.ReviewLoop = Stalled(stalled), ReviewLoop(loop)
	t.Reviews = [3]Review{reviews.Spec.review(), reviews.Quality.review(), reviews.Checks.review()}
	t.LostBlockers = reviews.LostBlockers
	t.ReviewAttempts, t.Origins = [2]int{turns.Spec, turns.Quality}, origins.origins()
	return t.clone(), nil // clone turns empty lists into nil
}
