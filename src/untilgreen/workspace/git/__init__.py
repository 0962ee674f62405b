"""Git as we use it: a private index and private refs, and no settings an agent could have written.

command             Runs one git command: fixed settings, no hooks, and failures in git's own words.
repository          Finds the repository around a directory and the paths that belong to it.
settings            Which settings a run uses: those it began with, and no programs named by a repository.
private_repository  Our own git directory for a run: the user's objects, our index, and bytes kept unchanged.
index_seed          Starts the private index as a copy of the user's, so unchanged files are not read again.
private_index       The private index: records what is on disk now, and writes it as a git tree.
tree_diff           What differs between two git trees, in git's own terms.
tree_patch          Derives the next git tree from the last one when only a few files changed, without git.
loose_objects       Reads and writes single objects of a repository as git does.
loose_ref           Creates a ref without git.
snapshot_refs       Refs that keep snapshots from `git gc`; they show in no log and no list of branches.
object_check        Checks that git's objects match their names: an agent can overwrite them.
head                Reads the commit of HEAD, and lists commits made in between.
gc_guard            Waits for a running `git gc` or `git prune`, and checks that a snapshot is still complete.
git_lock            Waits for git processes that outlived their driver, and keeps others out until then.

Used by: the modules of `workspace`, and the engine where it needs a repository's paths.
Uses: process (locks, process table, search path) and errors; `git` itself is started only in `command`.
"""
