package task

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/schema"
)

// onlyPersons is the reason why an agent unblocks no run: that accepts its work, and the changes of protected files.
const onlyPersons = "only a person unblocks runs"

func (a commands) unblockCommand() *cobra.Command {
	var all bool
	var reason string
	cmd := &cobra.Command{
		Use: "unblock RUN | PLAN ITEM | --all", Short: "Continue blocked runs after their problem was solved",
		Long: `Continue a blocked run, or with --all every blocked run of the workspace. Its counters restart at zero; its work and
reviews stay. The command prints the next action, and waybill work --plan continues with it.

A run that is not blocked stays unchanged, and an agent of waybill work unblocks none; waybill explain shows what it waits for. --all succeeds if no run is blocked.
A run whose plan or item is gone stays blocked, and the exit code is 1.`,
		Example: "  waybill run unblock tasks.md 2.1 --reason 'the API key was renewed'\n  waybill run unblock --all",
		Args:    cobra.MaximumNArgs(2), ValidArgsFunction: complete(a, runs(&schema.ListRunsParams{State: "blocked"}).ids),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return output.UsageError(errors.New("give either --all or a run, not both"))
			case !all && len(args) == 0:
				return output.UsageError(errors.New("say which run: RUN, PLAN ITEM, or --all"))
			}
			if err := a.RefuseAgents(onlyPersons); err != nil {
				return err
			}
			return a.With(func(l *program.Local) error {
				if all {
					return a.unblockAll(cmd.Context(), l, reason)
				}
				id, err := program.RunID(cmd.Context(), l, args)
				if err != nil {
					return err
				}
				return a.unblock(cmd.Context(), l, id, reason)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every blocked run of the workspace")
	cmd.Flags().StringVar(&reason, "reason", "", "the solution, stored in the event log")
	program.NoFiles(cmd, "reason")
	return cmd
}

func (a commands) unblock(ctx context.Context, l *program.Local, id, reason string) error {
	var r schema.UnblockRunResult
	if err := l.Call(ctx, "unblock_run", schema.UnblockRunParams{RunID: id, Reason: reason}, &r); err != nil {
		return err
	}
	return a.Done(r, "%s of %s is %s again: %s", r.Run.ItemID, r.Run.Plan, r.Run.State, r.NextAction)
}

// unblockAll unblocks every blocked run. A run that cannot continue does not stop the others.
func (a commands) unblockAll(ctx context.Context, l *program.Local, reason string) error {
	var blocked []schema.Run // all of them before the first one is changed, because a change would shift the pages
	p := schema.ListRunsParams{State: "blocked"}
	if err := program.Each(ctx, l, "list_runs", &p, &p.Page, func(some []schema.Run) error {
		blocked = append(blocked, some...)
		return nil
	}); err != nil {
		return err
	}
	if len(blocked) == 0 && !a.JSON {
		return a.Done(nil, "no run is blocked")
	}
	for _, run := range blocked {
		fault := a.unblock(ctx, l, run.RunID, reason)
		if known, ok := errors.AsType[*schema.Error](fault); ok && known.Data.Code == schema.InvalidState {
			continue // another call was faster
		}
		if fault != nil {
			a.Complain(fault)
			a.Code = output.ExitFailed
		}
	}
	return nil
}

func (a commands) dismissCommand() *cobra.Command {
	return &cobra.Command{
		Use: "dismiss ID", Short: "Take note of a failure, so that no inbox lists it any more", Args: cobra.ExactArgs(1),
		Long: `Consume the open notices about a task, a run or an instruction, or one notice. Its state stays; hosts no longer get these
notices.`,
		Example:           "  waybill notice dismiss 4d5e6f7a",
		ValidArgsFunction: complete(a, notices(&schema.ListNoticesParams{}).ids),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(func(l *program.Local) error {
				id, err := l.FullID(cmd.Context(), args[0], program.AnyID...)
				if err != nil {
					return err
				}
				ids, err := noticesAbout(cmd.Context(), l, id)
				if err != nil {
					return err
				}
				if len(ids) == 0 {
					return schema.NewError(schema.SubjectGone, "there is no open notice about "+id)
				}
				var r schema.ConsumeNoticesResult
				if err := l.Call(cmd.Context(), "consume_notices", schema.ConsumeNoticesParams{NoticeIDs: ids}, &r); err != nil {
					return err
				}
				return a.Done(r, "%s dismissed", output.Count(len(r.Consumed), "notice"))
			})
		},
	}
}

// noticesAbout returns the open notices with a subject, or the one with that id.
func noticesAbout(ctx context.Context, l *program.Local, id string) (ids []string, err error) {
	p := schema.ListNoticesParams{Peek: true}
	err = program.Each(ctx, l, "list_notices", &p, &p.Page, func(some []schema.Notice) error {
		for _, n := range some {
			if n.SubjectID == id || n.NoticeID == id {
				ids = append(ids, n.NoticeID)
			}
		}
		return nil
	})
	return ids, err
}
