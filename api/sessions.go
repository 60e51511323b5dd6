package api

import (
	"cmp"
	"encoding/json"

	"waybill/core/task"
	"waybill/schema"
)

// hostEvent is the data of the event names that hosts use. Hosts wrap events in envelopes; the first error and the
// first status inside count.
type hostEvent struct {
	Error      *hostError  `json:"error"`
	Status     *hostStatus `json:"status"`
	Properties *hostEvent  `json:"properties"`
	Info       *hostEvent  `json:"info"`
	Message    hostMessage `json:"message"`
}

// A hostMessage is a message of the agent. A plain text has no event.
type hostMessage struct{ event *hostEvent }

func (m *hostMessage) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		return nil
	}
	return json.Unmarshal(text, &m.event)
}

// unwrapped returns the event without its envelopes.
func (e *hostEvent) unwrapped() hostEvent {
	inner := hostEvent{Error: e.Error, Status: e.Status}
	for _, envelope := range []*hostEvent{e.Properties, e.Info, e.Message.event} {
		if envelope != nil {
			in := envelope.unwrapped()
			inner.Error, inner.Status = cmp.Or(inner.Error, in.Error), cmp.Or(inner.Status, in.Status)
		}
	}
	return inner
}

type hostStatus struct {
	Type    string `json:"type"` // idle, busy or retry
	Message string `json:"message"`
}

type hostError struct {
	Name    string        `json:"name"`
	Message string        `json:"message"`
	Data    hostErrorData `json:"data"`
}

type hostErrorData struct {
	Message    string `json:"message"`
	StatusCode int    `json:"statusCode"`
}

// failure returns the error together with the message of the report.
func (e *hostError) failure(p *schema.SessionEventParams) task.Failure {
	return task.Failure{Name: e.Name, HTTP: e.Data.StatusCode, Message: cmp.Or(p.Message, e.Data.Message, e.Message)}
}

// sessionEvent returns the core event of a session report.
func sessionEvent(p *schema.SessionEventParams) (event task.ReportSession, err error) {
	event = task.ReportSession{Session: p.SessionID, Kind: task.SessionKind(p.Type)}
	var failure task.Failure
	switch p.Type {
	case "message.updated", "session.error", "session.status":
		event.Kind, failure, err = readHostEvent(p)
	case string(task.SessionError):
		failure, err = sessionFailure(p)
	}
	if event.Kind == task.SessionError {
		event.Failure = task.ClassifySession(failure)
	}
	return event, err
}

// readHostEvent reads an event with a name that the host uses. An announced retry is an error, whose class says
// whether the session may recover. Other events without an end are progress. An empty error is refused, because its
// class would be a guess.
func readHostEvent(p *schema.SessionEventParams) (kind task.SessionKind, failure task.Failure, err error) {
	var data hostEvent
	if len(p.Data) > 0 && json.Unmarshal(p.Data, &data) != nil {
		return "", failure, badParam("/data", "the object of the host's event "+p.Type, string(p.Data))
	}
	data = data.unwrapped()
	status := cmp.Or(data.Status, &hostStatus{})
	switch {
	case data.Error != nil:
		failure = data.Error.failure(p)
	case p.Type == "session.error":
		failure, err = sessionFailure(p)
	case status.Type == "retry":
		return task.SessionError, task.Failure{Message: cmp.Or(p.Message, status.Message)}, nil
	case status.Type == "idle":
		return task.SessionIdle, failure, nil
	default:
		return task.SessionProgress, failure, nil
	}
	if err == nil && failure == (task.Failure{}) {
		err = badParam("/data", `an error with a name or a message, such as {"error":{"name":"APIError","data":{"message":"…"}}}`, string(p.Data))
	}
	return task.SessionError, failure, err
}

// sessionFailure reads the error of a session report. Unknown members are ignored.
func sessionFailure(p *schema.SessionEventParams) (task.Failure, error) {
	var data struct {
		Class   string `json:"class"`
		HTTP    int    `json:"http_status"`
		Name    string `json:"name"`
		Message string `json:"message"`
	}
	if len(p.Data) > 0 {
		if err := json.Unmarshal(p.Data, &data); err != nil {
			return task.Failure{}, badParam("/data", "an object whose class, name and message are strings and whose http_status is a number", string(p.Data))
		}
	}
	known := data.Class == ""
	for _, class := range task.Classes() {
		known = known || string(class) == data.Class
	}
	if !known {
		return task.Failure{}, badParam("/data/class", "transient, provider, terminal or user", data.Class)
	}
	if p.Message != "" {
		data.Message = p.Message
	}
	return task.Failure{Class: task.Class(data.Class), Name: data.Name, HTTP: data.HTTP, Message: data.Message}, nil
}
