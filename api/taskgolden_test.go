package api_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"waybill/test/golden"
)

// counted returns ids that are numbered from 1 for each prefix.
func counted() func(string) string {
	ids := map[string]int{}
	return func(prefix string) string {
		ids[prefix]++
		return fmt.Sprint(prefix, ids[prefix])
	}
}

func TestLifeOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{
			newID: counted(),
			now:   func() time.Time { return time.Now().Truncate(time.Second) }, // without the rests of the feed
		})
		golden.Equal(t, "task.txt", converse(t, h, `# A task falls back from one model to the next, asks a person, and completes as the same task.
			> create_task {"prompt":"Name the crate.","description":"naming","parent_session_id":"parent","models":[{"provider_id":"acme","model_id":"large"},{"provider_id":"umbra","model_id":"small","variant":"high"}]}
			> claim_task {"worker":"w1"}
			> bind_session {"task_id":"tsk_1","attempt_id":"att_1","lease_token":"lease_1","session_id":"ses_1"}
			+ 1s
			> heartbeat {"task_id":"tsk_1","lease_token":"lease_1","progress":{"message":"half-way","percent":50}}
			> finish_attempt {"task_id":"tsk_1","lease_token":"lease_1","status":"error","error":{"message":"429 Too Many Requests","http_status":429}}
			+ 1s
			> claim_task {"worker":"w2"}
			> bind_session {"task_id":"tsk_1","attempt_id":"att_2","lease_token":"lease_2","session_id":"ses_2"}
			> report_session_event {"session_id":"ses_1","type":"idle"}
			> finish_attempt {"task_id":"tsk_1","lease_token":"lease_2","status":"awaiting_response","output":"Two names are free.","question":"oak or elm?"}
			+ 1s
			> list_awaiting {}
			> reply {"task_id":"tsk_1","reply":"elm","by":"Mara"}
			> reply {"task_id":"tsk_1","reply":"oak"}
			> claim_task {"worker":"w1"}
			> report_session_event {"session_id":"ses_9","type":"progress"}
			> finish_attempt {"task_id":"tsk_1","lease_token":"lease_3","status":"completed","output":"Named elm."}
			+ 1s
			> get_task {"task_id":"tsk_1"}
			> get_timeline {"task_id":"tsk_1"}
			> list_notices {"session_id":"parent"}
			# What is over stays as it is.
			> cancel_task {"task_id":"tsk_1"}
			> retry_task {"task_id":"tsk_1"}
		`))
	})
}

func TestEndsOfTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{
			newID: counted(),
			now:   func() time.Time { return time.Now().Truncate(time.Second / 2) },
		})
		golden.Equal(t, "task-ends.txt", converse(t, h, `# Nobody hears of the worker, and no attempt is left.
			> create_task {"prompt":"One\nof two lines.","parent_session_id":"p"}
			> claim_task {"worker":"w1","lease_ms":1000}
			+ 1100ms
			# Somebody withdraws a task; one that runs is asked to end.
			> create_task {"prompt":"two","parent_session_id":"p"}
			> claim_task {"worker":"w1"}
			> cancel_task {"task_id":"tsk_2","reason":"not wanted"}
			> heartbeat {"task_id":"tsk_2","lease_token":"lease_2"}
			> finish_attempt {"task_id":"tsk_2","lease_token":"lease_2","status":"interrupted"}
			# A failure that no retry mends, and one that ends a session.
			> create_task {"prompt":"three"}
			> claim_task {"worker":"w1"}
			> finish_attempt {"task_id":"tsk_3","lease_token":"lease_3","status":"error","error":{"message":"no such file","class":"terminal"}}
			> create_task {"prompt":"four"}
			> claim_task {"worker":"w1"}
			> bind_session {"task_id":"tsk_4","attempt_id":"att_7","lease_token":"lease_4","session_id":"ses_4"}
			> report_session_event {"session_id":"ses_4","type":"deleted"}
			# One waits for another.
			> create_task {"prompt":"five"}
			> create_task {"prompt":"six","depends_on":["tsk_5"]}
			> claim_task {"worker":"w1"}
			> claim_task {"worker":"w2"}
			> finish_attempt {"task_id":"tsk_5","lease_token":"lease_5","status":"completed"}
			> list_notices {}
		`))
	})
}
