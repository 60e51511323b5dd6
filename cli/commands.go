package cli

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"waybill/engine/workspace"
	"waybill/schema"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if !a.json {
				_, err := fmt.Fprintf(a.Out, "waybill %s (protocol %d, %s, %s/%s)\n",
					a.version, schema.ProtocolVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return err
			}
			return a.print(map[string]any{
				"name": "waybill", "version": a.version, "protocol_version": schema.ProtocolVersion,
				"go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
			})
		},
	}
}

func (a *app) whereCommand() *cobra.Command {
	return &cobra.Command{
		Use: "where", Short: "Print the workspace and where its store is", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ws, err := workspace.Resolve(a.sources())
			if err != nil {
				return schema.NewError(schema.NoWorkspace, err.Error())
			}
			path, err := a.storeShown(ws)
			if err != nil {
				return err
			}
			config, used, err := a.configThere(cmd)
			if err != nil {
				return err
			}
			if a.json {
				return a.print(map[string]any{
					"id": ws.ID, "root": ws.Root, "state_dir": ws.StateDir, "resolved_by": ws.ResolvedBy, "store": path,
					"config": config, "config_used": used,
				})
			}
			shown := plain(config)
			if !used {
				shown = "none"
				if config != "" {
					shown += "; it would be " + plain(config)
				}
			}
			_, err = fmt.Fprintf(a.Out, "workspace  %s (by %s)\nid         %s\nstate      %s\nstore      %s\nconfig     %s\n",
				plain(ws.Root), ws.ResolvedBy, ws.ID, plain(ws.StateDir), plain(path), shown)
			return err
		},
	}
}

// documents are what `waybill schema` can print.
var documents = map[string]func(version string) []byte{
	"openrpc":     schema.OpenRPCDocument,
	"json-schema": func(string) []byte { return schema.JSONSchema() },
	"python":      func(string) []byte { return schema.Python() },
	"typescript":  func(string) []byte { return schema.TypeScript() },
}

func (a *app) schemaCommand() *cobra.Command {
	formats := []string{"openrpc", "json-schema", "python", "typescript"}
	var format string
	cmd := &cobra.Command{
		Use: "schema", Short: "Print what can be said and heard", Args: cobra.NoArgs,
		Long: "Print the methods, notifications, objects and errors of this binary, as an OpenRPC document,\nas JSON Schema, or as types for Python or TypeScript.",
		RunE: func(*cobra.Command, []string) error {
			document, ok := documents[format]
			if !ok {
				return usageError{fmt.Errorf("--format %s: must be one of %s", format, strings.Join(formats, ", "))}
			}
			if a.json && (format == "python" || format == "typescript") {
				return a.print(map[string]any{"format": format, "text": string(document(a.version))})
			}
			return a.printDocument(document(a.version))
		},
	}
	cmd.Flags().StringVar(&format, "format", "openrpc", strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(slices.Clone(formats), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
