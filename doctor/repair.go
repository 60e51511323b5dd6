package doctor

// An Act is a repair. It can be undone, or removes only files of waybill that are no longer needed.
type Act string

// The acts.
const (
	PrivateFolder Act = "private folder" // remove the rights of other users
	PrivateFile   Act = "private file"
	RemoveDoor    Act = "remove door"
	RemoveLitter  Act = "remove leftover"
	MakeReserve   Act = "make reserve"
)

// A Repair is a repair that needs no permission.
type Repair struct {
	Check string
	Act   Act
	Path  string
	// Wait is the reason why the repair must wait, or "".
	Wait string
}

// Repairs returns the safe repairs, and those that must wait until no process has the store open. They affect only
// files of waybill that are certainly not in use.
func Repairs(f *Facts) []Repair {
	var all []Repair
	if f.State.wide() {
		all = append(all, Repair{Check: "state folder", Act: PrivateFolder, Path: f.State.Path})
	}
	if f.Store.Files.Private {
		for _, path := range f.Store.Files.Open {
			all = append(all, Repair{Check: "modes", Act: PrivateFile, Path: path})
		}
	}
	for _, d := range f.Doors {
		if Gone(d) {
			all = append(all, Repair{Check: "doors", Act: RemoveDoor, Path: d.Path})
		}
	}
	for _, left := range f.Litter {
		all = append(all, Repair{Check: "leftovers", Act: RemoveLitter, Path: left.Path})
	}
	if files := f.Store.Files; f.Store.There && files.Reserve < 0 && files.WantReserve > 0 && !files.Spent {
		all = append(all, Repair{Check: "reserve", Act: MakeReserve, Path: f.Store.Path, Wait: waitFor(f.Store.Peers)})
	}
	return all
}

func waitFor(peers []Peer) string {
	if len(peers) == 0 {
		return ""
	}
	return "other processes have the store open: stop them and try again"
}
