package cli

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	checkfile "waybill/check/config"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/engine/workspace"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/schema/gen"
)

// version returns the line that waybill version and waybill --version print.
func version(of string) string {
	return fmt.Sprintf("waybill %s (protocol %d, %s, %s/%s)", of, schema.ProtocolVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func versionCommand(a *program.App) *cobra.Command {
	return &cobra.Command{
		Example: "  waybill version --json",
		Use:     "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if !a.JSON {
				_, err := fmt.Fprintln(a.Out, version(a.Version))
				return err
			}
			return a.Print(map[string]any{
				"name": "waybill", "version": a.Version, "protocol_version": schema.ProtocolVersion,
				"go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
			})
		},
	}
}

func whereCommand(a *program.App) *cobra.Command {
	return &cobra.Command{
		Example: "  waybill where",
		Use:     "where", Short: "Print the workspace and where its store is", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ws, err := workspace.Resolve(a.Sources())
			if err != nil {
				return schema.NewError(schema.NoWorkspace, err.Error())
			}
			path, err := a.StoreShown(ws)
			if err != nil {
				return err
			}
			config, used, err := a.Finder().ConfigThere(cmd)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.Print(map[string]any{
					"id": ws.ID, "root": ws.Root, "state_dir": ws.StateDir, "resolved_by": ws.ResolvedBy, "store": path,
					"config": config, "config_used": used,
				})
			}
			shown := safetext.Printable(config)
			if !used {
				shown = "none"
				if config != "" {
					shown += "; it would be " + safetext.Printable(config)
				}
			}
			_, err = fmt.Fprintf(a.Out, "workspace  %s (by %s)\nid         %s\nstate      %s\nstore      %s\nconfig     %s\n",
				safetext.Printable(ws.Root), ws.ResolvedBy, ws.ID, safetext.Printable(ws.StateDir), safetext.Printable(path), shown)
			return err
		},
	}
}

// documents are the documents that `waybill schema` can print.
var documents = map[string]func(version string) []byte{
	"checks":      func(string) []byte { return checkfile.JSONSchema() },
	"openrpc":     gen.OpenRPC,
	"json-schema": func(string) []byte { return gen.JSONSchema() },
	"python":      func(string) []byte { return gen.Python() },
	"typescript":  func(string) []byte { return gen.TypeScript() },
}

func schemaCommand(a *program.App) *cobra.Command {
	formats := []string{"openrpc", "json-schema", "python", "typescript", "checks"}
	var format string
	cmd := &cobra.Command{
		Example: "  waybill schema --format typescript > waybill.d.ts",
		Use:     "schema", Short: "Print the protocol: methods, notifications and errors", Args: cobra.NoArgs,
		Long: `Print the methods, notifications, objects and errors of this binary, as an OpenRPC document, as JSON Schema, or as types
for Python or TypeScript. The format checks is the JSON Schema of ` + checkfile.Name + `, for editors.`,
		RunE: func(*cobra.Command, []string) error {
			document, ok := documents[format]
			if !ok {
				return output.UsageError(fmt.Errorf("--format %s: must be one of %s", format, strings.Join(formats, ", ")))
			}
			if a.JSON && (format == "python" || format == "typescript") {
				return a.Print(map[string]any{"format": format, "text": string(document(a.Version))})
			}
			return a.PrintDocument(document(a.Version))
		},
	}
	cmd.Flags().StringVar(&format, "format", "openrpc", strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(slices.Clone(formats), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
