"""The files a run works on: snapshots, restores, merges and exports, without touching the user's git data.

factory          Opens the workspace of a directory: its git repository, or a private one if there is none.
git_workspace    Snapshots of a git work tree, taken and restored without touching index, HEAD or branches.
restore          Puts a snapshot back: nothing is lost, and changes made by others are kept.
in_place         Temporarily swaps other files into the workspace; its own are put back, even after a crash.
three_way_merge  Merges what a run changed into what somebody else changed since.
export           Writes snapshots into other directories, to try something without touching the workspace.
worktree         A linked worktree for one run: created, removed, and finished as one commit on its branch.
remote           Snapshots over a git remote, for runs that move between machines.
starting_point   The state of a repository before a run: its commit, and uncommitted changes.
file_stamps      Lists a small work tree, to tell without git which of its files may have changed.
folder_stamps    Lists the directories of a large one, to tell without git that no file is new or gone.
directory_lock   One run at a time in a directory, whichever state directory it uses.
rmtree           Removes directories, including read-only ones, and replaces files without following links.
git/             Git as we use it: a private index, private refs, and no settings written by agents.

Used by: the engine, which opens workspaces and worktrees here; gates get snapshots through `export`.
Uses: process (locks, sandbox paths), core values, ports and errors.
"""
