package doctor

func workspaceChecks() []Check {
	return []Check{
		{Name: "workspace", Part: TheWorkspace, Looks: "the workspace folder, and the rule that selected it", judge: workspace},
		{Name: "identity", Part: TheWorkspace, Looks: "whether the state belongs to this folder", judge: identity},
		{Name: "state folder", Part: TheWorkspace, Looks: "the owner of the state folder, that it is no link, and its mode 0700", judge: stateFolder},
		{Name: "checks", Part: TheWorkspace, Looks: "whether .waybill.toml has no mistakes, and is trusted as it is", judge: checks},
	}
}

func workspace(f *Facts, c *chart) {
	if w := f.Workspace; w.Err != nil {
		c.fail("go to the folder of a project, or name one with --workspace", "%v", w.Err)
	} else {
		c.ok("%s (by %s)", w.Root, Known(w.ResolvedBy))
	}
}

func identity(f *Facts, c *chart) {
	switch w := f.Workspace; {
	case w.Err != nil:
	case w.Former != "":
		c.warn("if this folder needs its own instructions and runs, name another store with --store",
			"%s was replaced by another folder at the same path", w.Former)
	default:
		c.ok("the state belongs to this folder")
	}
}

func stateFolder(f *Facts, c *chart) {
	switch s := f.State; {
	case s.Path == "":
		c.skip("the store is elsewhere")
	case s.Err != nil:
		c.fail("make the folders above it readable for you", "it cannot be read: %v", s.Err)
	case !s.There:
		c.ok("%s does not exist yet", s.Path)
	case !s.Folder:
		c.fail("remove it, or set XDG_STATE_HOME to another place", "%s is a link or not a folder, and is not used", s.Path)
	case !s.Mine:
		c.fail("remove it, or set XDG_STATE_HOME to another place", "%s belongs to another user, and is not used", s.Path)
	case s.wide():
		c.warn("waybill doctor --fix", "%s is open to other users (%v)", s.Path, s.Mode.Perm())
	default:
		c.ok("%s is open to you only", s.Path)
	}
}

// wide reports whether other users have rights on the folder.
func (s Folder) wide() bool {
	return s.Modes && s.There && s.Folder && s.Mine && s.Mode.Perm()&0o077 != 0
}

func checks(f *Facts, c *chart) {
	switch k := f.Checks; {
	case !k.Looked:
	case k.Why != "":
		c.warn(k.Mend, "%s", k.Why)
	case k.Path == "":
		c.ok("no file declares any")
	default:
		c.ok("%s in %s, trusted since %s", many(k.Number, "check"), k.Path, k.TrustedAt.Format("2006-01-02 15:04:05Z"))
	}
}
