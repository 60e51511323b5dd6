package doctor

func workspaceChecks() []Check {
	return []Check{
		{Name: "workspace", Part: TheWorkspace, Looks: "the folder that waybill works in, and by which rule it was found", judge: workspace},
		{Name: "identity", Part: TheWorkspace, Looks: "whether it is the folder that the state was made for", judge: identity},
		{Name: "state folder", Part: TheWorkspace, Looks: "whose the state folder is, that it is no link, and its mode 0700", judge: stateFolder},
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
		c.warn("if the instructions and runs of the earlier one are not meant for it, give --store another place",
			"%s is another folder than before at the same path", w.Former)
	default:
		c.ok("the state is that of this folder")
	}
}

func stateFolder(f *Facts, c *chart) {
	switch s := f.State; {
	case s.Path == "":
		c.skip("the store is elsewhere")
	case s.Err != nil:
		c.fail("make sure that you may look into the folders above it", "it cannot be looked at: %v", s.Err)
	case !s.There:
		c.ok("%s is not there yet; the first call that needs a store makes it", s.Path)
	case !s.Folder:
		c.fail("remove it, or set XDG_STATE_HOME to another place", "%s is a link or no folder, and is not used", s.Path)
	case !s.Mine:
		c.fail("remove it, or set XDG_STATE_HOME to another place", "%s belongs to another user, and is not used", s.Path)
	case s.wide():
		c.warn("waybill doctor --fix", "%s is open to other users (%v)", s.Path, s.Mode.Perm())
	default:
		c.ok("%s is for you alone", s.Path)
	}
}

// wide reports whether other users may do something with the folder.
func (s Folder) wide() bool {
	return s.Modes && s.There && s.Folder && s.Mine && s.Mode.Perm()&0o077 != 0
}
