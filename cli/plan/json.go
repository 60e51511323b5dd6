package plan

import (
	"waybill/plan"
	"waybill/plan/read"
)

// planView is the output of `waybill plan --json`. Programs compare it between versions, so fields are only added.
type planView struct {
	Dialect     string            `json:"dialect"`
	Items       []planItem        `json:"items"`
	Diagnostics []planDiagnostic  `json:"diagnostics"`
	Evidence    []planEvidence    `json:"evidence"`
	Marks       map[string]string `json:"marks,omitzero"` // the meaning of each sign in a box
}

type planItem struct {
	ID            string   `json:"id"`
	Title         string   `json:"title"`
	Status        string   `json:"status"`
	Optional      bool     `json:"optional"`
	Line          int      `json:"line"`
	Source        string   `json:"source,omitzero"`
	DependsOn     []string `json:"depends_on"`
	Parallel      bool     `json:"parallel"`
	ParentID      string   `json:"parent_id,omitzero"`
	DerivedStatus string   `json:"derived_status,omitzero"`
}

type planDiagnostic struct {
	Source   string `json:"source,omitzero"`
	Line     int    `json:"line"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Open     bool   `json:"open,omitzero"` // it is open work and no item
}

type planEvidence struct {
	Line    int    `json:"line"`
	Dialect string `json:"dialect"`
	Signal  string `json:"signal"`
}

func viewOf(r *plan.Reading) planView {
	v := planView{Dialect: r.Dialect}
	for _, it := range r.Items() {
		v.Items = append(v.Items, planItem{
			ID: it.ID, Title: it.Title, Status: it.Status.String(), Optional: it.Optional, Source: it.Source, Line: it.Line,
			DependsOn: it.DependsOn, Parallel: it.Parallel, ParentID: it.ParentID, DerivedStatus: it.DerivedStatus.String(),
		})
	}
	for _, d := range r.Diagnostics {
		v.Diagnostics = append(v.Diagnostics, planDiagnostic{d.Source, d.Line, d.Code, d.Message, d.Column, d.Severity.String(), d.Open})
	}
	for _, e := range r.Evidence {
		v.Evidence = append(v.Evidence, planEvidence(e))
	}
	for mark, status := range read.Meanings(r) {
		if v.Marks == nil {
			v.Marks = map[string]string{}
		}
		v.Marks[mark] = status.String()
	}
	return v
}
