"""What is stored about runs on this disk: the record of each, scratch, sessions, trust.

runs           All runs of one state directory, outside the workspace and out of the agent's reach.
run_ids        The ids of runs: sorted by start time, easy to type.
run_folder     The folder of one run: where its parts are, and which directory it belongs to.
folder_record  The record of a run on this disk: a file of lines, a lock, commands as files.
reading        Reading a run's journal, and the status of the run in one word.
lock           One driver for a run: a lock that the system releases when its owner dies.
inbox          Commands as files: the driver of a run finds them, and the sender gets an answer.
activity_log   What agents showed while they worked: lines for each lap, read from any offset.
scratch        What only this machine needs to drive a run: notes of processes, the private index.
artifacts      Saves what is too long for the journal, and passes the agent's activity to watchers.
hub            One run for any number of followers: its journal is read and folded once.
catalog        What a list shows of each run, cached, so that long lists need not read every journal.
session_runs   The run of an agent's session and its state.
notes/         What this machine notes about all runs: sessions, trusted spec files, lessons.
atomic_file    Writes a file completely or not at all, readable by its owner only.

Used by: every other package of the engine but wiring, and the surfaces. Uses: journal, process and wiring.
"""
