package workspace

// FolderPath is tested from inside because the forms of Windows must be right, and
// tested, on every system.
var FolderPath = folderPath

// SyncedName is tested from inside because such folders exist on no build machine.
var SyncedName = syncedName
