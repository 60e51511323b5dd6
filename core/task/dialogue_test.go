package task_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
)

// The next prompt of a continuation needs what led to the question.
func TestAttemptThatSaysNothingLeavesWhatWasSaid(t *testing.T) {
	answered := lived(t, newTask(t, 0), claims, asks, replies, claims, loses)
	require.Equal(t, "half done", answered.Output)
	require.Equal(t, "which blue?", answered.Question)
	done := lived(t, answered, claims, completes)
	require.Equal(t, "done", done.Output)
	require.Empty(t, done.Question)
	failed := lived(t, newTask(t, 0), claims, reporting(failsTransient, "a log", ""), claims, failsTransient)
	require.Equal(t, "a log", failed.Output)
}

// The attempt that carries an answer may fail and leave a log. The answer was not given to that.
func TestAnswerStaysUnderTheQuestionThatItWasGivenTo(t *testing.T) {
	answered := lived(t, newTask(t, 0), claims, asks, replies, claims, binds)
	for name, end := range map[string]taskMove{
		"fails and is retried": failsTransient, "fails for good": failsTerminal,
		"interrupted": gives(task.AttemptInterrupted), "cancelled": gives(task.AttemptCancelled),
	} {
		after := lived(t, answered, reporting(end, "partial log", "shall I go on?"))
		require.Equal(t, "half done", after.Output, name)
		require.Equal(t, "which blue?", after.Question, name)
		require.Equal(t, "navy blue", after.Reply, name)
	}
	asked := lived(t, answered, cancels, reporting(asks, "partial log", "shall I go on?"))
	require.Equal(t, "which blue?", asked.Question, "the question came to nothing")
}

// Seen: a person replied to an error, and the reply stood under a question that had its answer already.
func TestReplyToAnErrorIsNotGivenToAnOlderQuestion(t *testing.T) {
	answered := lived(t, newTask(t, 0), claims, asks, replies, claims, binds)
	for name, task := range map[string]task.Task{
		"fails for good": lived(t, answered, failsTerminal), "interrupted": lived(t, answered, gives(task.AttemptInterrupted)),
		"cancelled": lived(t, answered, cancels, gives(task.AttemptCancelled)), "blocked": lived(t, answered, failsTerminal, blocks),
	} {
		again := lived(t, task, replies)
		require.Empty(t, again.Question, name)
		require.Empty(t, again.Output, name)
	}
	unanswered := lived(t, newTask(t, 0), claims, asks, blocks, retries(task.Model{}), claims, failsTerminal, replies)
	require.Empty(t, unanswered.Question)
	log := lived(t, newTask(t, 0), claims, reporting(failsTerminal, "a log", "what now?"), replies)
	require.Equal(t, "a log", log.Output)
	require.Empty(t, log.Question)
	asked := lived(t, newTask(t, 0), claims, asks, cancels, replies) // the question is still the one to answer
	require.Equal(t, "which blue?", asked.Question)
}

// What a finished task shows is what it was finished with, also if that is nothing.
func TestFinishedTaskShowsNobodyElsesResult(t *testing.T) {
	for _, before := range [][]taskMove{
		{claims, asks, replies, claims}, {claims, reporting(failsTransient, "a log", ""), claims},
	} {
		task := lived(t, newTask(t, 0), before...)
		done := lived(t, task, reporting(completes, "", ""))
		require.Empty(t, done.Output)
		require.Empty(t, done.Question)
		again := lived(t, task, reporting(asks, "", "how dark?"))
		require.Empty(t, again.Output)
		require.Equal(t, "how dark?", again.Question)
	}
}

// reporting is a report that says something else.
func reporting(move taskMove, output, question string) taskMove {
	return as(move, func(e *task.Finish) { e.Output, e.Question = output, question })
}

// Two tabs show question 1, one of them answers it, and question 2 comes. The other tab's answer is not for that.
func TestAnswerToAnEarlierQuestionIsNotTakenForThisOne(t *testing.T) {
	to := func(attempt string) taskMove { return as(replies, func(e *task.Reply) { e.AttemptID = attempt }) }
	first := lived(t, newTask(t, 0), claims, asks)
	require.Equal(t, "navy blue", lived(t, first, to(attemptID(1))).Reply)
	second := lived(t, first, replies, claims, asks)
	rejected(t, second, to(attemptID(1))(second, 900), core.AlreadyResolved)
	require.Equal(t, "navy blue", lived(t, second, to(attemptID(2))).Reply)
	for name, task := range map[string]task.Task{
		"queued": lived(t, first, replies), "running": lived(t, first, replies, claims),
		"retried": lived(t, first, cancels, retries(task.Model{})), "complete": lived(t, first, replies, claims, completes),
	} {
		rejected(t, task, to(attemptID(1))(task, 900), core.AlreadyResolved)
		require.NotEqual(t, attemptID(1), task.Current.ID, name)
	}
}
